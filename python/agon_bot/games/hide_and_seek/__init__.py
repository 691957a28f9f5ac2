"""Hide and Seek: `class Seeker(Player)` / `class Hider(Player)` with a `move()` that changes `self.pos`."""

LIFETIME = "game"
SINGLE_THREADED = False
ENTRY_FUNCTION = "move"
LIBRARY_MODULES = ("players", "game_utils", "map")
PRELOADED_MODULES = (
    *("numpy", "numpy.random", "numpy.linalg", "agon_bot.games.hide_and_seek.api", "agon_bot.library.map"),
)
BOT_API = "api:HideAndSeek"
SOURCE_CHECK = "source_check"
