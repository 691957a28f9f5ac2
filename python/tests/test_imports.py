"""Submissions run unchanged: imports of every spelling, names of every kind, several classes in a file."""

import os
import unittest

from bot_process import BotFolderTestCase, BotProcess, colour, connect, needs_numpy, solitude

BOT = """
    {line}
    class Painter:
        def get_name(self):
            return "Painter"
        def get_contributor(self):
            return "author"
        def determine_next_move(self, grid, enemies, game_info):
            return Move.LEFT
"""
SPELLINGS = [
    "from ..bot_control import Move",
    "from .bot_control import Move",
    "from bot_control import Move",
    "from robots.bot_control import Move",
    "from ...bot_control import Move",
    "from ....bot_control import Move, Bot",
    "from .......bot_control import *",
    "import bot_control; Move = bot_control.Move",
    "from .. import bot_control; Move = bot_control.Move",
    "import robots.bot_control as control; Move = control.Move",
    "import importlib; Move = importlib.import_module('robots.bot_control').Move",
]
NAMES = [
    "id10+_bot.py",
    "my-bot/rambo the rando.py",
    "coding-challenge-bot-template/rambo_the_rando.py",
    "a b/c-d/e+f/bot.py",
    "2fast.py",
    "über/böt.py",
    "robots/tim/id10+_bot.py",
    "class.py",
    "x.y.z.py",
]


@needs_numpy
class ColourBattleImports(BotFolderTestCase):
    def plays(self, target, answer="LEFT"):
        with BotProcess("colour-battle", target) as process:
            self.assertNotIn("error", process.ready)
            process.start()
            reply = process.turn(colour())
            self.assertEqual(reply.get("answer"), answer, reply)
            return process.ready

    def test_bot_control_is_found_under_every_spelling(self):
        for line in SPELLINGS:
            with self.subTest(line):
                ready = self.plays(self.write("jorik/atilla.py", BOT.format(line=line)))
                self.assertEqual((ready["name"], ready["contributor"]), ("Painter", "author"))

    def test_all_spellings_give_the_same_move_objects(self):
        path = self.write(
            "tim/bot.py",
            """
            from ..bot_control import Move as A
            from .bot_control import Move as B
            from bot_control import Move as C
            from robots.bot_control import Move as D
            from .helper import MOVE
            assert A is B is C is D is type(MOVE)
            class X:
                def determine_next_move(self, grid, enemies, game_info):
                    return MOVE
        """,
        )
        self.write("tim/helper.py", "from ..bot_control import Move\nMOVE = Move.DOWN\n")
        self.plays(path, "DOWN")

    def test_file_and_folder_names_need_not_be_identifiers(self):
        for name in NAMES:
            with self.subTest(name):
                self.plays(self.write(name, BOT.format(line="from ..bot_control import Move")))

    def test_copy_of_bot_control_beside_the_bot_is_accepted(self):
        self.write("own/bot_control.py", "from enum import Enum\nclass Move(Enum):\n    LEFT = 'l'\n    RIGHT = 'r'\n")
        self.plays(self.write("own/bot.py", BOT.format(line="from .bot_control import Move")))

    def test_wanted_class_is_chosen_among_several(self):
        text = """
            from ..bot_control import Move
            class Abra:
                def determine_next_move(self, grid, enemies, game_info):
                    return Move.UP
            class Kadabra(Abra):
                pass
            class SearchMin(Kadabra):
                def determine_next_move(self, grid, enemies, game_info):
                    return super().determine_next_move(grid, enemies, game_info)
        """
        path = self.write("rayman/search.py", text)
        self.plays(path + ":Abra", "UP")
        self.plays(path + ":Kadabra", "UP")
        error = self.error("colour-battle", path)
        self.assertIn("Abra (line 3), Kadabra (line 6), SearchMin (line 8)", error["what"])
        self.assertIn("search.py:Abra", error["hint"])
        self.assertIn("no class Missing", self.error("colour-battle", path + ":Missing")["what"])
        self.plays(self.write("rayman/search_min.py", text), "UP")

    def test_base_class_in_another_file_is_not_a_candidate(self):
        self.write("furbot/base.py", BOT.format(line="from ..bot_control import Move"))
        self.plays(
            self.write(
                "furbot/furbot.py",
                """
            from .base import Painter
            class Schumi(Painter):
                pass
        """,
            )
        )

    def test_helpers_are_found_by_absolute_and_relative_imports(self):
        self.write("h/values.py", "N = 3\n")
        self.write("h/deep/__init__.py", "from .more import M\n")
        self.write("h/deep/more.py", "M = 3\n")
        self.write("h/deep/climbs.py", "from ..values import N as C\n")
        self.plays(
            self.write(
                "h/bot.py",
                """
            import values, deep.more
            from .values import N
            from .deep.climbs import C
            from ..bot_control import Move
            assert values.N == N == deep.M == C
            class B:
                def determine_next_move(self, grid, enemies, game_info):
                    return Move.LEFT
        """,
            )
        )

    def test_folder_with_one_bot_plays(self):
        self.write("jerrel/tools.py", "def f(): pass\n")
        self.write("jerrel/swift.py", BOT.format(line="from ..bot_control import Move"))
        self.plays(os.path.join(self.folder, "jerrel"))

    def test_neighbouring_bot_cannot_be_imported(self):
        self.write("victim.py", "SECRET = 1\n")
        path = self.write(
            "spy/bot.py",
            BOT.format(line="from ..bot_control import Move\nfrom ..victim import SECRET".replace("\n", "\n    ")),
        )
        self.assertIn("an import fails", self.error("colour-battle", path)["what"])


class OtherGames(BotFolderTestCase):
    def test_solitude_bot_imports_its_helpers(self):
        self.write("team-7 final/model.py", "TABLE = {'NORTH': 'RIGHT'}\n")
        self.write(
            "team-7 final/Submission.py",
            """
            from model import TABLE
            from .model import TABLE as SAME
            print("loading", SAME)
            def get_action(state, match_history):
                return TABLE[state["my_position"]]
        """,
        )
        with BotProcess("solitude-scramble", os.path.join(self.folder, "team-7 final")) as process:
            process.start()
            self.assertEqual(process.turn(solitude())["answer"], "RIGHT")
            self.assertIn("loading", process.said())

    def test_connect_five_bot_finds_data_and_logs(self):
        self.write("BotFolder/data/weights.txt", "5")
        self.write("BotFolder/logs/log_1.json", "[]")
        self.write("BotFolder/helper.py", "class Node:\n    pass\n")
        self.write(
            "BotFolder/Deep.py",
            """
            import os, json
            from helper import Node
            class Tree:
                def get_move(self, board, player, T, N): return 0
            class Deep(Tree):
                def __init__(self):
                    self.column = int(open("data/weights.txt").read())
                    self.games = 0
                    assert json.load(open(os.path.join(os.path.dirname(__file__), "logs", "log_1.json"))) == []
                def get_move(self, board, player, T, N):
                    board[0][0] = 9
                    return self.column + self.games
                def adjust(self):
                    self.games += 1
                def train(self):
                    open("data/weights.txt", "w").write(str(self.column + self.games))
        """,
        )
        with BotProcess("connect-five", os.path.join(self.folder, "BotFolder")) as process:
            self.assertEqual(process.ready["name"], "Deep")
            process.start()
            self.assertEqual(process.turn(connect())["answer"], "5")
            process.ask(type="end")
            process.start()
            self.assertEqual(process.turn(connect(games=1))["answer"], "6", "one object plays the whole match")
            process.process.stdin.write(b'{"type":"bye"}\n')
            self.assertEqual(process.close(), 0)
        with open(os.path.join(self.folder, "BotFolder/data/weights.txt")) as file:
            self.assertEqual(file.read(), "6", "train() ran")

    def test_json_files_can_be_imported(self):
        self.write("team/history.json", '{"matches": {"match_1": 1, "match_2": 2}, "not a name": 3, "__file__": 4}')
        self.write("team/deep/moves.json", '["LEFT", "RIGHT"]')
        self.write(
            "team/Submission.py",
            """
            import json
            import history
            from history import matches
            from deep.moves import data as moves
            assert history.data["not a name"] == 3 and history.__file__.endswith("history.json")
            assert json.__file__.endswith(".py"), "Python's own come first"
            def get_action(state, match_history):
                return moves[len(matches) - 1]
        """,
        )
        with BotProcess("solitude-scramble", os.path.join(self.folder, "team")) as process:
            process.start()
            self.assertEqual(process.turn(solitude())["answer"], "RIGHT")

    def test_connect_five_bot_in_a_subfolder_is_found(self):
        self.write("Ana.zip/Ana/Bot.py", "class Bot:\n    def get_move(self, board, player, T, N):\n        return 2\n")
        with BotProcess("connect-five", os.path.join(self.folder, "Ana.zip")) as process:
            process.start()
            self.assertEqual(process.turn(connect())["answer"], "2")


if __name__ == "__main__":
    unittest.main()
