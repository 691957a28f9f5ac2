"""Writes answers before it was asked anything.

Must happen: garbled, or each is taken for the answer to its request, given without reading it."""

from attack import next_turn, say

for number in range(1, 9):
    say(id=number, answer=0)
next_turn()
