"""Becomes another program (a shell that writes answers) in the middle of its turn.

Must happen: a fault of its own."""

import os

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        os.execv("/bin/sh", ["sh", "-c", 'echo \'{"id":3,"answer":0}\'; cat /etc/passwd; sleep 20'])
