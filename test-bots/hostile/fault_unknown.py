"""Reports a fault that does not exist, and an error that is not one.

Must happen: garbled."""

from attack import next_turn, say

turn = next_turn()
say(id=turn["id"], fault="victory", says="I win", answer=0)
next_turn()
