"""Answers with the same keys many times, the last ones with another answer.

Must happen: garbled."""

import os

from attack import next_turn

turn = next_turn()
os.write(1, b"{" + b'"id":%d,"answer":4,' % turn["id"] * 2000 + b'"id":%d,"answer":5}\n' % turn["id"])
next_turn()
