"""Never reads its input.

Must happen: not ready in time: rejected before any game."""

import time

time.sleep(60)
