"""Answers a byte every tenth of a second, for at most a minute.

Must happen: a timeout; the process is killed."""

import os
import time

from attack import next_turn

turn = next_turn()
line = b'{"id":%d,"answer":0}' % turn["id"]
for number in range(600):
    os.write(1, line[number : number + 1] or b" ")
    time.sleep(0.1)
