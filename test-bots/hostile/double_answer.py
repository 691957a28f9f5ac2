"""Answers the first request twice, to be seen as it likes best.

Must happen: garbled as the answer to the next request; the process is ended."""

from attack import next_turn, say

turn = next_turn()
say(id=turn["id"], answer=0)
say(id=turn["id"], answer=1)
next_turn()
