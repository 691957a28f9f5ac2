"""Makes System V shared memory, semaphores and message queues, which outlive their makers.

Must happen: none can be made."""

from attack import Attacker, call, refused


class Bot(Attacker):
    def attack(self):
        refused("shared memory", lambda: call(29, 0, 4096, 0o1600))
        refused("semaphores", lambda: call(64, 0, 1, 0o1600))
        refused("messages", lambda: call(68, 0, 0o1600))
