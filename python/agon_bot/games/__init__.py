"""One shim for each Python API: from an observation to the call the competition promised, and from what it returned
to an answer."""

from __future__ import annotations

from typing import Dict, Tuple

SHIMS: Dict[str, Tuple[str, str]] = {
    "solitude-scramble": ("solitude", "Solitude"),
    "colour-battle": ("colour", "ColourBattle"),
    "connect-five": ("connect", "ConnectFive"),
    "hide-and-seek": ("hide", "HideAndSeek"),
}
"""Module and class for each game. Imported when needed: not every game needs NumPy. (Word Racer's bots are plain
programs that read lines.)"""


def shim_for(game: str) -> type:
    """The shim of a game."""
    import importlib

    module, name = SHIMS[game]
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
