"""Has a name and a contributor of 10,000 characters, and a class name as long.

Must happen: it plays; the output stays of a sane width."""

from attack import Attacker


class Bot(Attacker):
    def get_name(self):
        return "N" * 10_000

    get_contributor = get_name

    def attack(self):
        type(self).__name__ = type(self).__qualname__ = "C" * 10_000
