"""What runs inside a Python bot's process.

A bot is a stranger's file. This package loads it as it is, turns each request of the host into the call its competition
promised (`get_action`, `determine_next_move`, `get_move`, `move`), and turns what comes back into one line of text.

Nothing here is a wall: the bot shares this process and can change all of it. It can spoil only its own answers by
that; walls are the sandbox the process stands in, and the host judges every line it gets.
"""

PROTOCOL = 1
"""Version of the JSON-lines protocol spoken."""
