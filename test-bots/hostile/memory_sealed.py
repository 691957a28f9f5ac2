"""Makes memory that is a file without a name (`memfd_create`, with and without seals, `memfd_secret`) and fills 768
MiB of it.

Must happen: it is refused."""

import os

from attack import Attacker, call, held


class Bot(Attacker):
    def attack(self):
        # 2 is MFD_ALLOW_SEALING, 447 memfd_secret.
        for make in (lambda: os.memfd_create("x"), lambda: os.memfd_create("x", 2), lambda: call(447, 0)):
            try:
                file = make()
            except OSError:
                continue
            for count in range(1, 49):
                try:
                    os.write(file, bytes(16 << 20))
                except OSError:
                    break
                held("memory that is a file", count * 16, 16)
