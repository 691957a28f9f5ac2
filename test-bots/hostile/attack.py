"""Functions that hostile bots share. The file is beside the bot, like any helper module.

A bot plays column 0 (Connect Five), LEFT (Solitude Scramble) or UP (Colour Battle) as long as its attacks fail. A
successful attack raises `Reached`: a crash with the word REACHED in the record, which fails the test. An attack that
fails because of a programming error does not count as refused: only the named exceptions do.

Every attack limits its own count and time, so that a hole fails a test and does not harm the machine.
"""

import ctypes
import hashlib
import json
import os
import sys
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Reached(Exception):
    """An attack succeeded."""


def _targets():
    """Targets that the test has placed around the bot; without a test, things that every machine has."""
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
    """Runs a function that must be refused."""
    try:
        result = what()
    except by:
        return
    raise Reached(f"REACHED {name}: {result!r:.200}")


def reached(name, result=""):
    """Reports a successful attack."""
    raise Reached(f"REACHED {name}: {result!r:.200}")


def held(what, amount, limit):
    """Reports how many MiB the bot holds of something that has a limit. The test fails if that is ever more than a tenth
    too much. Ends the attack at half too much."""
    print(f"HELD {amount:.0f} of {limit} MiB: {what}", file=sys.stderr, flush=True)
    if amount >= 1.5 * limit:
        reached(what, amount)


MEMORY, DATA = 512, 64
"""Limits of a bot, in MiB: memory, and the folder `data`."""


def map_memory(size, flags=0, protection=3):
    """Maps private memory with further flags. Returns its address."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    address = libc.mmap(None, size, protection, 0x22 | flags, -1, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return address


def read(path):
    """The first bytes of a file."""
    with open(path, "rb") as file:
        return file.read(64)


def write(path):
    """Makes or changes a file."""
    with open(path, "ab") as file:
        file.write(b"written by a hostile bot\n")


def make_folder(path):
    """Makes a folder, if an earlier game has not left it in `data`."""
    try:
        os.mkdir(path)
    except FileExistsError:
        pass


def call(number, *arguments):
    """Makes a system call by its number (x86-64)."""
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def pipes():
    """The descriptors that are pipes or sockets, without the standard ones. The protocol uses some of them."""
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
        """The attack."""
        raise NotImplementedError

    def get_move(self, board, player, T, N):
        if not self.done:
            self.done = True
            self.attack()
        return 0


class Thief:
    """A Connect Five bot that tries to think for free in three moves, and reports in the fourth how much CPU time all
    its threads and processes have used. The test compares that with what was charged."""

    moves = 0
    read = write = -1
    refused = ""
    """Said if the system refuses the attack itself."""

    def think(self):
        """The attack."""
        raise NotImplementedError

    def get_move(self, board, player, T, N):
        if self.moves == 0:
            self.read, self.write = os.pipe()
            os.set_blocking(self.read, False)
            os.set_blocking(self.write, False)
        self.moves += 1
        if self.moves > 3:
            raise RuntimeError(f"USED {self.used()} us {self.refused}")
        self.think()
        return 0

    def burn(self, seconds):
        """Uses CPU time in C code that other threads can run beside, and writes down how much."""
        start = last = time.thread_time()
        while last - start < seconds:
            for _ in range(4):
                hashlib.pbkdf2_hmac("sha256", b"x", b"y", 1000)
            now = time.thread_time()
            try:
                os.write(self.write, int((now - last) * 1e6).to_bytes(4, "big"))
            except OSError:
                pass
            last = now

    def used(self):
        """Microseconds that were written down."""
        data = b""
        try:
            while True:
                data += os.read(self.read, 1 << 16)
        except OSError:
            return sum(int.from_bytes(data[n : n + 4], "big") for n in range(0, len(data), 4))

    def orphan(self, seconds):
        """Uses CPU time in a process whose parent has ended. Without a cgroup, processes are refused."""
        try:
            child = os.fork()
        except OSError:
            self.refused = "refused"
            return
        if child:
            os.waitpid(child, 0)
            return
        if os.fork() == 0:
            self.burn(seconds)
        os._exit(0)


def fork_or_refused():
    """Forks. Returns -1 if processes are refused, as for bots without a cgroup."""
    try:
        return os.fork()
    except PermissionError:
        return -1


def hear():
    """The next message of the JSON-lines protocol."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def say(**words):
    """Writes one line of the JSON-lines protocol."""
    print(json.dumps(words), flush=True)


def next_turn():
    """Answers all messages before the next turn, and returns the turn."""
    while True:
        message = hear()
        if message["type"] == "bye":
            sys.exit(0)
        if message["type"] == "turn":
            return message
        say(id=message["id"])
