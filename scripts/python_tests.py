"""Runs the Python tests, and writes down those that could not run, for `make test` to name them at its end (`scripts/skipped-tests.sh`)."""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTS = os.path.join(ROOT, "python", "tests")
SETUP = "NumPy"
"""What `scripts/setup.sh tests` installs. Other reasons lie with the machine: its kernel, its user, its Python."""


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
        print(f"error: {len(missing)} tests could not run\nhint: scripts/setup.sh tests installs {SETUP}", file=sys.stderr)
        return 1
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
