"""What hostile bots share. It lies beside the bot, as any helper module does.

A bot plays column 0 (Connect Five), LEFT (Solitude Scramble) or UP (Colour Battle) as long as nothing was reached. What an
attack did reach is raised as `Reached`: a crash with the word REACHED in the record, which fails the test. An attack that
breaks by its own mistake is no refusal: only the exceptions named count as one.

Every attack is bounded in count and time by itself, so that a hole fails a test and not the machine.
"""

import ctypes
import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Reached(Exception):
    """Something was reached that must not be."""


def _targets():
    """What the test has put around the bot; without a test, things that every machine has."""
    try:
        with open(os.path.join(FOLDER, "targets.json")) as file:
            return json.load(file)
    except OSError:
        return {
            "canary": "/etc/hostname",
            "honest": "/root",
            "victim": 1,
            "port": 22,
            "unix": "/run/systemd/notify",
            "abstract": "none",
            "shared": "none",
            "token": "agon-hostile",
        }


TARGETS = _targets()


def refused(name, what, by=(OSError,)):
    """Does what must be refused."""
    try:
        result = what()
    except by:
        return
    raise Reached(f"REACHED {name}: {result!r:.200}")


def reached(name, result=""):
    """Says that an attack worked."""
    raise Reached(f"REACHED {name}: {result!r:.200}")


def read(path):
    """The beginning of a file, as bytes."""
    with open(path, "rb") as file:
        return file.read(64)


def write(path):
    """Makes or changes a file."""
    with open(path, "ab") as file:
        file.write(b"written by a hostile bot\n")


def call(number, *arguments):
    """A system call by its number (x86-64)."""
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def pipes():
    """The descriptors that are pipes or sockets, standard ones left out: the protocol is among them, if anywhere."""
    found = []
    for number in range(3, 1024):
        try:
            kind = os.fstat(number).st_mode & 0o170000
        except OSError:
            continue
        if kind in (0o010000, 0o140000):
            found.append(number)
    return found


class Attacker:
    """A Connect Five bot that attacks in its first move and then plays column 0."""

    done = False

    def attack(self):
        """What it tries."""
        raise NotImplementedError

    def get_move(self, board, player, T, N):
        if not self.done:
            self.done = True
            self.attack()
        return 0


def hear():
    """The next message of the JSON-lines protocol."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def say(**words):
    """One line of the JSON-lines protocol."""
    print(json.dumps(words), flush=True)


def next_turn():
    """Answers everything up to the next turn, and returns that."""
    while True:
        message = hear()
        if message["type"] == "bye":
            sys.exit(0)
        if message["type"] == "turn":
            return message
        say(id=message["id"])
