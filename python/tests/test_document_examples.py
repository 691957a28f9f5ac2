"""Exact copies of the example bots in the competitions' documents play."""

import os
import unittest

from bot_process import BOTS, BotProcess, colour, connect, hide, needs_numpy, solitude


def bot(*path: str) -> str:
    return os.path.join(BOTS, *path)


class Documents(unittest.TestCase):
    def test_solitude_left_answers_left(self):
        with BotProcess("solitude-scramble", bot("solitude_left")) as process:
            self.assertNotIn("error", process.ready)
            process.start()
            self.assertEqual(process.turn(solitude())["answer"], "LEFT")

    def test_solitude_greedy_takes_the_best_of_three_platforms(self):
        with BotProcess("solitude-scramble", bot("solitude_greedy"), seat=1) as process:
            process.start()
            self.assertEqual(process.turn(solitude(seat=1))["answer"], "LEFT")  # east: SE 5, NE 2, CENTER 1
            self.assertEqual(process.turn(solitude(turn=3, seat=0))["answer"], "RIGHT")  # north: NE 2, NW 3, CENTER 1

    def test_solitude_random_repeats_with_its_seed_and_varies_from_turn_to_turn(self):
        def play(seed):
            with BotProcess("solitude-scramble", bot("solitude_random"), seed=seed) as process:
                process.start()
                return [process.turn(solitude(turn))["answer"] for turn in range(1, 11)]

        first = play(7)
        self.assertEqual(first, play(7))
        self.assertNotEqual(first, play(8))
        self.assertEqual(set(first), {"LEFT", "RIGHT", "CENTER"})

    @needs_numpy
    def test_colour_battle_method_without_a_class_plays(self):
        with BotProcess("colour-battle", bot("colour", "always_up.py")) as process:
            process.start()
            self.assertEqual(process.turn(colour())["answer"], "UP")

    def test_connect_five_random_bot_plays(self):
        with BotProcess("connect-five", bot("RandomBot")) as process:
            self.assertEqual(process.ready["name"], "RandomBot")
            process.start()
            answers = {int(process.turn(connect(column_full=4))["answer"]) for _ in range(40)}
            self.assertTrue(answers <= {0, 1, 2, 3, 5, 6, 7, 8} and len(answers) > 3, answers)
            self.assertNotIn("crash", process.ask(type="end"))
            process.process.stdin.write(b'{"type":"bye"}\n')
            self.assertEqual(process.close(), 0)

    @needs_numpy
    def test_hide_and_seek_def_seeker_loads_as_a_class(self):
        """The document prints `def Seeker(Player)` without an algorithm: it is loaded as a class and stays where it is."""
        with BotProcess("hide-and-seek", bot("hide", "seeker.py")) as process:
            self.assertNotIn("error", process.ready)
            process.start()
            reply = process.turn(hide())
            self.assertEqual(reply["fault"], "crash")
            self.assertIn("very_advanced_catching_algorithm", reply["says"])
            self.assertIn('File "seeker.py", line 6, in move', reply["says"])
            self.assertEqual(process.turn(hide(step=2))["fault"], "crash", "the game continues")


if __name__ == "__main__":
    unittest.main()
