"""Hide and Seek's `players`, for tests and editors outside Agon: see `agon_bot.library.players`."""

from agon_bot.library.players import Player

__all__ = ["Player"]
