"""The part of Agon that runs inside a Python bot's process.

This package loads a bot's file without changes, turns each request of the host into the call that the competition
promises (see `games/`), and turns the result into one line of text.

Nothing in this package protects anything. The bot shares the process and can change all of it, but that spoils only its
own answers. The sandbox around the process protects the machine, and the host checks every line that it receives.
"""

PROTOCOL = 1
"""Version of the JSON-lines protocol."""
