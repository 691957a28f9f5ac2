"""The modules that bots import, outside Agon: starters can be imported, types can be checked, pip can install them."""

import glob
import os
import subprocess
import sys
import tempfile
import unittest

from bot_process import PACKAGE, needs_numpy

GAMES = os.path.join(os.path.dirname(PACKAGE), "crates", "agon-games", "src")
STARTERS = sorted(glob.glob(os.path.join(GAMES, "*", "starters", "python", "*.py")))
MODULES = os.path.join(PACKAGE, "modules")


def run(arguments, folder, **environment):
    """Runs Python in a folder. Fails with its output if it fails."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("AGON", "PYTHON"))}
    result = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env={**clean, **environment}, capture_output=True, text=True
    )
    if result.returncode != 0:
        raise AssertionError(f"{arguments} in {folder}:\n{result.stdout}{result.stderr}")
    return result.stdout


def skip(test, reason):
    """Skips a test, and names it in the list of tests that could not run."""
    if "AGON_SKIPPED_TESTS" in os.environ:
        with open(os.environ["AGON_SKIPPED_TESTS"], "a") as file:
            file.write(f"python\t{test.id().rpartition('.')[2]}\t{reason}\tmachine\n")
    test.skipTest(reason)


@needs_numpy
class ModulesOutsideAgon(unittest.TestCase):
    def test_every_starter_is_found(self):
        games = [name for name in os.listdir(GAMES) if os.path.isdir(os.path.join(GAMES, name, "starters"))]
        self.assertEqual(len(STARTERS), len(games))

    def test_every_starter_can_be_imported_with_the_folder_of_modules(self):
        path = os.pathsep.join([PACKAGE, MODULES])
        for starter in STARTERS:
            with self.subTest(starter):
                name = os.path.basename(starter)[: -len(".py")]
                said = run(["-B", "-c", f"import {name}"], os.path.dirname(starter), PYTHONPATH=path)
                self.assertEqual(said, "", "importing a starter plays no game")

    def test_every_starter_can_be_imported_after_pip_install(self):
        with tempfile.TemporaryDirectory() as folder:
            install = ["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"]
            run([*install, "--target", folder, PACKAGE], folder)
            for starter in STARTERS:
                with self.subTest(starter):
                    name = os.path.basename(starter)[: -len(".py")]
                    run(["-B", "-c", f"import {name}"], os.path.dirname(starter), PYTHONPATH=folder)
            for module in ("agon_bot", "bot_control", "players", "game_utils", "map"):
                self.assertTrue(os.path.isfile(os.path.join(folder, module, "py.typed")), module)
            self.assertIn("Wall fraction: 0.26.", run(["-m", "map", "42"], folder, PYTHONPATH=folder))

    def test_modules_are_those_that_agon_gives_to_bots(self):
        check = "import players, game_utils, map, bot_control\nfrom agon_bot.library import players as a, game_utils as b, map as c, bot_control as d\n"
        check += "assert players.Player is a.Player and game_utils.see_each_other is b.see_each_other and map.Map is c.Map and bot_control.Move is d.Move\n"
        run(["-B", "-c", check], PACKAGE, PYTHONPATH=os.pathsep.join([PACKAGE, MODULES]))

    def test_types_of_modules_and_starters_hold(self):
        if subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True).returncode != 0:
            skip(self, "mypy is not installed")
        with tempfile.TemporaryDirectory() as cache:
            mypy = ["-m", "mypy", "--check-untyped-defs", "--config-file=", f"--cache-dir={cache}"]
            path = os.pathsep.join([PACKAGE, MODULES])
            library = os.path.join("agon_bot", "library")
            run([*mypy, "--disallow-untyped-defs", library, "build_backend"], PACKAGE, MYPYPATH=path)
            for starter in STARTERS:
                run([*mypy, os.path.basename(starter)], os.path.dirname(starter), MYPYPATH=path)
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "wrong.py"), "w") as file:
                    file.write("from bot_control import Move\nmove: Move = Move.UPP\n")
                with self.assertRaisesRegex(AssertionError, 'has no attribute "UPP"'):
                    run([*mypy, "wrong.py"], folder, MYPYPATH=path)


if __name__ == "__main__":
    unittest.main()
