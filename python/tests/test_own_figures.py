"""What the kernel says about a process, as `OwnFigures` reads it."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from agon_bot.process_cleanup import PAGE_BYTES, OwnFigures  # noqa: E402

PRIVATE = b"7f0000000000-7f0000001000 rw-p 00000000 00:00 0  /a file sh\nRss: 4 kB\nVmFlags: rd wr mr mw me ac \n"
SHARED = PRIVATE.replace(b"ac \n", b"ac sh \n")


class SharedMemory(unittest.TestCase):
    def figures(self, text):
        figures = OwnFigures()
        figures.close()
        with tempfile.TemporaryFile() as file:
            file.write(text)
            file.flush()
            figures.files["smaps"] = os.dup(file.fileno())
        self.addCleanup(figures.close)
        return figures

    def test_shared_mapping_is_found_wherever_its_line_begins(self):
        for before in range(PAGE_BYTES - len(SHARED), PAGE_BYTES + 1):
            padding = PRIVATE * (before // len(PRIVATE)) + b"Size: 1\n" + b"x" * (before % len(PRIVATE)) + b"\n"
            self.assertTrue(self.figures(padding + SHARED + PRIVATE).has_shared_memory(), before)

    def test_private_mappings_and_their_names_do_not_count(self):
        self.assertFalse(self.figures(PRIVATE * 500).has_shared_memory())
        self.assertFalse(self.figures(b"").has_shared_memory())

    def test_own_mappings_are_read(self):
        figures = OwnFigures()
        self.addCleanup(figures.close)
        self.assertIn(b"[stack]", figures.read("maps"))


if __name__ == "__main__":
    unittest.main()
