"""The check of a bot's source."""

from __future__ import annotations

import os
import sys
import tempfile
import textwrap
import unittest
from typing import Any, Dict, List, Tuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from agon_bot.check import check_source  # noqa: E402
from agon_bot.loading import Target  # noqa: E402


def report(game: str, files: Dict[str, str], at: str = "") -> Dict[str, Any]:
    """The report about a folder with these files, or about one of them."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(text))
        path, colon, wanted = at.partition(":")
        return check_source(game, Target(os.path.join(folder, path) if path else folder, wanted if colon else None))


def bad(found: Dict[str, Any], kind: str) -> List[Tuple[str, int, str]]:
    """File, line and text of the problems."""
    return [(f["file"], f["line"], f["what"]) for f in found["findings"] if f["bad"] and f["kind"] == kind]


GOOD = "def get_action(state, match_history):\n    return 'LEFT'\n"


class ForbiddenNames(unittest.TestCase):
    """Names that Solitude Scramble forbids."""

    def forbidden(self, text: str) -> List[str]:
        found = report("solitude-scramble", {"Submission.py": text + "\n" + GOOD})
        return [what.split(",")[0] for _, _, what in bad(found, "forbidden")]

    def test_forbidden_modules_are_found_however_they_are_imported(self) -> None:
        for text, words in {
            "import os": ["imports os"],
            "import os.path as p": ["imports os"],
            "from os import path": ["imports os"],
            "import json, sys as s": ["imports sys"],
            "from urllib.request import urlopen": ["imports urllib"],
            "def f():\n    import subprocess": ["imports subprocess"],
            "try:\n    import socket\nexcept ImportError:\n    pass": ["imports socket"],
            "import importlib\nx = importlib.import_module('o' + 's')": ["imports importlib"],
            "from random import _os": ["imports os"],
            "import random\nrandom._os.getcwd()": ["reaches os"],
            "import random as r\ngetattr(r, '_os')": ["reaches os"],
            "x = __import__('os')": ["uses __import__"],
            "o = open": ["uses open"],
            "open = open": ["uses open"],
            "eval('1'); exec('2'); compile('3', '', 'exec'); input()": [
                "uses eval",
                "uses exec",
                "uses compile",
                "uses input",
            ],
            "import builtins as b\nb.open('x')": ["uses open"],
            "from builtins import eval as e": ["imports eval"],
            "__builtins__['open']": ["uses __builtins__"],
        }.items():
            self.assertEqual(self.forbidden(text), words, text)

    def test_members_of_allowed_modules_are_forbidden_however_they_are_reached(self) -> None:
        for text, words in {
            "import io\nf = io.open('x')": ["uses io.open"],
            "import io\nf = io.FileIO('x')": ["uses io.FileIO"],
            "import io as i\nread = i.open": ["uses io.open"],
            "import _io\n_io.FileIO(3)": ["uses io.FileIO"],
            "from io import open as read": ["imports io.open"],
            "from io import StringIO, FileIO": ["imports io.FileIO"],
            "from io import *": ["imports io.FileIO", "imports io.open"],
            "import io\ngetattr(io, 'FileIO')": ["reaches io.FileIO"],
            "import codecs\ncodecs.open('x')": ["uses codecs.open"],
            "from codecs import open as x": ["imports codecs.open"],
            "import posix": ["imports posix"],
            "from fcntl import flock": ["imports fcntl"],
            "def f():\n    import resource": ["imports resource"],
        }.items():
            self.assertEqual(self.forbidden(text), words, text)

    def test_forbidden_member_has_file_line_and_word(self) -> None:
        found = report("solitude-scramble", {"Submission.py": GOOD, "data.py": "import io\n\nF = io.open('x')\n"})
        self.assertEqual(bad(found, "forbidden"), [("data.py", 3, "uses io.open, which is not allowed")])

    def test_other_members_of_these_modules_are_allowed(self) -> None:
        text = "import io, codecs\nfrom io import StringIO\nx = io.StringIO()\ny = codecs.encode('a', 'rot13')"
        self.assertEqual(self.forbidden(text), [])

    def test_similar_names_are_allowed(self) -> None:
        for text in (
            "import re\nx = re.compile('a')",
            "def f(input):\n    return input + 1",
            "from . import helper",
            "state = {'open': 1}\nx = state['open']",
            "import random, math, json, collections",
            "for open in (1, 2):\n    print(open)",
        ):
            self.assertEqual(self.forbidden(text), [], text)

    def test_forbidden_names_in_all_files_have_file_and_line(self) -> None:
        found = report("solitude-scramble", {"Submission.py": GOOD, "deep/er/helper.py": "x = 1\n\nimport os\n"})
        self.assertEqual(bad(found, "forbidden"), [("deep/er/helper.py", 3, "imports os, which is not allowed")])

    def test_other_games_allow_all_modules(self) -> None:
        found = report("connect-five", {"A.py": "import os\nclass A:\n    def get_move(self): open('data/x')\n"})
        self.assertEqual(bad(found, "forbidden"), [])


class ForbiddenLibraries(unittest.TestCase):
    """Libraries that the organiser of a competition forbids."""

    BOT = "class A:\n    def determine_next_move(self, grid, enemies, game_info): pass\n"

    def forbidden(self, text: str, *libraries: str) -> List[Tuple[int, str]]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + self.BOT)
            found = check_source("colour-battle", Target(path), libraries)
        return [(line, what) for _, line, what in bad(found, "forbidden")]

    def test_forbidden_libraries_are_found_however_they_are_imported(self) -> None:
        for text in (
            "import json\n",
            "import os, json.decoder as d\n",
            "from json import decoder\n",
            "from json.decoder import JSONDecoder\n",
            "try:\n    import json\nexcept ImportError: pass\n",
            "import importlib\nimportlib.import_module('json.decoder')\n",
            "__import__('json')\n",
        ):
            with self.subTest(text):
                found = self.forbidden(text, "json")
                self.assertEqual(len(found), 1, found)
                self.assertIn("this competition forbids json", found[0][1])

    def test_part_of_a_library_is_forbidden_alone(self) -> None:
        text = "import json\nfrom json import decoder\nimport jsonschema_of_mine\n"
        self.assertEqual(
            self.forbidden(text, "json.decoder"), [(2, "imports json.decoder; this competition forbids json.decoder")]
        )

    def test_missing_forbidden_library_is_reported_once(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("import no_such_library\n" + self.BOT)
            found = check_source("colour-battle", Target(path), ["no_such_library"])
        self.assertEqual([f["kind"] for f in found["findings"] if f["bad"]], ["forbidden"])

    def test_own_files_and_other_libraries_are_allowed(self) -> None:
        self.assertEqual(self.forbidden("import json\nfrom . import scipy\n", "scipy", "jso"), [])


class Signatures(unittest.TestCase):
    """`get_action` takes two parameters."""

    def test_get_action_with_other_than_two_parameters_is_rejected(self) -> None:
        for head, fine in {
            "state, match_history": True,
            "a, b=None": True,
            "*args": True,
            "a, b, c=1": True,
            "a": False,
            "a, b, c": False,
            "a, b, *, c": False,
        }.items():
            found = report("solitude-scramble", {"Submission.py": f"def get_action({head}): return 'LEFT'\n"})
            self.assertEqual(bad(found, "signature") == [], fine, head)
        for text, fine in {"x = 1\n": False, "from .impl import get_action\n": True, "get_action = max\n": True}.items():
            found = report("solitude-scramble", {"Submission.py": text, "impl.py": GOOD})
            self.assertEqual(bad(found, "signature") == [], fine, text)


class Imports(unittest.TestCase):
    """Imports that would fail."""

    def test_missing_modules_have_file_and_line(self) -> None:
        text = "import math\nimport numpy as np\nimport helper\nimport pack.part\nimport no_such_thing\nfrom . import gone\n"
        files = {"Submission.py": text + GOOD, "helper.py": "", "pack/part.py": ""}
        self.assertEqual(
            bad(report("solitude-scramble", files), "import"),
            [
                ("Submission.py", 5, "imports no_such_thing, and there is no such module"),
                ("Submission.py", 6, "imports .gone, and there is no such module"),
            ],
        )

    def test_library_modules_are_found_under_every_spelling(self) -> None:
        for line in (
            "from ..bot_control import Move",
            "from robots.bot_control import Move",
            "from .bot_control import Move",
            "from bot_control import Move",
        ):
            self.assertEqual(bad(report("colour-battle", {"a-b/bot.py": line + "\n"}), "import"), [], line)
        self.assertEqual(len(bad(report("connect-five", {"bot.py": "import bot_control\n"}), "import")), 1)

    def test_imports_inside_a_try_may_fail(self) -> None:
        text = "try:\n    import no_such_thing\nexcept ImportError:\n    no_such_thing = None\n"
        self.assertEqual(bad(report("connect-five", {"a.py": text}), "import"), [])


class Reports(unittest.TestCase):
    """The report about a whole submission."""

    def test_syntax_errors_of_all_files_are_reported(self) -> None:
        found = report("connect-five", {"a.py": "def f(:\n", "b.py": "x = (\n"})
        places = [(f["file"], f["line"]) for f in found["findings"] if f["kind"] == "syntax"]
        self.assertEqual([file for file, _ in places], ["a.py", "b.py"])
        self.assertTrue(all(line == 1 for _, line in places))

    def test_check_does_not_execute_the_bot(self) -> None:
        found = report("connect-five", {"json.py": "raise SystemExit(3)\n", "A.py": "raise SystemExit(4)\n"})
        self.assertEqual(found["files"], 2)

    def test_file_is_checked_together_with_its_imports(self) -> None:
        files = {"a.py": "import b\n", "b.py": "from . import c\n", "c.py": "def (\n", "d.py": "def (\n"}
        found = report("connect-five", files, "a.py")
        self.assertEqual([f["file"] for f in found["findings"] if f["kind"] == "syntax"], ["c.py"])

    def test_linked_folders_are_entered_once(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "real/deep"))
            with open(os.path.join(folder, "real/deep/bad.py"), "w", encoding="utf-8") as file:
                file.write("def (")
            os.symlink("..", os.path.join(folder, "real/deep/up"))
            os.mkdir(os.path.join(folder, "view"))
            os.symlink("../real/deep", os.path.join(folder, "view/deep"))
            found = check_source("connect-five", Target(os.path.join(folder, "view")))
        self.assertEqual([f["file"] for f in found["findings"]], ["deep/bad.py"])

    def test_candidates_and_roles_are_found(self) -> None:
        bot = "class {}:\n    def get_move(self, board, player, T, N): return 0\n"
        found = report("connect-five", {"Ana.py": bot.format("Ana"), "base.py": bot.format("Base_"), "x.py": "y = 1\n"})
        self.assertEqual([(c["file"], c["same_name"]) for c in found["candidates"]], [("Ana.py", True), ("base.py", True)])
        hide = "class Seeker(Player):\n    def move(self): pass\n"
        self.assertEqual(report("hide-and-seek", {"a.py": hide})["roles"], ["seeker"])
        self.assertEqual(report("hide-and-seek", {"a.py": hide}, "a.py:Other")["roles"], ["seeker", "hider"])

    def test_advice_does_not_reject_the_bot(self) -> None:
        found = report("colour-battle", {"a.py": "import threading\nclass A:\n    def determine_next_move(self, g, e, i): pass\n"})
        self.assertFalse(any(f["bad"] for f in found["findings"]))
        self.assertTrue(any("one thread" in f["what"] for f in found["findings"]))

    def test_many_findings_are_cut_and_counted(self) -> None:
        found = report("solitude-scramble", {"Submission.py": "import os\n" * 500 + GOOD})
        self.assertEqual((len(found["findings"]), found["left_out"]), (50, 450))


if __name__ == "__main__":
    unittest.main()
