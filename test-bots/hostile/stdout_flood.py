"""Answers with 64 MiB of lines.

Must happen: garbled, because nothing was requested; the process is killed."""

import sys

from attack import next_turn, say

turn = next_turn()
say(id=turn["id"], answer=0)
for _ in range(1024):
    sys.stdout.write("0\n" * 32768)
