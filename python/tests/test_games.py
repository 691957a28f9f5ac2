"""Arguments of the bots of Colour Battle and Hide and Seek, and answers that lie about their type."""

import json
import os
import unittest

from bot_process import PACKAGE, BotFolderTestCase, BotProcess, colour, connect, hide, needs_numpy, solitude

VECTORS = os.path.join(os.path.dirname(PACKAGE), "crates", "agon-games", "tests", "vectors", "hide-and-seek")


@needs_numpy
class ColourBattle(BotFolderTestCase):
    def bot(self, body, more=""):
        lines = "\n".join("        " + line for line in body.strip("\n").splitlines())
        text = f"import numpy as np\nfrom ..bot_control import Move\n{more}\nclass B:\n    def determine_next_move(self, grid, enemies, game_info):\n{lines}\n"
        path = os.path.join(self.folder, "bot.py")
        with open(path, "w") as file:
            file.write(text)
        return path

    def first(self, path):
        with BotProcess("colour-battle", path) as process:
            self.assertNotIn("error", process.ready)
            process.start()
            return process.turn(colour())

    def test_bot_gets_documented_arguments(self):
        path = self.bot("""
assert type(self.id) is int and self.id == 2
assert self.position.dtype == np.int16 and self.position.tolist() == [5, 6]
assert grid.dtype == np.int16 and grid.shape == (12, 12) and grid[6, 5] == 0
assert [e["id"] for e in enemies] == [1, 2] and enemies[0]["position"].tolist() == [1, 1]
assert set(enemies[0]) == {"id", "position"}
assert (game_info.current_round, game_info.number_of_rounds, game_info.grid_size) == (1, 100, 12)
return Move.RIGHT
""")
        self.assertEqual(self.first(path), {"answer": "RIGHT", "id": 3})

    def test_grid_is_read_only_and_updated_in_place(self):
        path = self.bot("""
try:
    grid[0, 0] = 7
    return Move.DOWN
except ValueError:
    pass
if not hasattr(self, "kept"):
    self.kept = grid
return Move.UP if self.kept[3, 3] == grid[3, 3] else Move.LEFT
""")
        with BotProcess("colour-battle", path) as process:
            process.start()
            self.assertEqual(process.turn(colour())["answer"], "UP")
            grid = [[0] * 12 for _ in range(12)]
            grid[3][3] = 2
            self.assertEqual(process.turn(colour(2, grid=grid))["answer"], "UP")

    def test_enemies_of_the_last_turn_stay_unchanged(self):
        path = self.bot("""
last, self.last = getattr(self, "last", None), enemies
if last is None:
    return Move.STAY
moved = [e["id"] for e, old in zip(enemies, last) if not np.array_equal(e["position"], old["position"])]
enemies[0]["position"][0] = 99
return Move.LEFT if moved == [1] else Move.RIGHT
""")
        with BotProcess("colour-battle", path) as process:
            process.start()
            self.assertEqual(process.turn(colour())["answer"], "STAY")
            self.assertEqual(process.turn(colour(2, places=[[2, 1], [5, 6]]))["answer"], "LEFT")

    def test_each_game_has_a_new_bot_and_repeats_with_its_seed(self):
        path = self.bot(
            """
self.n = getattr(self, "n", 0) + 1
return list(Move)[(np.random.randint(5) + random.randrange(5)) % 5] if self.n <= 20 else Move.STAY
""",
            "import random",
        )

        with BotProcess("colour-battle", path) as process:
            games = []
            for seed in (1, 2, 1):
                process.start(seed)
                games.append([process.turn(colour(n))["answer"] for n in range(1, 21)])
        self.assertEqual(games[0], games[2])
        self.assertNotEqual(games[0], games[1])

    def test_values_that_are_not_a_move_are_garbled(self):
        for value in (
            "None",
            "'UP'",
            "1",
            "Move",
            "[Move.UP]",
            "float('nan')",
            "np.array([1, 2])",
            "Liar()",
            "10 ** 5000",
            "MetaLiar()",
        ):
            with self.subTest(value):
                reply = self.first(self.bot(f"return {value}", LIARS))
                self.assertEqual(reply["fault"], "garbled")
                self.assertIn("expected a Move", reply["says"])

    def test_hostile_name_is_cleaned(self):
        text = "class B:\n    def determine_next_move(self, g, e, i): pass\n    def get_name(self): return '\\x1b[31m' + 'x' * 10000\n    def get_contributor(self): 1 / 0\n"
        with BotProcess("colour-battle", self.write("bot.py", text)) as process:
            self.assertEqual(len(process.ready["name"]), 200)
            self.assertNotIn("\x1b", process.ready["name"])
            self.assertNotIn("contributor", process.ready)


LIARS = """
from enum import Enum
class Liar:
    __class__ = property(lambda self: Move)
    name = _name_ = "UP"
    def __eq__(self, other): return True
    def __hash__(self): return hash(Move.UP)
    def __str__(self): raise SystemExit
    __repr__ = __str__
class Meta(type):
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __instancecheck__(self, other): return True
    __name__ = property(lambda self: 1 / 0)
class MetaLiar(metaclass=Meta):
    def __repr__(self): raise SystemExit
"""


class Answers(BotFolderTestCase):
    def answer(self, value, more=""):
        path = os.path.join(self.folder, "Bot.py")
        with open(path, "w") as file:
            file.write(f"{more}\nclass Bot:\n    def get_move(self, board, player, T, N):\n        return {value}\n")
        with BotProcess("connect-five", path) as process:
            process.start()
            return process.turn(connect())

    def test_integers_of_every_kind_are_accepted(self):
        for value, text in (
            ("3", "3"),
            ("True", "1"),
            ("-1", "-1"),
            ("10 ** 9000", str(2**63 - 1)),
            ("E.X", "4"),
            ("Odd(5)", "5"),
        ):
            more = "import enum\nclass E(enum.IntEnum):\n    X = 4\nclass Odd(int):\n    def __str__(self): return '7'\n    def __index__(self): return 8\n    __int__ = __index__\n    def __add__(self, o): return 9\n"
            self.assertEqual(self.answer(value, more).get("answer"), text, value)

    @needs_numpy
    def test_numpy_integers_are_accepted(self):
        for value in ("np.int64(3)", "np.uint8(3)", "np.argmax([0, 0, 0, 1])", "np.array(3)", "np.intc(3)"):
            self.assertEqual(self.answer(value, "import numpy as np").get("answer"), "3", value)
        self.assertEqual(self.answer("np.bool_(True)", "import numpy as np").get("answer"), "1")

    def test_values_that_are_not_integers_are_garbled(self):
        for value in (
            "None",
            "3.0",
            "float('nan')",
            "float('inf')",
            "'3'",
            "[3]",
            "(1, 2)",
            "b'3'",
            "{}",
            "lambda: 3",
            "Liar()",
        ):
            reply = self.answer(
                value,
                "class Liar:\n    __class__ = int\n    def __int__(self): return 3\n    def __index__(self): return 3\n",
            )
            self.assertEqual(reply.get("fault"), "garbled", value)
            self.assertIn("expected a whole number", reply["says"])

    def test_solitude_accepts_only_the_three_moves(self):
        more = "class S(str):\n    def __eq__(self, o): return True\n    def __hash__(self): return hash('LEFT')\n    def __str__(self): return 'LEFT'\n"
        wanted = {
            "S('LEFT')": "LEFT",
            "'left'": "illegal",
            "S('NORTH')": "illegal",
            "'NONE'": "illegal",
            "None": "garbled",
            "b'LEFT'": "garbled",
            "['LEFT']": "garbled",
            "'L' * 10 ** 6": "illegal",
            "'\\x00'": "illegal",
            "float('nan')": "garbled",
        }
        for value, result in wanted.items():
            self.write("Submission.py", f"{more}def get_action(s, h):\n    return {value}\n")
            with BotProcess("solitude-scramble", self.folder) as process:
                process.start()
                reply = process.turn(solitude())
                self.assertEqual(reply.get("answer", reply.get("fault")), result, value)


@needs_numpy
class HideAndSeek(BotFolderTestCase):
    def test_seeker_plays_without_imports(self):
        path = self.write(
            "bot.py",
            """
            class Seeker(Player):
                def __init__(self, game_map, spawn_position, enemy_spawn_position):
                    super().__init__(game_map, spawn_position, enemy_spawn_position)
                    assert self.enemy_is_visible is True
                def move(self):
                    next_pos = np.array([self.pos[0] + 1, self.pos[1]])
                    assert distance(self.pos, next_pos) == 1
                    if movement_rules_obided(self.game_map, self.pos, next_pos):
                        self.pos = next_pos
        """,
        )
        with BotProcess("hide-and-seek", path) as process:
            process.start()
            self.assertEqual(process.turn(hide())["answer"], "4,4")
            self.assertEqual(process.turn(hide(2, pos=(4, 4)))["answer"], "5,4")

    def test_all_imports_and_both_map_forms_work(self):
        path = self.write(
            "players.py",
            """
            import numpy as np
            from players import Player
            from game_utils import *
            from game_utils import movement_rules_obided, see_each_other, distance
            from map import Map
            class Hider(Player):
                def move(self):
                    m = self.game_map
                    assert (m.width, m.height) == (20, 20) and m.nodes.shape == m.shape == (20, 20)
                    assert type(m.nodes) is np.ndarray and m[2, 7] == m.nodes[2, 7] == 1 and m[7, 2] == 0
                    assert m.connections[(2, 6)] == [(1, 6), (3, 6), (2, 5)] and m.connections[(2, 7)] == []
                    assert np.sum(m) == 1 and np.array_equal(np.argwhere(m == 1), [[2, 7]])
                    assert self.enemy_is_visible is True and self.enemy_pos.tolist() == [9, 9]
                    assert not see_each_other(m, (2, 5), (2, 9)) and see_each_other(m, (3, 5), (3, 9))
                    self.pos = (self.pos[0], self.pos[1] - 1)
            class Seeker(Player):
                def move(self): pass
        """,
        )
        for target in (path, self.folder):
            with BotProcess("hide-and-seek", target, seat=1) as process:
                process.start()
                reply = process.turn(hide(2, visible=True, enemy=(9, 9), role="hider", walls={(2, 7)}))
                self.assertEqual(reply.get("answer"), "3,3", reply)

    def test_rejected_move_resets_the_position_in_the_bots_type(self):
        path = self.write(
            "bot.py",
            """
            class Seeker(Player):
                def move(self):
                    if not hasattr(self, "n"):
                        self.n = 0
                    self.n += 1
                    if self.n == 1:
                        self.pos = (self.pos[0] + 5, self.pos[1])
                    elif self.n == 2:
                        assert self.pos == (3, 4)
                        self.pos = [3, 5]
                    elif self.n == 3:
                        assert self.pos == [3, 5]
                        self.pos = np.array([3.0, 6.0])
                    elif self.n == 4:
                        self.pos[1] += 1
                    elif self.n == 5:
                        self.pos = None
                    else:
                        assert self.pos.tolist() == [3, 7]
                        self.pos = (np.int64(3), 10 ** 30)
        """,
        )
        with BotProcess("hide-and-seek", path) as process:
            process.start()
            self.assertEqual(process.turn(hide(1))["answer"], "8,4")
            self.assertEqual(process.turn(hide(2))["answer"], "3,5")
            self.assertEqual(process.turn(hide(3, pos=(3, 5)))["answer"], "3,6")
            self.assertEqual(process.turn(hide(4, pos=(3, 6)))["answer"], "3,7")
            self.assertEqual(process.turn(hide(5, pos=(3, 7)))["fault"], "garbled")
            self.assertEqual(process.turn(hide(6, pos=(3, 7)))["answer"], f"3,{2**31 - 1}")

    def test_crash_restores_the_position(self):
        path = self.write(
            "bot.py",
            "class Hider():\n    def __init__(self, m, s, e):\n        self.pos = s\n    def move(self):\n        self.pos = (0, 0)\n        1 / 0\n",
        )
        with BotProcess("hide-and-seek", path, seat=1) as process:
            process.start()
            self.assertEqual(process.turn(hide(2, role="hider"))["fault"], "crash")


@needs_numpy
@unittest.skipUnless(os.path.isdir(VECTORS), "the games' vectors are missing")
class Library(unittest.TestCase):
    def test_maps_equal_those_of_the_original(self):
        from agon_bot.library.map import Map

        with open(os.path.join(VECTORS, "maps.json")) as file:
            for entry in json.load(file)[:5]:
                self.assertEqual(["".join(map(str, column)) for column in Map(entry["seed"]).tolist()], entry["map"])

    def test_vision_equals_that_of_the_original(self):
        from agon_bot.library.game_utils import see_each_other
        from agon_bot.library.map import Map

        with open(os.path.join(VECTORS, "vision.json")) as file:
            for entry in json.load(file)[:4]:
                room = Map(entry["map_seed"])
                for x0, y0, x1, y1, sees in entry["pairs"]:
                    self.assertEqual(bool(see_each_other(room, (x0, y0), (x1, y1))), bool(sees), (x0, y0, x1, y1))


if __name__ == "__main__":
    unittest.main()
