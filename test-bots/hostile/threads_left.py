"""Leaves threads that keep its process alive for half a minute after the game.

Must happen: they are gone when the game ends."""

import threading
import time

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        for _ in range(4):
            threading.Thread(target=time.sleep, args=(30,)).start()
