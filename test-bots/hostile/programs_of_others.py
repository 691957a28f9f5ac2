"""Runs programs of the machine to do what it may not do: shells, other interpreters, debuggers, network tools.

Must happen: they are in the same sandbox."""

import subprocess

from attack import TARGETS, Attacker, reached

COMMANDS = (
    ["/bin/sh", "-c", "cat $0", TARGETS["canary"]],
    ["/bin/sh", "-c", "echo x > $0", TARGETS["canary"]],
    ["/usr/bin/perl", "-e", "print <>", TARGETS["canary"]],
    ["/usr/bin/find", TARGETS["honest"]],
    ["/usr/bin/ps", "axww"],
    ["/usr/bin/cp", TARGETS["canary"], "/tmp/" + TARGETS["token"] + "-copy"],
    ["/usr/bin/unshare", "-r", "cat", TARGETS["canary"]],
    ["/usr/bin/setpriv", "--dump"],
)


class Bot(Attacker):
    def attack(self):
        for command in COMMANDS:
            try:
                done = subprocess.run(command, capture_output=True, timeout=5, stdin=subprocess.DEVNULL)
            except (OSError, subprocess.TimeoutExpired):
                continue
            if b"secret-of" in done.stdout or b"victim" in done.stdout or b"uid: 0" in done.stdout:
                reached(command, done.stdout)
