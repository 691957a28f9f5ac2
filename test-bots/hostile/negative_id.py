"""Answers with invalid ids: negative, fractional, too large, text.

Must happen: garbled."""

import os

from attack import next_turn

next_turn()
os.write(1, b'{"id":-1e999,"answer":0}\n')
next_turn()
