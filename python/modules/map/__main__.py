"""`python -m map 42` prints the room of a seed."""

import sys

from agon_bot.library.map import main

main(sys.argv[1:])
