"""Answers for the other seat too: `seat`, `player`, `name` and a list of answers beside its own.

Must happen: only its own answer counts."""

from attack import next_turn, say

while True:
    turn = next_turn()
    say(id=turn["id"], answer=0, seat=1, player=1, name="Honest", answers=[3, 3], fault=None)
