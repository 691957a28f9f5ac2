"""Imports forbidden modules in code that is built and compiled at run time.

Must happen: refused, or the modules are useless."""

from attack import TARGETS, refused

CODE = "im" + "port sub" + "process, ct" + "ypes, sock" + "et"


def get_action(state, match_history):
    found = {}
    exec(compile(CODE, "<string>", "exec"), found)
    output = found["subprocess"].run(["/bin/cat", TARGETS["canary"]], capture_output=True).stdout
    refused("a socket", lambda: found["socket"].socket())
    return "CENTER" if b"secret" in output else "LEFT"
