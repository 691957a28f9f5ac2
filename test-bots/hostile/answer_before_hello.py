"""Writes answers before any request.

Must happen: garbled, or each counts as the answer to its request, given without reading it."""

from attack import next_turn, say

for number in range(1, 9):
    say(id=number, answer=0)
next_turn()
