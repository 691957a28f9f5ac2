"""Replaces itself by another program (a shell that writes answers) during its turn.

Must happen: a fault of the bot."""

import os

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        os.execv("/bin/sh", ["sh", "-c", 'echo \'{"id":3,"answer":0}\'; cat /etc/passwd; sleep 20'])
