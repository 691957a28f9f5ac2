"""Computes a huge power, in C code that no Python signal handler interrupts.

Must happen: a timeout; the process is killed."""

from attack import Attacker, reached


class Bot(Attacker):
    def attack(self):
        number = 7 ** (1 << 20)
        number = number * number % (number - 3)
        reached("a long computation", number % 10)
