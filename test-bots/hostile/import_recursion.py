"""Imports modules that import modules, a thousand levels deep, made by an import hook.

Must happen: rejected before any game."""

import importlib.machinery
import sys


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("deep"):
            return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        number = int(module.__name__[4:])
        if number < 1000:
            __import__(f"deep{number + 1}")


sys.meta_path.insert(0, Finder())
__import__("deep0")


class Bot:
    def get_move(self, board, player, T, N):
        return 0
