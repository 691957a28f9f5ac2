"""Answers with terminal commands (clear the screen, set the title, bell, text direction) instead of JSON.

Must happen: garbled, and the report escapes them."""

import os

from attack import next_turn

next_turn()
os.write(1, b"\x1b[2J\x1b]0;owned\x07\x1b[31m\xe2\x80\xae evil \x9b1m\n")
next_turn()
