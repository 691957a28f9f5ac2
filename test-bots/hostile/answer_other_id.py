"""Answers with the id of a request that it did not get.

Must happen: garbled; the process is killed."""

from attack import next_turn, say

turn = next_turn()
say(id=turn["id"] + 1000, answer=0)
next_turn()
