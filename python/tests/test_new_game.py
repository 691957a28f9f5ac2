"""`scripts/new_game.py` and `scripts/lint_game_ids.py`, in a small copy of the tree."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REGISTRY = os.path.join("crates", "agon-games", "src", "lib.rs")
SCRIPTS = os.path.join(ROOT, "scripts")


def load(name: str) -> Any:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(SCRIPTS, f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


new_game, lint = load("new_game"), load("lint_game_ids")


class SmallTree(unittest.TestCase):
    """A tree with nothing but the registry."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        with open(os.path.join(ROOT, REGISTRY), encoding="utf-8") as file:
            self.registry = file.read()
        self.write(REGISTRY, self.registry)

    def write(self, path: str, text: str) -> None:
        whole = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, path: str) -> str:
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def run_lint(self) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, os.path.join(SCRIPTS, "lint_game_ids.py"), self.root]
        return subprocess.run(command, capture_output=True, text=True, check=False)


class NewGame(SmallTree):
    """`make game`."""

    def test_new_game_writes_every_part_and_registers_it(self) -> None:
        places = new_game.write_game("tic-tac-toe", self.root)
        for path in (
            "crates/agon-games/src/tic_tac_toe/mod.rs",
            "crates/agon-games/src/tic_tac_toe/starters/python/StarterBot.py",
            "crates/agon-games/tests/tic_tac_toe.rs",
            "python/agon_bot/games/tic_tac_toe/__init__.py",
            "web/src/games/tic-tac-toe/Board.svelte",
        ):
            self.assertIn(path, places)
            self.assertNotIn("__", self.read(path).replace("__future__", "").replace("__name__", ""), path)
        registry = self.read(REGISTRY)
        self.assertIn("pub mod solitude_scramble;\npub mod tic_tac_toe;\npub mod word_racer;\n", registry)
        self.assertIn("::WordRacer,\n    tic_tac_toe::TicTacToe,\n}", registry)
        self.assertEqual([game.id for game in lint.games_of(self.root)][-1], "tic-tac-toe")

    def test_new_game_with_an_invalid_name_writes_nothing(self) -> None:
        for name in ("", "Nim", "tic_tac", "-nim", "nim-", "3d", "a--b", "../nim", "nim/x", "match", "é", "x" * 41):
            with self.assertRaises(new_game.NewGameError, msg=name):
                new_game.write_game(name, self.root)
        self.assertEqual(self.read(REGISTRY), self.registry)
        self.assertEqual(os.listdir(self.root), ["crates"])

    def test_new_game_that_exists_is_not_overwritten(self) -> None:
        with self.assertRaisesRegex(new_game.NewGameError, "exists"):
            new_game.write_game("word-racer", self.root)
        self.write("web/src/games/nim/view.ts", "mine")
        with self.assertRaisesRegex(new_game.NewGameError, "view.ts exists"):
            new_game.write_game("nim", self.root)
        self.assertEqual(self.read("web/src/games/nim/view.ts"), "mine")
        self.assertEqual(self.read(REGISTRY), self.registry)
        self.assertFalse(os.path.exists(os.path.join(self.root, "crates/agon-games/src/nim")))


class GameIdLint(SmallTree):
    """`make lint`: no code outside a game's own folders names a game."""

    def test_lint_without_offences_passes(self) -> None:
        self.write("crates/agon-games/src/word_racer/mod.rs", 'const ID: &str = "word-racer";\n')
        self.write("python/agon_bot/games/word_racer/api.py", "class WordRacer: pass\n")
        self.write("web/src/games/word-racer/view.ts", "export const id = 'word-racer';\n")
        self.write("crates/x/src/lib.rs", '//! Word Racer is a title, not a name.\n#[cfg(test)]\nmod deep;\n')
        self.write("crates/x/src/deep.rs", 'fn game() -> &str { "word-racer" }\n')
        self.write("crates/x/src/a.rs", '#[cfg(test)]\nmod tests {\n    const ID: &str = "word-racer";\n}\n')
        self.write("crates/x/tests/b.rs", 'const ID: &str = "word-racer";\n')
        done = self.run_lint()
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_lint_with_a_planted_line_fails_and_names_it(self) -> None:
        for path, line in (
            ("crates/x/src/lib.rs", 'if game == "word-racer" {}'),
            ("crates/x/src/lib.rs", "use agon_games::word_racer::WordList;"),
            ("crates/x/src/lib.rs", "type G = WordRacer;"),
            ("python/agon_bot/session.py", "if game == 'word-racer': pass"),
            ("web/src/app/pages/Submit.svelte", "{#if game === 'word-racer'}"),
            ("scripts/x.sh", "agon play word-racer"),
        ):
            with self.subTest(line):
                self.write(path, f"\n{line}\n")
                done = self.run_lint()
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{path}:2: {line}", done.stdout)
                os.remove(os.path.join(self.root, path))

    def test_lint_finds_code_after_a_test_module(self) -> None:
        self.write("crates/x/src/lib.rs", '#[cfg(test)]\nmod tests {\n    fn a() {}\n}\n\nconst ID: &str = "word-racer";\n')
        self.assertIn("crates/x/src/lib.rs:6:", self.run_lint().stdout)

    def test_lint_of_a_one_word_game_finds_its_id_but_not_the_word(self) -> None:
        new_game.write_game("nim", self.root)
        self.write("crates/x/src/lib.rs", "// The minimum of nim and others.\n")
        self.assertEqual(self.run_lint().returncode, 0)
        self.write("crates/x/src/lib.rs", 'let id = "nim";\n')
        self.assertEqual(self.run_lint().returncode, 1)


if __name__ == "__main__":
    unittest.main()
