"""Hide and Seek's `map`, for tests and editors outside Agon: see `agon_bot.library.map`."""

from agon_bot.library.map import Map

__all__ = ["Map"]
