"""Answers with NUL bytes, and hides an answer behind them.

Must happen: garbled, and no NUL is printed anywhere."""

import sys

from attack import next_turn

turn = next_turn()
sys.stdout.write('\0\0{"id":%d,"answer":4}\0\n' % turn["id"])
sys.stdout.flush()
next_turn()
