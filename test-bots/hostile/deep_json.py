"""Answers with nested lists, 30,000 levels deep.

Must happen: garbled; the engine's stack is not used up."""

import os

from attack import next_turn

turn = next_turn()
os.write(1, b'{"id":%d,"answer":%s%s}\n' % (turn["id"], b"[" * 30000, b"]" * 30000))
next_turn()
