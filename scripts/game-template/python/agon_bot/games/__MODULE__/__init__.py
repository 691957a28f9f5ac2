"""__TITLE__: `get_move(self, state)`. FILL IN: what the bot is and how long it lives."""

LIFETIME = "game"
SINGLE_THREADED = False
ENTRY_FUNCTION = "get_move"
LIBRARY_MODULES = ()
PRELOADED_MODULES = ("agon_bot.games.__MODULE__.api",)
BOT_API = "api:__TYPE__"
SOURCE_CHECK = "source_check"
