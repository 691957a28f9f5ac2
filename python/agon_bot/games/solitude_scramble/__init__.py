"""Solitude Scramble: `get_action(state, match_history)` of `Submission.py`. Each call runs in a fork of the loaded
bot."""

LIFETIME = "call"
SINGLE_THREADED = True
ENTRY_FUNCTION = "get_action"
LIBRARY_MODULES = ()
PRELOADED_MODULES = ("agon_bot.games.solitude_scramble.solitude_args",)
BOT_API = "api:SolitudeScramble"
SOURCE_CHECK = "source_check"
CALL_ARGUMENTS = "solitude_args:SolitudeArgs"
