"""A process whose interpreter lies in large pages is the same as before, and so are its forks."""

import subprocess
import sys
import unittest

from talk import PACKAGE

SCRIPT = """
import os, re, sys
sys.path.insert(0, sys.argv[1])
from agon_bot.mappings import LARGE, _mappings, enlarge_pages, join_mappings

def code():
    return sum(end - start for start, end, rights, _, name in _mappings() if rights == "r-xp" and "libpython" in name)

join_mappings()
before = code()
count = enlarge_pages()
large = sum(int(size) for size in re.findall(r"AnonHugePages: *([0-9]+) kB", open("/proc/self/smaps").read())) << 10
assert before - code() == count * LARGE, (before, code(), count)
assert large >= count * LARGE, (large, count)
child = os.fork()
if child == 0:
    os._exit(int(sorted({"a": 1, "b": 76}.items())[1][1]) + 1)
assert os.waitpid(child, 0)[1] == 77 << 8
try:
    import json, decimal
    json.loads("{")
except ValueError as error:
    print(error.msg, decimal.Decimal(2).sqrt())
"""


NEW_POOLS = """
import sys
sys.path.insert(0, sys.argv[1])
from agon_bot.mappings import POOL, _fillers, begin_new_pools
gaps = [bytes(60) for _ in range(3000)][::2]
assert begin_new_pools() == len(_fillers) < 10000, len(_fillers)
new = sorted(id(one) for one in [bytes(60) for _ in range(50)])
assert [after - before for before, after in zip(new, new[1:])] == [96] * 49, new
# The pool is not empty when what was made is gone.
assert {place // POOL for place in new} <= {id(one) // POOL for one in _fillers}
"""


class Mappings(unittest.TestCase):
    @unittest.skipIf(sys.version_info < (3, 10), "pools are smaller there")
    def test_what_is_made_later_lies_in_new_places(self):
        run = subprocess.run([sys.executable, "-c", NEW_POOLS, PACKAGE], capture_output=True, text=True)
        self.assertEqual((run.stderr, run.returncode), ("", 0))

    def test_code_in_large_pages_runs_as_before(self):
        run = subprocess.run([sys.executable, "-c", SCRIPT, PACKAGE], capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        self.assertEqual(run.returncode, 0)
        self.assertTrue(run.stdout.startswith("Expecting property name enclosed in double quotes 1.41421356"), run.stdout)


if __name__ == "__main__":
    unittest.main()
