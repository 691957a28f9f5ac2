"""Colour Battle: `determine_next_move(self, grid, enemies, game_info)` on a new instance for each game."""

LIFETIME = "game"
SINGLE_THREADED = True
ENTRY_FUNCTION = "determine_next_move"
LIBRARY_MODULES = ("bot_control",)
PRELOADED_MODULES = ("numpy", "numpy.random", "numpy.linalg", "agon_bot.games.colour_battle.api")
BOT_API = "api:ColourBattle"
SOURCE_CHECK = "source_check"
