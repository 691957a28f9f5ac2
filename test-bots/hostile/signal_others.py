"""Sends harmless signals (0, SIGWINCH, SIGURG) to all processes: by number, to groups, to all, through descriptors.

Must happen: no process outside gets one."""

import ctypes
import os
import signal

from attack import TARGETS, Attacker, call, refused


class Bot(Attacker):
    def attack(self):
        victim = TARGETS["victim"]
        for number in (0, signal.SIGWINCH, signal.SIGURG):
            refused("a process", lambda: os.kill(victim, number))
            refused("a group", lambda: os.killpg(victim, number))
            refused("a thread", lambda: call(200, victim, int(number)))
            refused("through a descriptor", lambda: signal.pidfd_send_signal(os.pidfd_open(victim), number))
            refused("queued", lambda: call(129, victim, int(number), ctypes.create_string_buffer(128)))
            for everyone in (-1, 0, os.getppid()):
                try:
                    os.kill(everyone, number)
                except OSError:
                    pass
