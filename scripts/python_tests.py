"""Runs the Python tests. Writes those that could not run to a file, so that `make test` can name them (`scripts/skipped-tests.sh`)."""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTS = os.path.join(ROOT, "python", "tests")
SETUP = "NumPy"
"""Reasons with this word are solved by `scripts/setup.sh tests`. Other reasons depend on the machine: its kernel, user or Python."""


def main() -> int:
    result = unittest.TextTestRunner(verbosity=1).run(unittest.defaultTestLoader.discover(TESTS))
    skipped = [(test.id(), " ".join(why.split())) for test, why in result.skipped]
    path = os.environ.get("AGON_SKIPPED_TESTS")
    if skipped and path:
        with open(path, "a", encoding="utf-8") as file:
            for name, why in skipped:
                file.write(f"python\t{name}\t{why}\t{'setup' if SETUP in why else 'machine'}\n")
    missing = [name for name, why in skipped if SETUP in why]
    if missing and (os.environ.get("CI") or os.environ.get("AGON_REQUIRE_ALL")):
        print(f"error: {len(missing)} tests could not run\nhint: run scripts/setup.sh tests to install {SETUP}", file=sys.stderr)
        return 1
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
