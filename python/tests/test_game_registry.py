"""The registry of games: every game's package declares all parts, and a missing part is an error that names it."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from bot_process import PACKAGE, BotFolderTestCase, BotProcess
from zygote_client import ZygoteProcess

from agon_bot import games
from agon_bot.errors import LoadError
from agon_bot.games import CALL_ARGUMENTS_PARTS, PARTS, SOURCE_CHECK_PARTS, STATELESS_PARTS, MissingGamePart, UnknownGame
from agon_bot.zygote import preloaded_modules

DECLARATIONS = {
    "LIFETIME": '"call"',
    "SINGLE_THREADED": "True",
    "ENTRY_FUNCTION": '"get_action"',
    "LIBRARY_MODULES": "()",
    "PRELOADED_MODULES": '("agon_bot.games.made_up.arguments",)',
    "BOT_API": '"api:MadeUp"',
    "SOURCE_CHECK": '"source_check"',
    "CALL_ARGUMENTS": '"arguments:MadeUpArgs"',
}


class Registry(BotFolderTestCase):
    """A game that exists in a temporary folder only."""

    def setUp(self):
        super().setUp()
        games.__path__.append(self.folder)
        self.addCleanup(games.__path__.remove, self.folder)
        self.addCleanup(self.forget)

    def forget(self):
        for name in [name for name in sys.modules if name.startswith("agon_bot.games.made_up")]:
            del sys.modules[name]
        sys.path_importer_cache.clear()

    def make_game(self, without=(), **changed):
        """Writes the package of the made-up game. Leaves out some parts."""
        self.forget()
        parts = {name: changed.get(name, value) for name, value in DECLARATIONS.items() if name not in without}
        self.write("made_up/__init__.py", "".join(f"{name} = {value}\n" for name, value in parts.items()))
        checks = "".join(f"def {name}(*_): return []\n" for name in SOURCE_CHECK_PARTS if name not in without)
        self.write("made_up/source_check.py", checks)
        fields = "".join(f"    {name} = None\n" for name in CALL_ARGUMENTS_PARTS if name not in without)
        self.write("made_up/arguments.py", f"class MadeUpArgs:\n    pass\n{fields}")
        api = "" if "MadeUp" in without else "class MadeUp:\n    pass\n"
        self.write("made_up/api.py", api)

    def missing(self, part, **changed):
        """Leaves out a part and returns the error of the check."""
        self.make_game(without=[part], **changed)
        with self.assertRaises(MissingGamePart) as caught:
            games.check_declarations("made-up")
        return str(caught.exception)

    def test_complete_package_passes(self):
        self.make_game()
        games.check_declarations("made-up")
        self.assertIn("made-up", games.game_ids())
        self.assertIn("agon_bot.games.made_up.arguments", preloaded_modules(stateless=True))
        self.assertNotIn("agon_bot.games.made_up.arguments", preloaded_modules(stateless=False))

    def test_each_missing_part_is_named_with_its_game(self):
        for part in [*PARTS, *STATELESS_PARTS, *SOURCE_CHECK_PARTS, *CALL_ARGUMENTS_PARTS, "MadeUp"]:
            with self.subTest(part=part):
                error = self.missing(part)
                self.assertIn(f"the game 'made-up' lacks {part}", error)
                self.assertIn("agon_bot/games/made_up/", error)

    def test_declared_module_that_does_not_exist_is_named(self):
        for part, value in {"SOURCE_CHECK": '"gone"', "BOT_API": '"gone:MadeUp"', "CALL_ARGUMENTS": '"gone:X"'}.items():
            with self.subTest(part=part):
                error = self.missing("", **{part: value})
                self.assertIn("the game 'made-up' lacks the module gone", error)
                self.assertIn(f"named by {part}", error)

    def test_unknown_lifetime_is_rejected(self):
        self.assertIn("the game 'made-up' lacks LIFETIME", self.missing("", LIFETIME='"turn"'))

    def test_call_arguments_are_needed_for_stateless_games_only(self):
        self.make_game(without=["CALL_ARGUMENTS"], LIFETIME='"game"')
        games.check_declarations("made-up")

    def test_unknown_games_are_rejected_with_the_known_ones(self):
        for game in ("", "no-such-game", "connect_five", "../games", "base", "os.path"):
            with self.subTest(game=game), self.assertRaises(UnknownGame) as caught:
                games.game_part(game, "LIFETIME")
            self.assertIn("connect-five", str(caught.exception))


NIM = {
    "__init__.py": """
        LIFETIME = "match"
        SINGLE_THREADED = False
        ENTRY_FUNCTION = "take"
        LIBRARY_MODULES = ()
        PRELOADED_MODULES = ("agon_bot.games.nim.api",)
        BOT_API = "api:Nim"
        SOURCE_CHECK = "source_check"
        """,
    "api.py": """
        from ... import loading
        from ...answers import whole_number
        from ..base import Shim
        from . import ENTRY_FUNCTION

        class Nim(Shim):
            def locate(self):
                fits = lambda tree, file: bool(loading.classes_with(tree, ENTRY_FUNCTION))
                return loading.choose_file(self.target, fits, "a class with take")

            def load_class(self):
                loaded = loading.execute(self.locate(), self.target.root)
                self.root = loaded.root
                self.kind, self.display_name = loading.choose_class(loaded, ENTRY_FUNCTION, None), loaded.display_name

            def begin_match(self, hello):
                self.bot = self.construct(self.kind, self.display_name)
                return {"name": None, "contributor": None}

            def turn(self, message):
                return str(whole_number(self.bot.take(message["observation"]["heap"]), "what take returned"))

            def packed(self, packets):
                return str(whole_number(self.bot.take(packets.buffer[12]), "what take returned"))
        """,
    "source_check.py": """
        from ...check_findings import class_candidates
        from . import ENTRY_FUNCTION

        def find_candidates(sources): return class_candidates(sources, ENTRY_FUNCTION)
        def find_roles(sources, wanted): return []
        def find_problems(sources, target): return []
        def find_advice(sources, wanted): return []
        """,
}


class NewGame(BotFolderTestCase):
    """A new game needs nothing but its own package."""

    def setUp(self):
        super().setUp()
        self.copy = os.path.join(self.folder, "package")
        shutil.copytree(os.path.join(PACKAGE, "agon_bot"), os.path.join(self.copy, "agon_bot"))
        for name, text in NIM.items():
            self.write(f"package/agon_bot/games/nim/{name}", text)
        self.bot = self.write("Bot.py", "class Bot:\n    def take(self, heap):\n        return heap % 4 or 1\n")

    def test_bot_of_a_new_game_plays_with_lines(self):
        with BotProcess("nim", self.bot, environment={"PYTHONPATH": self.copy}) as process:
            self.assertNotIn("error", process.ready)
            process.start()
            self.assertEqual(process.turn({"heap": 7})["answer"], "3")

    def test_bot_of_a_new_game_plays_with_packets(self):
        zygote = ZygoteProcess(package=self.copy)
        self.addCleanup(zygote.close)
        child = zygote.bot(self.bot, "nim")
        self.addCleanup(child.close)
        child.entered()
        self.assertEqual(child.hello(), {"protocol": 1})
        child.start()
        self.assertEqual(child.turn(bytes([6])), {"answer": "2"})

    def test_source_of_a_new_game_is_checked(self):
        command = [sys.executable, "-m", "agon_bot.check", "nim", self.bot]
        checked = subprocess.run(command, env={"PYTHONPATH": self.copy}, stdout=subprocess.PIPE, check=True)
        report = json.loads(checked.stdout)
        self.assertEqual(report["candidates"], [{"file": "Bot.py", "class": "Bot", "same_name": True}])

    def test_missing_part_of_a_new_game_is_a_load_error_that_names_it(self):
        self.write("package/agon_bot/games/nim/__init__.py", 'BOT_API = "api:Nim"\n')
        with BotProcess("nim", self.bot, environment={"PYTHONPATH": self.copy}) as process:
            self.assertEqual(process.ready["error"]["what"], "the Python package of the game 'nim' lacks LIFETIME")


class Declarations(unittest.TestCase):
    def test_every_game_declares_all_parts(self):
        self.assertTrue(games.game_ids())
        for game in games.game_ids():
            with self.subTest(game=game):
                games.check_declarations(game)

    def test_package_of_a_game_holds_constants_only(self):
        for game in games.game_ids():
            with self.subTest(game=game):
                package = vars(games._import(game))
                declared = {name for name in package if name.isupper()}
                self.assertEqual(declared - set(PARTS) - set(STATELESS_PARTS), set())
                with open(package["__file__"], encoding="utf-8") as file:
                    self.assertNotIn("import", file.read())

    def test_game_without_a_python_api_is_an_error_before_the_game(self):
        with BotProcess("word-racer", os.path.dirname(__file__)) as process:
            self.assertIn("no Python API for the game 'word-racer'", process.ready["error"]["what"])

    def test_errors_are_load_errors(self):
        self.assertTrue(issubclass(UnknownGame, LoadError) and issubclass(MissingGamePart, LoadError))


if __name__ == "__main__":
    unittest.main()
