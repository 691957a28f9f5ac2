"""Installs system call filters of 4,000 instructions until the kernel allows no more; each takes memory in the
kernel.

Must happen: it is refused."""

import ctypes

from attack import Attacker, call, reached


class Bot(Attacker):
    def attack(self):
        code = (ctypes.c_uint64 * 4000)(*[0x0000_0000_0000_0020] * 3999, 0x7FFF_0000_0000_0006)
        program = (ctypes.c_uint64 * 2)(4000, ctypes.addressof(code))
        call(157, 38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS, which filters need
        installed = 0
        try:
            while installed < 8:
                call(317, 1, 0, program)
                installed += 1
        except OSError:
            pass
        if installed:
            reached("filters in the kernel", installed)
