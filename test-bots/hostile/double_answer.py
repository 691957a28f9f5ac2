"""Answers the first request twice, to have the better answer counted.

Must happen: garbled as the answer to the next request; the process is killed."""

from attack import next_turn, say

turn = next_turn()
say(id=turn["id"], answer=0)
say(id=turn["id"], answer=1)
next_turn()
