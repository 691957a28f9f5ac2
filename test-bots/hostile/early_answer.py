"""Answers its next three requests together with the first one, with guessed ids.

Must happen: garbled, or each counts as the answer to its request, given without reading it."""

from attack import next_turn, say

turn = next_turn()
for number in range(4):
    say(id=turn["id"] + number, answer=0)
next_turn()
