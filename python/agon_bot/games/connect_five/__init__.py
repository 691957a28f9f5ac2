"""Connect Five: `get_move(self, board, player, T, N)` on one object for the whole match, `adjust()` after each game,
`train()` after the match."""

LIFETIME = "match"
SINGLE_THREADED = False
ENTRY_FUNCTION = "get_move"
LIBRARY_MODULES = ()
PRELOADED_MODULES = ("agon_bot.games.connect_five.api",)
BOT_API = "api:ConnectFive"
SOURCE_CHECK = "source_check"
