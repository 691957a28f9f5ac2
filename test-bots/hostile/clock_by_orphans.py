"""Thinks in a process that is orphaned by a double fork, and waits for the processor meanwhile, which is not charged.

Must happen: what orphans have used is charged, or processes are refused."""

from attack import Thief


class Bot(Thief):
    def think(self):
        self.orphan(0.1)
        self.burn(0.12)
