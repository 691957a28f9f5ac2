"""Colour Battle's `bot_control`, for tests and editors outside Agon: see `agon_bot.library.bot_control`."""

from agon_bot.library.bot_control import Bot, Move

__all__ = ["Bot", "Move"]
