"""Makes System V shared memory, semaphores and message queues, which survive the process.

Must happen: none can be made."""

from attack import Attacker, call, refused


def made(make, remove):
    """Makes one, and leaves none behind."""
    number = call(*make)
    call(*[number if word is None else word for word in remove])
    return number


class Bot(Attacker):
    def attack(self):
        refused("shared memory", lambda: made((29, 0, 4096, 0o1600), (31, None, 0, 0)))
        refused("semaphores", lambda: made((64, 0, 1, 0o1600), (66, None, 0, 0, 0)))
        refused("messages", lambda: made((68, 0, 0o1600), (71, None, 0, 0)))
