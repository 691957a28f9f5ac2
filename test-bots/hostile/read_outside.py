"""Reads a file outside its folder that belongs to the user who runs the engine, by every kind of path.

Must happen: it cannot be read."""

import os

from attack import TARGETS, Attacker, read, refused


class Bot(Attacker):
    def attack(self):
        canary = TARGETS["canary"]
        refused("by its path", lambda: read(canary))
        refused("by dots", lambda: read("../outside/canary.py"))
        refused("by the process's root", lambda: read("/proc/self/root" + canary))
        refused("by the process's folder", lambda: read("/proc/self/cwd/../outside/canary.py"))
        refused("by a descriptor of a folder", lambda: os.open("canary.py", os.O_RDONLY, dir_fd=os.open("../outside", os.O_RDONLY)))
        refused("by a descriptor that is only a path", lambda: read(f"/proc/self/fd/{os.open(canary, os.O_PATH)}"))
        refused("by changing the folder", lambda: os.chdir("../outside") or read("canary.py"))
        refused("its folder's list", lambda: os.listdir(os.path.dirname(canary)))
        import subprocess

        output = subprocess.run(["/bin/cat", canary], capture_output=True).stdout
        refused("by another program", lambda: output.decode() or os.stat("/nowhere"))
