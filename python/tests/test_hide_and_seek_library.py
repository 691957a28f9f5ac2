"""Hide and Seek's `game_utils` and `map`: what the competition's document and its vectors say."""

import contextlib
import io
import json
import os
import unittest

from bot_process import PACKAGE, BotFolderTestCase, BotProcess, hide, needs_numpy

VECTORS = os.path.join(os.path.dirname(PACKAGE), "crates", "agon-games", "tests", "vectors", "hide-and-seek")
# What `python3 map.py 42` prints in the document.
DOCUMENT = """\
Map is generated with seed 42. Good connectivity? True. Wall fraction: 0.26.
[[0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]
 [0 0 0 0 0 1 0 0 1 0 0 0 0 0 0 0 0 0 0 0]
 [0 0 0 0 0 1 1 0 1 1 0 0 0 0 0 0 0 0 0 1]
 [0 0 0 0 0 0 0 0 0 1 1 1 1 0 0 0 0 0 0 1]
 [0 0 0 0 0 0 0 0 0 0 1 1 1 0 0 0 0 0 0 0]
 [0 1 1 0 0 0 0 0 0 0 1 1 1 0 0 0 0 0 0 0]
 [0 0 1 0 0 0 0 0 1 1 0 0 0 0 1 0 0 0 1 1]
 [0 0 0 0 0 0 0 0 1 1 0 1 1 1 1 1 0 1 1 0]
 [0 0 0 0 0 0 1 0 0 0 0 1 1 1 0 0 0 1 1 0]
 [0 0 0 0 0 0 0 0 0 0 0 1 1 1 0 0 0 0 0 0]
 [0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 0 0 0 0]
 [1 1 1 0 0 0 0 0 0 0 0 0 0 0 1 0 0 1 1 0]
 [1 1 1 0 0 0 0 0 0 0 0 0 0 0 1 0 0 1 1 0]
 [0 0 0 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]
 [0 0 0 1 1 0 0 1 1 1 0 0 0 0 0 1 1 1 1 0]
 [0 0 0 0 0 0 0 1 1 1 1 0 0 0 0 0 1 1 0 0]
 [0 0 0 0 0 0 0 1 1 1 1 1 1 1 0 0 0 0 1 1]
 [0 0 0 0 0 0 0 0 0 0 0 1 1 1 1 0 0 0 1 1]
 [0 0 0 0 0 0 1 1 1 0 0 1 1 1 1 0 0 0 1 1]
 [0 0 0 0 0 0 1 1 1 0 0 0 0 0 1 1 0 0 0 0]]
0 - empty
1 - wall
2 - seeker
3 - hider
"""


def room_of(walls):
    from agon_bot.library.map import Map

    return Map.of([[int((x, y) in walls) for y in range(20)] for x in range(20)])


@needs_numpy
class Vision(unittest.TestCase):
    def test_see_each_other_is_a_pair_and_a_truth_value(self):
        from agon_bot.library.game_utils import see_each_other

        room = room_of({(2, 7)})
        clear, blocked = see_each_other(room, (3, 5), (3, 9)), see_each_other(room, (2, 5), (2, 9))
        self.assertEqual(clear, (True, (None, None)))
        self.assertEqual(blocked, (False, (2, 7)))
        vision, (wall_x, wall_y) = blocked
        self.assertEqual((vision, wall_x, wall_y), (False, 2, 7))
        self.assertIs(type(vision), bool)
        self.assertTrue(clear)
        self.assertFalse(blocked, "a tuple of two would be true")

    def test_wall_in_the_way_is_the_first_from_the_left_end_or_from_the_top(self):
        from agon_bot.library.game_utils import see_each_other

        room = room_of({(5, 4), (9, 4), (12, 3), (12, 9)})
        for a, b, wall in (((2, 4), (15, 4), (5, 4)), ((12, 1), (12, 15), (12, 3))):
            self.assertEqual(see_each_other(room, a, b), (False, wall))
            self.assertEqual(see_each_other(room, b, a), (False, wall))

    def test_wall_in_the_way_is_a_wall_and_alone_blocks_the_view(self):
        from agon_bot.library.game_utils import see_each_other
        from agon_bot.library.map import Map

        with open(os.path.join(VECTORS, "vision.json")) as file:
            for entry in json.load(file)[:3]:
                room = Map(entry["map_seed"])
                for x0, y0, x1, y1, sees in entry["pairs"]:
                    found, wall = see_each_other(room, (x0, y0), (x1, y1))
                    self.assertEqual(found, bool(sees))
                    if not found:
                        self.assertEqual(room[wall], 1)
                        self.assertFalse(see_each_other(room_of({wall}), (x0, y0), (x1, y1)))

    def test_new_player_knows_as_a_bool_whether_it_sees_the_enemy(self):
        from agon_bot.library.players import Player

        room = room_of({(2, 7)})
        self.assertIs(Player(room, (2, 5), (2, 9)).enemy_is_visible, False)
        self.assertIs(Player(room, (3, 5), (3, 9)).enemy_is_visible, True)


@needs_numpy
class Room(unittest.TestCase):
    def shown(self, room):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            room.display_map()
        return text.getvalue()

    def test_display_map_prints_what_the_document_prints(self):
        from agon_bot.library.map import Map

        self.assertEqual(self.shown(Map(42)), DOCUMENT)
        self.assertTrue(self.shown(Map.of(Map(42).tolist())).startswith("Map is generated with seed unknown. "))

    def test_map_on_the_command_line_prints_a_seed_and_rejects_other_words(self):
        from agon_bot.library.map import main

        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            main([])
        self.assertEqual(text.getvalue(), DOCUMENT)
        for wrong in (["x"], ["-1"], ["1", "2"], [str(2**32)]):
            with self.assertRaisesRegex(SystemExit, "usage: python -m map SEED"):
                main(wrong)

    def test_wall_fraction_of_every_room_is_about_a_quarter(self):
        with open(os.path.join(VECTORS, "maps.json")) as file:
            for entry in json.load(file):
                from agon_bot.library.map import Map

                room = Map.of([[int(cell) for cell in column] for column in entry["map"]])
                self.assertEqual(room.wall_fraction(), sum(map(sum, room.tolist())) / 400)
                self.assertTrue(0.25 <= room.wall_fraction() <= 0.2725)
                self.assertTrue(room.good_graph_connectivity())
                self.assertTrue(room.good_graph_connectivity(room.nodes, room.connections))

    def test_good_graph_connectivity_is_false_for_a_room_in_two_parts(self):
        room = room_of({(7, y) for y in range(20)})
        self.assertFalse(room.good_graph_connectivity())
        self.assertFalse(room.good_graph_connectivity(room.nodes, room.connections))
        everywhere = room_of({(x, y) for x in range(20) for y in range(20)})
        with self.assertRaisesRegex(ValueError, "walls are everywhere"):
            everywhere.good_graph_connectivity()
        self.assertTrue(everywhere.good_graph_connectivity(room_of(set())), "the arguments count, not the room")

    def test_get_first_empty_node_goes_column_by_column(self):
        room = room_of({(0, y) for y in range(20)} | {(1, 0)})
        self.assertEqual(room.get_first_empty_node(), (1, 1))
        self.assertEqual(room.get_first_empty_node(room.nodes), (1, 1))
        self.assertIsNone(room_of({(x, y) for x in range(20) for y in range(20)}).get_first_empty_node())

    def test_map_without_walls_is_empty(self):
        from agon_bot.library.map import Map

        self.assertEqual((Map(7, build_walls=False).wall_fraction(), Map(7).seed), (0.0, 7))


@needs_numpy
class Spawns(unittest.TestCase):
    def test_spawns_after_seeding_equal_those_of_the_original(self):
        import numpy as np

        from agon_bot.library.game_utils import get_hider_spawn, get_seeker_spawn
        from agon_bot.library.map import Map

        with open(os.path.join(VECTORS, "maps.json")) as file:
            for entry in json.load(file)[:10]:
                room = Map(entry["seed"])
                np.random.seed(entry["seed"])
                seeker = get_seeker_spawn(room)
                hider = get_hider_spawn(room, seeker)
                self.assertEqual((seeker.tolist(), hider.tolist()), (entry["seeker"], entry["hider"]))

    def test_hider_without_a_free_cell_is_an_error_and_no_endless_loop(self):
        from agon_bot.library.game_utils import get_hider_spawn

        with self.assertRaisesRegex(ValueError, "no free cell"):
            get_hider_spawn(room_of({(x, y) for x in range(10, 20) for y in range(10, 20)}), (3, 3))

    def test_display_game_state_shows_players_and_the_wall_in_the_way(self):
        from agon_bot.library.game_utils import display_game_state

        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            display_game_state(room_of({(2, 7), (4, 4)}), (2, 5), (2, 9), 3)
        rows = text.getvalue().splitlines()
        self.assertEqual([rows[1 + y].split()[1 + 2] for y in (5, 7, 9)], ["S", "X", "H"])
        self.assertEqual(rows[1 + 4].split()[1 + 4], "#")
        self.assertEqual(rows[-1], "step 3, vision False, wall (2, 7)")


@needs_numpy
class InAGame(BotFolderTestCase):
    def test_map_of_a_game_has_the_methods_and_no_seed(self):
        path = self.write(
            "bot.py",
            """
            from players import Player
            from game_utils import see_each_other
            class Seeker(Player):
                def move(self):
                    m = self.game_map
                    assert m.wall_fraction() == 1 / 400 and m.seed is None
                    assert m.good_graph_connectivity(m.nodes, m.connections) and m.get_first_empty_node(m.nodes) == (0, 0)
                    vision, (x, y) = see_each_other(m, (2, 5), (2, 9))
                    assert (vision, x, y) == (False, 2, 7)
                    self.pos = (self.pos[0], self.pos[1] - 1)
            """,
        )
        with BotProcess("hide-and-seek", path) as process:
            process.start()
            reply = process.turn(hide(1, walls={(2, 7)}))
            self.assertEqual(reply.get("answer"), "3,3", reply)


if __name__ == "__main__":
    unittest.main()
