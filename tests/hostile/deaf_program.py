"""Never reads what it is sent.

Must happen: it never gets ready; the engine does not wait for it to read."""

import time

time.sleep(60)
