"""Closes its standard output and runs for another minute.

Must happen: a crash; the process is killed."""

import os
import time

from attack import next_turn

next_turn()
os.close(1)
time.sleep(60)
