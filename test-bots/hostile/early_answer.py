"""Answers its next three requests together with the first one, guessing their ids.

Must happen: garbled, or each is taken for the answer to its request, given without reading it."""

from attack import next_turn, say

turn = next_turn()
for number in range(4):
    say(id=turn["id"] + number, answer=0)
next_turn()
