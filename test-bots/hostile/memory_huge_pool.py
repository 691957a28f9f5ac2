"""Asks for huge pages from the system's own pool, which no limit of a process counts.

Must happen: it is refused as not permitted, whether or not the pool is empty."""

import errno

from attack import Attacker, map_memory, reached


class Bot(Attacker):
    def attack(self):
        try:
            map_memory(2 << 20, 0x40000)  # MAP_HUGETLB
        except OSError as error:
            if error.errno == errno.EPERM:
                return
        reached("the pool of huge pages was asked")
