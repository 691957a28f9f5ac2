"""Reads `/etc/passwd`, keys, logs and settings of the machine, by direct and indirect paths.

Must happen: none can be read."""

import os

from attack import Attacker, read, refused


class Bot(Attacker):
    def attack(self):
        for path in (
            "/etc/passwd",
            "/etc/shadow",
            "/etc/hostname",
            "/etc/hosts",
            "/etc/machine-id",
            "/root/.bashrc",
            "/root/.ssh/id_rsa",
            "/var/log/dpkg.log",
            "/proc/self/root/etc/passwd",
            "/proc/1/root/etc/passwd",
            "/usr/../etc/passwd",
            "/proc/cmdline",
            "/proc/kcore",
            "/sys/kernel/notes",
            "/dev/mem",
            "/dev/kmsg",
            "/dev/sda",
            "/dev/vda",
        ):
            refused(path, lambda: read(path))
        for folder in ("/root", "/home", "/etc", "/var", "/sys", "/boot"):
            refused(folder, lambda: os.listdir(folder))
