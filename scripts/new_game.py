#!/usr/bin/env python3
"""Writes the files of a new game, with the places to fill in: `make game NAME=tic-tac-toe`.

The templates are in `scripts/game-template`, in the folders they are copied to. In their text and in their paths,
`__ID__` becomes `tic-tac-toe`, `__MODULE__` `tic_tac_toe`, `__TYPE__` `TicTacToe` and `__TITLE__` `Tic Tac Toe`. The game
is added to the registry, `crates/agon-games/src/lib.rs`. Nothing is overwritten.

Usage: new_game.py NAME [ROOT]
"""

from __future__ import annotations

import os
import re
import sys
from typing import Dict, Iterator, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPLATE = os.path.join(HERE, "game-template")
REGISTRY = os.path.join("crates", "agon-games", "src", "lib.rs")
PLACEHOLDER = "FILL IN"
MAX_LENGTH = 40
RESERVED = {
    *("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut".split()),
    *("pub ref return self static struct super trait true type unsafe use where while abstract become box do final gen".split()),
    *("macro override priv try typeof unsized virtual yield registry and assert class def del elif except from global".split()),
    *("import is lambda nonlocal not or pass raise with base game games".split()),
}


class NewGameError(Exception):
    """The game cannot be written: what is wrong, and what to do."""


def names_of(id_: str) -> Dict[str, str]:
    """The spellings of a game's name, by their mark in the templates."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", id_):
        raise NewGameError(f"{id_!r} is not a valid name\nhint: use lower-case letters and digits, words joined by `-`: tic-tac-toe")
    if len(id_) > MAX_LENGTH:
        raise NewGameError(f"{id_!r} has {len(id_)} characters\nhint: use at most {MAX_LENGTH}")
    if id_ in RESERVED:
        raise NewGameError(f"{id_!r} is a reserved word\nhint: choose another name")
    words = id_.split("-")
    return {
        "__ID__": id_,
        "__MODULE__": "_".join(words),
        "__TYPE__": "".join(word.capitalize() for word in words),
        "__TITLE__": " ".join(word.capitalize() for word in words),
    }


def filled(text: str, names: Dict[str, str]) -> str:
    """A template with the names in it."""
    for mark, name in names.items():
        text = text.replace(mark, name)
    return text


def templates() -> Iterator[Tuple[str, str]]:
    """Path and text of each template."""
    for folder, folders, files in os.walk(TEMPLATE):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                yield os.path.relpath(path, TEMPLATE), file.read()


def registered(text: str, names: Dict[str, str]) -> str:
    """The registry with the game added: its module in alphabetical order, the game at the end of the list."""
    line = f"pub mod {names['__MODULE__']};"
    modules = re.findall(r"^pub mod \w+;$", text.split("pub mod registry;")[0], re.M)
    listed = re.search(r"(games! \{\n.*?)(\n\})", text, re.S)
    if not modules or not listed:
        raise NewGameError(f"{REGISTRY} has no list of games\nhint: restore it")
    if line in modules:
        raise NewGameError(f"the game {names['__ID__']} exists\nhint: choose another name")
    text = text[: listed.end(1)] + f"\n    {names['__MODULE__']}::{names['__TYPE__']}," + text[listed.end(1) :]
    return text.replace("\n".join(modules), "\n".join(sorted([*modules, line])), 1)


def write_game(id_: str, root: str) -> Dict[str, int]:
    """Writes all files. Returns how many places each has to fill in."""
    names = names_of(id_)
    with open(os.path.join(root, REGISTRY), encoding="utf-8") as file:
        registry = registered(file.read(), names)
    files = {filled(path, names): filled(text, names) for path, text in templates()}
    there = [path for path in files if os.path.lexists(os.path.join(root, path))]
    if there:
        raise NewGameError(f"{there[0]} exists\nhint: nothing was written; choose another name or remove the file")
    for path, text in files.items():
        whole = os.path.join(root, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "x", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(root, REGISTRY), "w", encoding="utf-8") as file:
        file.write(registry)
    return {path: text.count(PLACEHOLDER) for path, text in files.items()}


def main() -> int:
    """Writes the game and lists the files."""
    if len(sys.argv) not in (2, 3) or not sys.argv[1]:
        print("error: no name\nhint: make game NAME=tic-tac-toe", file=sys.stderr)
        return 2
    try:
        places = write_game(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.path.dirname(HERE))
    except NewGameError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for path, count in places.items():
        print(f"{path}  ({count} to fill in)" if count else path)
    print(f"{REGISTRY}  (game added)")
    print(f"\nNext: replace each `{PLACEHOLDER}`. What is missing: cargo test -p agon-games --test game_parts")
    print("CONTRIBUTING.md, section `Add a game`, says in which order.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
