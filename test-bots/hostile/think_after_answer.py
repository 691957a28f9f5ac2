"""Sends its answer itself and thinks on during the other bot's turn.

Must happen: that is charged with its next answer."""

import sys

from attack import Thief


class Bot(Thief):
    def think(self):
        frame = sys._getframe()
        while not ("packets" in frame.f_locals and "number" in frame.f_locals):
            frame = frame.f_back
        packets = frame.f_locals["packets"]
        packets.answer(frame.f_locals["number"], "0")
        send = packets.send
        # The host reports the exception below as a fault; that would be a second answer.
        packets.send = lambda message: setattr(packets, "send", send)
        self.burn(0.15)
        raise ValueError("not sent")
