"""Writes answers before it was asked anything.

Must happen: garbled; the process is ended."""

from attack import next_turn, say

for number in range(1, 9):
    say(id=number, answer=0)
next_turn()
