"""Closes its standard output and lives on for a minute.

Must happen: a crash; the process is ended."""

import os
import time

from attack import next_turn

next_turn()
os.close(1)
time.sleep(60)
