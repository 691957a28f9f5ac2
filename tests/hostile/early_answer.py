"""Answers its next three requests together with the first one, guessing their ids.

Must happen: garbled as the answer to the next request; the process is ended."""

from attack import next_turn, say

turn = next_turn()
for number in range(4):
    say(id=turn["id"] + number, answer=0)
next_turn()
