#!/usr/bin/env python3
"""Fails if code outside a game's own folders names a game.

A game describes itself (`GameInfo` and the traits of `agon_core::game`); other code asks the description and never
compares an id. The names of the games come from the registry, `crates/agon-games/src/lib.rs`.

A name may occur in:

- the game's own folders (see `own_folders`) and the registry;
- tests, benchmarks and Rust modules behind `#[cfg(test)]`;
- documents (`*.md`), snapshots and the example bots.

Usage: lint_game_ids.py [ROOT]
"""

from __future__ import annotations

import os
import re
import sys
from typing import Iterator, List, NamedTuple, Set, Tuple

REGISTRY = os.path.join("crates", "agon-games", "src", "lib.rs")
SEARCHED = ("crates", "python", "web", "scripts", "deploy", ".ci", "Makefile", "Cargo.toml")
ENDINGS = (".rs", ".py", ".ts", ".svelte", ".js", ".mjs", ".sh", ".toml", ".html", ".css", ".yml", ".yaml", ".sql", "Makefile", "run")
SKIPPED_FOLDERS = {"tests", "benches", "node_modules", "dist", "target", "__pycache__", "game-template", ".venv"}
EXEMPT = {
    REGISTRY: "the registry",
    os.path.join("crates", "agon-games", "Cargo.toml"): "names the benchmarks of the games",
    os.path.join("scripts", "schemathesis.py"): "a test driver with a bot of one game",
}
TEST_FILE = re.compile(r"(^|_)tests\.rs$")
TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*(?:pub(?:\([a-z]+\))? )?mod (\w+);")
TEST_BLOCK = re.compile(r"^(\s*)#\[cfg\(test\)\]\n(?:\s*#\[[^\n]*\]\n)*\s*(?:pub(?:\([a-z]+\))? )?mod \w+ \{\n.*?^\1\}$", re.M | re.S)


class Game(NamedTuple):
    """The spellings of a game: `my-game`, `my_game`, `MyGame`."""

    id: str
    module: str
    type: str

    def pattern(self) -> str:
        """Finds the game's name. One word is also an ordinary word: then only a quoted id, a path or a module counts."""
        if "_" in self.module:
            return rf"(?<![\w-])(?:{self.id}|{self.module}|{self.type})(?![\w]|-(?!-))"
        return rf"(?:[\"'`]{self.id}[\"'`]|(?<![\w-]){self.module}::|\bmod {self.module}\b)"

    def own_folders(self) -> List[str]:
        """Where the game's name may occur."""
        return [
            os.path.join("crates", "agon-games", "src", self.module),
            os.path.join("python", "agon_bot", "games", self.module),
            os.path.join("web", "src", "games", self.id),
        ]


class Offence(NamedTuple):
    """A line that names a game."""

    path: str
    line: int
    text: str


def read(path: str) -> str:
    """The text of a file."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def games_of(root: str) -> List[Game]:
    """The games of the registry."""
    text = read(os.path.join(root, REGISTRY))
    listed = re.search(r"games! \{\n(.*?)\n\}", text, re.S)
    found = re.findall(r"^\s*(\w+)::(\w+),$", listed.group(1), re.M) if listed else []
    if not found:
        raise SystemExit(f"error: {REGISTRY}: found no list `registry::games! {{ ... }}`")
    return [Game(module.replace("_", "-"), module, name) for module, name in found]


def files_of(root: str) -> Iterator[str]:
    """Paths of the files to search, seen from the root."""
    for top in SEARCHED:
        if os.path.isfile(os.path.join(root, top)):
            yield top
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
            for name in sorted(names):
                if name.endswith(ENDINGS) and not TEST_FILE.search(name):
                    yield os.path.relpath(os.path.join(folder, name), root)


def test_modules(root: str, paths: List[str]) -> Set[str]:
    """Rust files that are modules behind `#[cfg(test)]`."""
    found = set()
    for path in paths:
        if path.endswith(".rs"):
            folder, name = os.path.split(path)
            inner = folder if name in ("lib.rs", "main.rs", "mod.rs") else os.path.join(folder, name[:-3])
            found.update(os.path.join(inner, f"{module}.rs") for module in TEST_MODULE.findall(read(os.path.join(root, path))))
    return found


def without_tests(text: str) -> str:
    """A Rust file with its test modules as empty lines, so that line numbers stay."""
    return TEST_BLOCK.sub(lambda block: "\n" * block.group(0).count("\n"), text)


def offences(root: str) -> Tuple[List[Offence], int]:
    """All lines that name a game, and how many files were searched."""
    games = games_of(root)
    names = re.compile("|".join(game.pattern() for game in games))
    own = tuple(folder + os.sep for game in games for folder in game.own_folders())
    paths = list(files_of(root))
    tests = test_modules(root, paths)
    searched = [p for p in paths if p not in EXEMPT and p not in tests and not p.startswith(own)]
    found = []
    for path in searched:
        text = read(os.path.join(root, path))
        if path.endswith(".rs"):
            text = without_tests(text)
        for number, line in enumerate(text.splitlines(), 1):
            if names.search(line):
                found.append(Offence(path, number, line.strip()))
    return found, len(searched)


def main() -> int:
    """Prints the offences as `file:line: text`."""
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found, searched = offences(root)
    for path, line, text in found:
        print(f"{path}:{line}: {text[:140]}")
    if found:
        print(f"error: {len(found)} lines name a game outside its own folders")
        print("hint: ask GameInfo or a trait of the game; see `A game describes itself` in CONTRIBUTING.md")
        return 1
    print(f"no game is named outside its own folders ({searched} files searched)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
