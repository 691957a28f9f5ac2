"""A process whose memory was put away is the same as before, and so are its forks; they know of fewer pages."""

import subprocess
import sys
import unittest

from talk import PACKAGE, solitude
from test_lean import HONEST, Lean
from warmth import pack_solitude

BEGIN = """
import gc, os, sys
sys.path.insert(0, sys.argv[1])
from agon_bot import cold, lean
from agon_bot.mappings import begin_new_pools, enlarge_pages, join_mappings
from agon_bot.remains import shared_memory
join_mappings()
enlarge_pages()
begin_new_pools()
things = {str(n): [n, float(n), {n}] for n in range(3000)}
cold.learn(lean.make_ready, lean.go_through_calls)
def pages():
    return len(cold._pages_there(cold._regions))
"""
SAME = """
import json
before = json.dumps(things, default=list)
rest = cold.make()
assert shared_memory() and not shared_memory(rest[0])
lean.make_ready()
had = pages()
cold.put_away_what_rests(*rest)
have = pages()
assert not shared_memory()
assert json.dumps(things, default=list) == before
gc.unfreeze()
things = {key: value + [key] for key, value in things.items()}
gc.collect()
import decimal, fractions
assert decimal.Decimal(2).sqrt() > 1 and len(things) == 3000 and things["2999"][3] == "2999"
for n in range(3):
    child = os.fork()
    if child == 0:
        things["7"].append(8)
        os._exit(70 + len(things["7"]))
    assert os.waitpid(child, 0)[1] == 75 << 8
print(len(cold._regions) > 0, have * 2 < had, file=sys.stderr)
"""
NOTHING = """
rest = cold.make()
cold.put_away_what_rests(*rest)
print(cold._regions, cold._warm, rest)
"""
SECOND_VIEW = """import ctypes

libc = ctypes.CDLL(None)
libc.mremap.restype = ctypes.c_void_p
places = []
with open("/proc/self/maps") as maps:
    for line in maps:
        start, rest = line.split("-", 1)
        if " rw-s " in rest:
            start, end = int(start, 16), int(rest.split(" ")[0], 16)
            # Of shared memory, moving nothing leaves a copy behind; and forks are to have both.
            place = libc.mremap(ctypes.c_void_p(start), ctypes.c_size_t(0), ctypes.c_size_t(end - start), ctypes.c_int(1))
            for one in (start, place):
                libc.madvise(ctypes.c_void_p(one), ctypes.c_size_t(end - start), ctypes.c_int(11))
                places.append(one)


def get_action(state, match_history):
    with open("/proc/self/maps") as maps:
        mapped = {int(line.split("-", 1)[0], 16) for line in maps}
    remembered = False
    for place in mapped.intersection(places):
        byte = ctypes.c_char.from_address(place + 8)
        remembered |= byte.value == b"x"
        byte.value = b"x"
    return "CENTER" if remembered else "LEFT"
"""
"""A bot that has the place in which its memory is to be put away a second time, and lets its forks have both."""


def run(text):
    done = subprocess.run([sys.executable, "-S", "-c", text, PACKAGE], capture_output=True, text=True)
    return done.stdout, done.stderr, done.returncode


def can_be_had():
    """Whether this machine lets us do it at all."""
    return run(BEGIN + "print(bool(cold._regions))")[0] == "True\n"


class Cold(unittest.TestCase):
    @unittest.skipUnless(can_be_had(), "no userfaultfd, or another architecture")
    def test_nothing_changes_but_the_number_of_pages(self):
        self.assertEqual(run(BEGIN + SAME), ("", "True True\n", 0))

    def test_where_it_cannot_be_had_nothing_happens(self):
        for lack in ("def userfaultfd():\n    raise OSError\ncold.userfaultfd = userfaultfd", "cold.FETCH_TO_WRITE = 999"):
            with self.subTest(lack):
                text = BEGIN.replace("cold.learn", lack + "\ncold.learn") + NOTHING
                out, err, code = run(text)
                self.assertEqual((out, err, code), ("[] [] (0, 0)\n", "", 0))


class InABot(Lean):
    @unittest.skipUnless(can_be_had(), "no userfaultfd, or another architecture")
    def test_a_bot_that_forgets_has_its_memory_put_away(self):
        # From within: nobody else may look at a bot's memory.
        text = """
import os
def get_action(state, match_history):
    with open("/proc/self/maps") as file:
        print(file.read())
    for number in os.listdir("/proc/self/fd"):
        try:
            print(os.readlink("/proc/self/fd/" + number), "is open")
        except OSError:
            pass
    return "LEFT"
"""
        child = self.seat(text)
        child.start()
        self.assertEqual(child.turn(pack_solitude(solitude(1))), {"answer": "LEFT"})
        lines = child.said().splitlines()
        self.assertTrue(any("memfd:agon" in line and " rwxp " in line for line in lines), lines)
        self.assertFalse(any(" rw-s " in line for line in lines), lines)
        self.assertFalse(any("memfd" in line and "is open" in line for line in lines), lines)

    @unittest.skipUnless(can_be_had(), "no userfaultfd, or another architecture")
    def test_a_bot_that_keeps_the_place_is_refused(self):
        self.seat(SECOND_VIEW)
        self.assertEqual(self.ready.get("error", {}).get("what"), "makes shared memory while it is loaded")

    def test_what_a_bot_does_to_the_place_is_its_own_loss(self):
        spoil = """
import ctypes
libc = ctypes.CDLL(None)
for line in open("/proc/self/maps"):
    start, end = (int(word, 16) for word in line.split()[0].split("-"))
    if " rw-s " in line:
        libc.munmap(ctypes.c_void_p(start), ctypes.c_size_t(end - start))
"""
        replies = self.replies(spoil + HONEST)
        self.assertTrue(all("answer" in reply for reply in replies), replies)


if __name__ == "__main__":
    unittest.main()
