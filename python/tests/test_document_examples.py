"""The example bots printed in the competitions' documents, copied to the letter, play."""

import os
import unittest

from bot_process import BOTS, BotProcess, colour, connect, hide, needs_numpy, solitude


def bot(*path: str) -> str:
    return os.path.join(BOTS, *path)


class Documents(unittest.TestCase):
    def test_solitude_left(self):
        with BotProcess("solitude-scramble", bot("solitude_left")) as talk:
            self.assertNotIn("error", talk.ready)
            talk.start()
            self.assertEqual(talk.turn(solitude())["answer"], "LEFT")

    def test_solitude_greedy_takes_the_best_of_its_three(self):
        with BotProcess("solitude-scramble", bot("solitude_greedy"), seat=1) as talk:
            talk.start()
            self.assertEqual(talk.turn(solitude(seat=1))["answer"], "LEFT")  # east: SE 5, NE 2, CENTER 1
            self.assertEqual(talk.turn(solitude(turn=3, seat=0))["answer"], "RIGHT")  # north: NE 2, NW 3, CENTER 1

    def test_solitude_random_repeats_with_its_seed_and_varies_from_turn_to_turn(self):
        def play(seed):
            with BotProcess("solitude-scramble", bot("solitude_random"), seed=seed) as talk:
                talk.start()
                return [talk.turn(solitude(turn))["answer"] for turn in range(1, 11)]

        first = play(7)
        self.assertEqual(first, play(7))
        self.assertNotEqual(first, play(8))
        self.assertEqual(set(first), {"LEFT", "RIGHT", "CENTER"})

    @needs_numpy
    def test_colour_battle_method_alone(self):
        with BotProcess("colour-battle", bot("colour", "always_up.py")) as talk:
            talk.start()
            self.assertEqual(talk.turn(colour())["answer"], "UP")

    def test_connect_five_random_bot(self):
        with BotProcess("connect-five", bot("RandomBot")) as talk:
            self.assertEqual(talk.ready["name"], "RandomBot")
            talk.start()
            answers = {int(talk.turn(connect(column_full=4))["answer"]) for _ in range(40)}
            self.assertTrue(answers <= {0, 1, 2, 3, 5, 6, 7, 8} and len(answers) > 3, answers)
            self.assertNotIn("crash", talk.ask(type="end"))
            talk.process.stdin.write(b'{"type":"bye"}\n')
            self.assertEqual(talk.close(), 0)

    @needs_numpy
    def test_hide_and_seek_seeker_printed_as_def(self):
        """The document prints `def Seeker(Player)` with an algorithm left to the reader: it loads as the class it means, and stays."""
        with BotProcess("hide-and-seek", bot("hide", "seeker.py")) as talk:
            self.assertNotIn("error", talk.ready)
            talk.start()
            reply = talk.turn(hide())
            self.assertEqual(reply["fault"], "crash")
            self.assertIn("very_advanced_catching_algorithm", reply["says"])
            self.assertIn('File "seeker.py", line 6, in move', reply["says"])
            self.assertEqual(talk.turn(hide(step=2))["fault"], "crash", "it goes on")


if __name__ == "__main__":
    unittest.main()
