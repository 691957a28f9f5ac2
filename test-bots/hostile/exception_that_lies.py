"""Raises an exception whose `__str__` raises `SystemExit`, whose `__repr__` calls itself, and whose class has a false
name.

Must happen: a crash, and the session continues."""

from attack import Attacker


class Lying(type):
    @property
    def __name__(cls):
        raise SystemExit(3)


class Wrong(Exception, metaclass=Lying):
    def __str__(self):
        raise SystemExit(3)

    def __repr__(self):
        return repr(self)


class Bot(Attacker):
    def attack(self):
        raise Wrong()
