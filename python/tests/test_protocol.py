"""The dialogues recorded in docs/protocol.md, sent to bots of the Python APIs: the shims read what the engine writes."""

import json
import os
import re
import unittest

from bot_process import PACKAGE, BotFolderTestCase, BotProcess, needs_numpy

DOCUMENT = os.environ.get("AGON_PROTOCOL", os.path.join(os.path.dirname(PACKAGE), "docs", "protocol.md"))
BOTS = {
    "solitude-scramble": (
        "Submission.py",
        "def get_action(state, match_history):\n    assert len(state['opponent_positions']) == 3 and len(match_history) == state['current_turn'] - 1\n    return 'LEFT'\n",
        "LEFT",
    ),
    "colour-battle": (
        "bot.py",
        "class B:\n    def determine_next_move(self, grid, enemies, game_info):\n        assert grid.shape == (game_info.grid_size,) * 2\n        return Move.UP\n",
        "UP",
    ),
    "connect-five": (
        "bot.py",
        "class B:\n    def get_move(self, board, player, T, N):\n        assert (len(board), len(board[0]), player, T, N) == (7, 9, 1, 1, 0)\n        return 3\n",
        "3",
    ),
    "hide-and-seek": (
        "bot.py",
        "class Seeker(Player):\n    def move(self):\n        assert self.game_map.shape == (20, 20) and len(self.enemy_pos) == 2\n        self.pos = (0, 1)\n",
        "0,1",
    ),
}


@needs_numpy
@unittest.skipUnless(os.path.isfile(DOCUMENT), "docs/protocol.md is missing")
class RecordedDialogues(BotFolderTestCase):
    def test_recorded_dialogues_of_all_python_games_play(self):
        with open(DOCUMENT, encoding="utf-8") as file:
            text = file.read()
        for game, (name, bot, answer) in BOTS.items():
            with self.subTest(game):
                path = self.write(f"{game}/{name}", bot)
                dialogue = re.search(rf"<!-- dialogue {game} -->(.*?)<!-- end -->", text, re.DOTALL).group(1)
                lines = [line[2:] for line in dialogue.splitlines() if line.startswith("> ")]
                with BotProcess(game, path, hello=False) as process:
                    for line in lines:
                        message = json.loads(line)
                        process.process.stdin.write(line.encode() + b"\n")
                        process.process.stdin.flush()
                        if message["type"] == "bye":
                            break
                        reply = process.receive()
                        self.assertEqual(reply["id"], message["id"])
                        self.assertNotIn("error", reply)
                        if message["type"] == "turn":
                            self.assertEqual(reply.get("answer"), answer, reply)
                    self.assertEqual(process.close(), 0)


if __name__ == "__main__":
    unittest.main()
