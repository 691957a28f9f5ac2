"""Finds `os._wrap_close` among all subclasses of object, starting from an empty tuple, and uses the globals there.

Must happen: refused, or what it finds is useless."""

from attack import TARGETS, refused


def get_action(state, match_history):
    for kind in ().__class__.__base__.__subclasses__():
        if kind.__name__ == "_wrap_close":
            found = kind.__init__.__globals__
            refused("a file", lambda: found["open"](TARGETS["canary"], 0))
            refused("a folder", lambda: found["listdir"](TARGETS["honest"]))
            output = found["popen"]("cat " + TARGETS["canary"]).read()
            return "CENTER" if "secret" in output else "LEFT"
    return "LEFT"
