"""Takes a forbidden module from a module that imported it: `random._os`, the warnings module's `sys`.

Must happen: refused, or the module is useless."""

import random

from attack import TARGETS, refused


def get_action(state, match_history):
    os = random._os
    refused("a file", lambda: os.open(TARGETS["canary"], os.O_RDONLY))
    refused("a process", lambda: os.kill(TARGETS["victim"], 0))
    refused("a new file", lambda: os.open("/tmp/" + TARGETS["token"] + "-new", os.O_CREAT | os.O_WRONLY))
    return "LEFT"
