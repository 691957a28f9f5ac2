"""A process with a memory image behaves as before, and so do its forks. They have fewer pages."""

import subprocess
import sys
import unittest

from bot_process import PACKAGE, solitude
from test_stateless_session import HONEST, StatelessSession
from zygote_client import ZygoteProcess, pack_solitude

START = """
import gc, os, sys
sys.path.insert(0, sys.argv[1])
from agon_bot import memory_image, stateless_session
from agon_bot.games import call_arguments
from agon_bot.process_cleanup import OwnFigures
arguments_class = call_arguments("solitude-scramble")
things = {str(n): [n, float(n), {n}] for n in range(3000)}
stateless_session.learn_memory_use([arguments_class])
def pages():
    return len(memory_image._present_pages(memory_image._regions))
"""
INSTALL = """
import json
before = json.dumps(things, default=list)
image = memory_image.create()
assert OwnFigures().has_shared_memory()
stateless_session.make_ready(arguments_class)
had = pages()
memory_image.install(image, memory_image._own_mappings)
have = pages()
assert not OwnFigures().has_shared_memory()
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
print(len(memory_image._regions) > 0, have * 2 < had, file=sys.stderr)
"""
NO_IMAGE = """
image = memory_image.create()
memory_image.install(image, memory_image._own_mappings)
print(memory_image._regions, memory_image._used, image)
"""
MISSING_PARTS = {
    "userfaultfd": "def missing():\n    raise OSError\nmemory_image._open_userfaultfd = missing",
    "MADV_POPULATE_WRITE": "memory_image.MADV_POPULATE_WRITE = 999",
    "makecontext": "memory_image._libc = object()",
    "switched off": "os.environ['AGON_MEMORY_IMAGE'] = 'off'",
}
DUPLICATES_IMAGE = """import ctypes

libc = ctypes.CDLL(None)
libc.mremap.restype = ctypes.c_void_p
places = []
with open("/proc/self/maps") as maps:
    for line in maps:
        start, rest = line.split("-", 1)
        if " rw-s " in rest:
            start, end = int(start, 16), int(rest.split(" ")[0], 16)
            # An old size of 0 duplicates a shared mapping. Forks are to have both.
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
UNMAPS_IMAGE = """
import ctypes
libc = ctypes.CDLL(None)
for line in open("/proc/self/maps"):
    start, end = (int(word, 16) for word in line.split()[0].split("-"))
    if " rw-s " in line:
        libc.munmap(ctypes.c_void_p(start), ctypes.c_size_t(end - start))
"""
PRINTS_MAPPINGS = """
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


def run(text):
    done = subprocess.run([sys.executable, "-S", "-c", text, PACKAGE], capture_output=True, text=True)
    return done.stdout, done.stderr, done.returncode


def is_supported():
    """Whether this machine can have memory images."""
    return run(START + "print(bool(memory_image._regions))")[0] == "True\n"


needs_image = unittest.skipUnless(is_supported(), "this machine has no userfaultfd, or another architecture")


class MemoryImage(unittest.TestCase):
    @needs_image
    def test_only_the_number_of_pages_changes(self):
        self.assertEqual(run(START + INSTALL), ("", "True True\n", 0))

    def test_without_a_part_there_is_no_image_and_nothing_changes(self):
        for part, lack in MISSING_PARTS.items():
            with self.subTest(part):
                text = START.replace("stateless_session.learn", lack + "\nstateless_session.learn") + NO_IMAGE
                self.assertEqual(run(text), ("[] [] (0, 0)\n", "", 0))


class ImageOfABot(StatelessSession):
    def mappings(self):
        # The bot prints them: no other process may look at its memory.
        child = self.seat(PRINTS_MAPPINGS)
        child.start()
        self.assertEqual(child.turn(pack_solitude(solitude(1))), {"answer": "LEFT"})
        return child.said().splitlines()

    @needs_image
    def test_stateless_bot_has_an_image_and_no_way_to_write_to_it(self):
        lines = self.mappings()
        self.assertTrue(any("memfd:agon" in line and " rwxp " in line for line in lines), lines)
        self.assertFalse(any(" rw-s " in line for line in lines), lines)
        self.assertFalse(any("memfd" in line and "is open" in line for line in lines), lines)

    def test_bot_cannot_duplicate_the_image(self):
        self.assertEqual(self.replies(DUPLICATES_IMAGE), [{"answer": "LEFT"}] * 3)

    @needs_image
    def test_bot_with_a_duplicate_of_the_image_is_rejected(self):
        self.seat(DUPLICATES_IMAGE, without=["filter"])
        self.assertEqual(self.ready.get("error", {}).get("what"), "makes shared memory while it is loaded")

    def test_bot_that_unmaps_the_image_plays_without_it(self):
        replies = self.replies(UNMAPS_IMAGE + HONEST)
        self.assertTrue(all("answer" in reply for reply in replies), replies)


class SwitchedOff(ImageOfABot):
    """The same bots without an image."""

    @classmethod
    def setUpClass(cls):
        cls.parent = ZygoteProcess(plain=True, environment={"AGON_MEMORY_IMAGE": "off"})

    def test_stateless_bot_has_an_image_and_no_way_to_write_to_it(self):
        self.assertFalse(any("memfd" in line for line in self.mappings()))

    def test_bot_with_a_duplicate_of_the_image_is_rejected(self):
        self.assertEqual(self.replies(DUPLICATES_IMAGE, without=["filter"]), [{"answer": "LEFT"}] * 3)


if __name__ == "__main__":
    unittest.main()
