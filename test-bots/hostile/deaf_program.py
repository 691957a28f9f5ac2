"""Never reads what it is sent.

Must happen: not ready in time: refused before any game."""

import time

time.sleep(60)
