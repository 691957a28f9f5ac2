"""Answers 1e400 and a number of 60,000 digits.

Must happen: garbled or illegal."""

import os

from attack import next_turn

turn = next_turn()
os.write(1, b'{"id":%d,"answer":%s}\n' % (turn["id"], b"9" * 60000))
next_turn()
