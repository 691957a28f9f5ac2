"""Becomes root or another user, by system calls, capabilities and setuid programs.

Must happen: refused."""

import ctypes
import os
import subprocess

from attack import Attacker, call, reached, refused


class Bot(Attacker):
    def attack(self):
        if 0 in os.getresuid() + os.getresgid():
            reached("root", os.getresuid())
        for name, arguments in (("setuid", (0,)), ("setgid", (0,)), ("setreuid", (0, 0)), ("setresuid", (0, 0, 0)),
                                ("setresgid", (0, 0, 0)), ("setgroups", ([0],)), ("setresuid", (1, 1, 1))):
            refused(name, lambda: getattr(os, name)(*arguments))
        header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
        refused("capabilities", lambda: call(126, header, data))
        for program in ("/usr/bin/su", "/usr/bin/sudo", "/usr/bin/newuidmap", "/usr/bin/passwd", "/usr/bin/mount"):
            try:
                done = subprocess.run([program, "--version"], capture_output=True, timeout=5, stdin=subprocess.DEVNULL)
            except (OSError, subprocess.TimeoutExpired):
                continue
            if b"root" in done.stdout:
                reached(program, done.stdout)
