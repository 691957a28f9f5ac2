"""Makes POSIX message queues, semaphores and shared memory, which survive the process.

Must happen: none can be made."""

import ctypes
from multiprocessing import shared_memory

from attack import TARGETS, Attacker, call, refused


class Bot(Attacker):
    def attack(self):
        name = TARGETS["token"].encode()
        refused("messages", lambda: call(240, name, 0o102, 0o600, None) and call(241, name) + 1)
        refused("shared memory", lambda: shared_memory.SharedMemory(TARGETS["token"][-8:], True, 4096))
        libc = ctypes.CDLL(None, use_errno=True)
        libc.sem_open.restype = ctypes.c_void_p

        def semaphore():
            if not libc.sem_open(b"/" + TARGETS["token"].encode(), 0o100, 0o600, 1):
                raise OSError(ctypes.get_errno(), "sem_open")
            return "made"

        refused("a semaphore", semaphore)
