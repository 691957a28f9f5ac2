"""Thinks in another program, started by `posix_spawn`, which uses `vfork`, in a process that ends at once.

Must happen: what it has used is charged, or it is refused."""

import os

from attack import Thief

SOURCE = """
import hashlib, os, sys, time
write = int(sys.argv[1])
start = last = time.thread_time()
while last - start < 0.1:
    hashlib.pbkdf2_hmac("sha256", b"x", b"y", 4000)
    now = time.thread_time()
    os.write(write, int((now - last) * 1e6).to_bytes(4, "big"))
    last = now
"""


class Bot(Thief):
    def think(self):
        os.set_inheritable(self.write, True)
        try:
            child = os.fork()
        except OSError:
            self.refused = "refused"
            return
        if child == 0:
            os.posix_spawn("/usr/bin/python3", ["python3", "-S", "-c", SOURCE, str(self.write)], {})
            os._exit(0)
        os.waitpid(child, 0)
