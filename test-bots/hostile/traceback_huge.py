"""Raises an exception with a text of 18 MiB, 150 frames deep, caused by other exceptions of the same depth.

Must happen: a crash; the record keeps the end of the text and stays small."""

from attack import Attacker


def dig(depth):
    if depth:
        try:
            dig(depth - 1)
        except ValueError as error:
            raise ValueError("words " * (20 << 10)) from error
    raise ValueError("words " * (3 << 20))


class Bot(Attacker):
    def attack(self):
        dig(150)
