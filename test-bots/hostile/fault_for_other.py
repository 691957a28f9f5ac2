"""Reports a fault of the other seat in its line.

Must happen: the fault counts for itself."""

from attack import next_turn, say

turn = next_turn()
say(id=turn["id"], fault="crash", says="it was seat 1", seat=1)
next_turn()
