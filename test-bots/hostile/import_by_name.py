"""Imports a forbidden module by `__import__`, with a name made of pieces.

Must happen: refused, or the module is useless."""

from attack import TARGETS, refused


def get_action(state, match_history):
    os = __import__("".join(["o", "s"]))
    refused("a file", lambda: os.open(TARGETS["canary"], os.O_RDONLY))
    refused("a folder", lambda: os.listdir(TARGETS["honest"]))
    return "LEFT"
