"""Answers with 64 MiB of lines at once.

Must happen: what nobody asked for is garbled; the process is ended."""

import sys

from attack import next_turn, say

turn = next_turn()
say(id=turn["id"], answer=0)
for _ in range(1024):
    sys.stdout.write("0\n" * 32768)
