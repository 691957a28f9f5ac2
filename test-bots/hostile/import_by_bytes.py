"""Loads code from bytes (`marshal`) and shared objects (`ctypes`), so that the names are not in its file.

Must happen: refused, or the modules are useless."""

import marshal

from attack import TARGETS, refused


def get_action(state, match_history):
    code = marshal.dumps(compile("import ctypes; libc = ctypes.CDLL(None)", "x", "exec"))
    found = {}
    exec(marshal.loads(code), found)
    libc = found["libc"]
    if libc.open(TARGETS["canary"].encode(), 0) >= 0 or libc.socket(2, 1, 0) >= 0:
        return "CENTER"
    refused("a file", lambda: open(TARGETS["canary"]))
    return "LEFT"
