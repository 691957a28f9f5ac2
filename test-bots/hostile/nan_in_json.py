"""Answers NaN, which JSON does not have.

Must happen: garbled."""

from attack import next_turn, say

turn = next_turn()
say(id=turn["id"], answer=float("nan"))
next_turn()
