"""Sends its answer itself and thinks on during the other bot's turn.

Must happen: that is charged with its next answer."""

import os
import sys

from attack import Thief


class Bot(Thief):
    answers = None

    def get_move(self, board, player, T, N):
        if self.answers:
            os.dup2(self.answers[1], self.answers[0])
        return super().get_move(board, player, T, N)

    def think(self):
        frame = sys._getframe()
        while "packets" not in frame.f_locals:
            frame = frame.f_back
        packets = frame.f_locals["packets"]
        packets.answer(int.from_bytes(packets.buffer[4:8], "little"), "0")
        # The answer at the end of the call goes nowhere.
        self.answers = packets.answers, os.dup(packets.answers)
        os.dup2(os.open(os.devnull, os.O_WRONLY), packets.answers)
        self.burn(0.15)
