"""A random Word Racer bot with its text protocol. It uses the seed from the engine."""

import os
import random

random.seed(int(os.environ["AGON_SEED"]))
input()
calls = input() == "1"
free = [cell for cell in range(49) if cell != 24]
while free:
    if not calls:
        input()
    position = free.pop(random.randrange(len(free)))
    print(f"{random.choice('AEINRST')} {position}" if calls else position, flush=True)
    calls = not calls
