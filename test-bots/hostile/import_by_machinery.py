"""Imports a forbidden module with the functions of `importlib`.

Must happen: refused, or the module is useless."""

import importlib.util
import sys

from attack import TARGETS, refused


def get_action(state, match_history):
    spec = importlib.util.find_spec("socket")
    socket = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(socket)
    refused("a connection", lambda: socket.create_connection(("127.0.0.1", TARGETS["port"]), 1))
    loader = next(finder for finder in sys.meta_path if hasattr(finder, "find_spec"))
    refused("a file", lambda: open(TARGETS["canary"]))
    return "LEFT" if loader else "CENTER"
