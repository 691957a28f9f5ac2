"""Answers with bytes that are not UTF-8 and with lone surrogates.

Must happen: garbled."""

import os

from attack import next_turn

turn = next_turn()
os.write(1, b'{"id":%d,"answer":"\xff\xfe\xed\xa0\x80"}\n' % turn["id"])
next_turn()
