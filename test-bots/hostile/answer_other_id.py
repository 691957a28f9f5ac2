"""Answers a request that was not made to it: another id.

Must happen: garbled; the process is ended."""

from attack import next_turn, say

turn = next_turn()
say(id=turn["id"] + 1000, answer=0)
next_turn()
