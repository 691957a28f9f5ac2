"""Answers with a line of 64 MiB that never ends.

Must happen: garbled after 64 KiB; the process is killed."""

import sys

from attack import next_turn

next_turn()
for _ in range(1024):
    sys.stdout.write("0" * 65536)
    sys.stdout.flush()
