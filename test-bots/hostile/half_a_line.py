"""Exits after an answer without a line end.

Must happen: a crash; the answer does not count."""

import os

from attack import next_turn

turn = next_turn()
os.write(1, b'{"id":%d,"answer":0}' % turn["id"])
os._exit(0)
