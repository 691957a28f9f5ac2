"""Searches `/proc` for other processes, for mounts of the host and for the kernel's secrets.

Must happen: it sees its own processes, and none of the host's paths or settings."""

import os

from attack import TARGETS, Attacker, reached, refused, read


class Bot(Attacker):
    def attack(self):
        try:
            others = [name for name in os.listdir("/proc") if name.isdigit()]
        except OSError:
            others = []
        if str(TARGETS["victim"]) in others or len(others) > 8:
            reached("others", others)
        for path in ("/proc/kallsyms", "/proc/sys/kernel/hostname", "/proc/net/tcp", "/proc/meminfo", "/proc/version",
                     "/proc/sysrq-trigger", "/proc/config.gz", "/proc/modules", "/proc/keys", "/proc/cpuinfo", "/proc/partitions"):
            refused(path, lambda: read(path))
        try:
            with open("/proc/self/mountinfo") as file:
                mounts = file.read()
        except OSError:
            return
        if TARGETS["honest"] in mounts or TARGETS["canary"] in mounts:
            reached("paths of others", mounts)
