"""The packet channel: parts, the buffer, and turns in the short form, which must equal those in JSON."""

import json
import os
import socket
import struct
import unittest

from bot_process import colour, connect, hide, needs_numpy
from zygote_client import ZygoteTestCase, pack_colour, pack_connect, pack_hide

from agon_bot.packet_channel import INITIAL_BUFFER_BYTES, MAX_MESSAGE_BYTES, PacketChannel


class Buffer(unittest.TestCase):
    def setUp(self):
        self.host, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.hears, answers = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.ends = [self.host, self.hears, asked, answers]
        for end in self.ends:
            self.addCleanup(end.close)
        self.packets = PacketChannel(asked.fileno(), answers.fileno())

    def parts(self, data, size=64 << 10):
        """Sends a message in parts and receives it part by part, because the socket has not room for all."""
        self.host.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, len(data) * 2 + (1 << 16))
        self.host.send(struct.pack("<B3xI", 2, len(data)))
        for start in range(0, len(data), size):
            self.host.send(data[start : start + size])

    def test_packet_is_received(self):
        self.host.send(b'{"a": 1}')
        self.assertEqual(self.packets.receive(), 8)
        self.assertEqual(bytes(self.packets.view[:8]), b'{"a": 1}')

    def test_closed_socket_gives_length_zero(self):
        self.host.close()
        self.assertEqual(self.packets.receive(), 0)

    def test_message_in_parts_of_any_size_is_received(self):
        buffer = self.packets.buffer
        for length, size in ((1, 1), (7, 3), (100_000, 64 << 10), (INITIAL_BUFFER_BYTES // 2, 40_000)):
            with self.subTest(length=length, size=size):
                data = os.urandom(length)
                self.parts(data, size)
                self.assertEqual(self.packets.receive(), length)
                self.assertEqual(bytes(self.packets.view[:length]), data)
        self.assertIs(self.packets.buffer, buffer, "the buffer stays the same object")

    def test_buffer_grows_for_a_longer_message(self):
        import threading

        data = os.urandom(INITIAL_BUFFER_BYTES + 4321)
        sender = threading.Thread(target=self.parts, args=(data,))
        sender.start()
        self.assertEqual(self.packets.receive(), len(data))
        sender.join()
        self.assertEqual(bytes(self.packets.view[: len(data)]), data)
        grown = self.packets.buffer
        self.assertGreaterEqual(len(grown), len(data))
        self.assertEqual(len(grown) % 2, 0, "games read numbers of two bytes from it")
        self.host.send(b"short")
        self.assertEqual(self.packets.receive(), 5)
        self.assertIs(self.packets.buffer, grown)

    def test_host_that_closes_between_parts_gives_length_zero(self):
        self.host.send(struct.pack("<B3xI", 2, 10))
        self.host.send(b"half")
        self.host.close()
        self.assertEqual(self.packets.receive(), 0)

    def test_length_above_the_maximum_gives_length_zero(self):
        self.host.send(struct.pack("<B3xI", 2, MAX_MESSAGE_BYTES + 1))
        self.assertEqual(self.packets.receive(), 0)
        self.assertEqual(len(self.packets.buffer), INITIAL_BUFFER_BYTES)

    def test_turns_come_through_the_pipe_and_other_messages_through_the_socket(self):
        theirs, turns = os.pipe2(os.O_DIRECT)
        self.addCleanup(os.close, theirs)
        packets = PacketChannel(self.packets.requests, self.packets.answers, turn_pipe=theirs)
        os.write(turns, b"\1first")
        os.write(turns, b"\1second")
        os.write(turns, b"\3")
        self.host.send(b"{}")
        os.write(turns, b"\3")
        self.parts(b"x" * 100_000)
        for begins, length in ((b"\1first", 6), (b"\1second", 7), (b"{}", 2), (b"xxx", 100_000)):
            self.assertEqual(packets.receive_after_turn(), length)
            self.assertTrue(packets.buffer.startswith(begins))
        os.close(turns)
        self.assertEqual(packets.receive_after_turn(), 0)

    def test_answers_are_sent_as_packets(self):
        self.packets.answer(0x01020304, "LEFT")
        self.assertEqual(self.hears.recv(99), b"=\x04\x03\x02\x01LEFT")
        self.packets.answer(2**32 - 1, "ä")
        self.assertEqual(self.hears.recv(99), b"=\xff\xff\xff\xff?")
        self.packets.send({"id": 5, "says": "ä\n", "fault": None})
        self.assertEqual(json.loads(self.hears.recv(99)), {"id": 5, "says": "ä\n", "fault": None})


class Forms(ZygoteTestCase):
    """Sends the same turns in both forms to the same bot."""

    def both(self, text, game, observations, pack, **hello):
        """The output and the answers of a bot for turns in the short form and in JSON."""
        path = self.write("Bot.py", text)
        outcomes = []
        for short in (True, False):
            child = self.bot(path, game)
            self.assertNotIn("error", child.hello(**hello))
            child.start()
            replies = []
            for n, seen in enumerate(observations):
                if short:
                    replies.append(child.turn(pack(seen, n == 0)))
                else:
                    replies.append(child.ask(type="turn", request="move", limit_ms=2000, observation=seen))
            child.ask(type="end")
            outcomes.append((child.said(), replies))
        self.assertEqual(outcomes[0], outcomes[1])
        return outcomes[0]

    def test_connect_five_packets_equal_json(self):
        text = """
            class Bot:
                def get_move(self, board, player, T, N):
                    print(repr((board, player, T, N)), [type(x).__name__ for x in (board, board[0], board[0][0], player, T, N)])
                    board[0][0] = 9
                    return N
        """
        observations = [
            connect(player=1),
            connect(column_full=3, player=2, games=70_000),
            {**connect(column_full=8, games=2), "T": 0.25},
            {**connect(games=3), "T": 2},
        ]
        said, replies = self.both(text, "connect-five", observations, lambda seen, first: pack_connect(seen))
        self.assertEqual([reply["answer"] for reply in replies], ["0", "70000", "2", "3"])
        self.assertEqual(said.count("'list', 'list', 'int', 'int', 'int', 'int'"), 3, said)
        self.assertIn("0.25", said)
        self.assertNotIn("9", said.replace("70000", ""), "each turn has a new board")

    @needs_numpy
    def test_colour_battle_packets_equal_json(self):
        text = """
            from bot_control import Move
            class Bot:
                def determine_next_move(self, grid, enemies, game_info):
                    print(grid.tolist(), grid.dtype, grid.shape, grid.flags.writeable, grid.flags.c_contiguous)
                    print([(e["id"], type(e["id"]), e["position"].tolist(), e["position"].dtype, list(e)) for e in enemies])
                    print(vars(game_info), [type(n) for n in vars(game_info).values()], self.id, type(self.id), self.position.tolist(), self.position.dtype)
                    try:
                        grid[0, 0] = 5
                        return Move.UP
                    except ValueError:
                        return Move.DOWN
        """
        grid = [[(x * y) % 3 for x in range(12)] for y in range(12)]
        observations = [
            colour(round=1, own=1, places=[[1, 1], [5, 6], [11, 0]]),
            colour(round=2, own=1, places=[[1, 2], [5, 7], [11, 1]], grid=grid),
            colour(round=3, own=1, places=[[0, 11], [6, 7], [10, 1]], grid=grid[::-1]),
        ]
        said, replies = self.both(text, "colour-battle", observations, lambda seen, first: pack_colour(seen))
        self.assertEqual(replies, [{"answer": "DOWN"}] * 3)
        self.assertIn(str(grid), said)

    @needs_numpy
    def test_grid_is_updated_in_place_and_enemies_are_new(self):
        text = """
            from bot_control import Move
            class Bot:
                first = None
                def determine_next_move(self, grid, enemies, info):
                    if self.first is None:
                        self.first = grid, enemies, info, self.position
                        return Move.STAY
                    kept, others, same, place = self.first
                    print(kept is grid, same is info, others is enemies, others[0]["position"].tolist(), place.tolist(), int(kept[0, 0]))
                    return Move.UP
        """
        first, second = colour(round=1), colour(round=2, places=[[2, 2], [5, 7]])
        second["grid"][0][0] = 7
        said, _ = self.both(text, "colour-battle", [first, second], lambda seen, first: pack_colour(seen))
        self.assertEqual(said, "True True False [1, 1] [5, 6] 7\n")

    @needs_numpy
    def test_canvas_larger_than_the_first_buffer_is_received(self):
        text = """
            from bot_control import Move
            class Bot:
                def determine_next_move(self, grid, enemies, info):
                    self.kept = getattr(self, "kept", grid)
                    print(int(grid.sum()), grid.shape, self.kept is grid)
                    return Move.UP
        """
        seen = colour(size=400, grid=[[n % 5 for n in range(400)] for _ in range(400)])
        said, replies = self.both(text, "colour-battle", [seen, seen], lambda seen, first: pack_colour(seen))
        self.assertEqual((said, replies), ("320000 (400, 400) True\n" * 2, [{"answer": "UP"}] * 2))

    @needs_numpy
    def test_long_message_of_odd_length_is_received(self):
        path = self.write(
            "Bot.py",
            "from bot_control import Move\nclass Bot:\n    def determine_next_move(self, *a):\n        return Move.UP\n",
        )
        for more in (0, 1):
            child = self.bot(path, "colour-battle")
            child.hello(settings="x" * (INITIAL_BUFFER_BYTES + more))
            child.start()
            self.assertEqual(child.turn(pack_colour(colour())), {"answer": "UP"})

    @needs_numpy
    def test_hide_and_seek_packets_equal_json(self):
        text = """
            class Seeker(Player):
                def move(self):
                    print({name: (type(value).__name__, repr(value)) for name, value in sorted(vars(self).items()) if name not in ("game_map", "kept")})
                    print(type(self.game_map).__name__, repr(self.game_map), "same", getattr(self, "kept", self.game_map) is self.game_map)
                    self.kept = self.game_map
                    self.pos = [int(self.pos[0]) + 1, int(self.pos[1])]
        """
        walls = [(0, 5), (7, 2), (19, 0)]
        observations = [
            hide(step=1, walls=walls),
            hide(step=2, pos=(4, 4), enemy=(9, 9), visible=True, walls=walls),
            # Its last move was rejected.
            hide(step=70_000, pos=(4, 4), enemy=(9, 8), walls=walls),
        ]
        said, replies = self.both(text, "hide-and-seek", observations, pack_hide, role="seeker", seat=0)
        self.assertEqual([reply.get("answer") for reply in replies], ["4,4", "5,4", "5,4"], replies)
        self.assertEqual(said.count("same True"), 3, said)
        self.assertIn("'enemy_pos': ('ndarray', 'array([9, 9])')", said)

    @needs_numpy
    def test_map_is_sent_once_a_game(self):
        text = """
            class Hider(Player):
                def move(self):
                    print(int(self.game_map.sum()), int(self.game_map[0][5]))
                    self.pos = self.pos
        """
        child = self.bot(self.write("Bot.py", text), "hide-and-seek")
        child.hello(role="hider", seat=1)
        for game, walls in enumerate([[(0, 5)], [(7, 2), (7, 3)]]):
            child.start(seed=game)
            for step in (1, 2):
                child.turn(pack_hide(hide(step=step, role="hider", walls=walls), step == 1))
            child.ask(type="end")
        self.assertEqual(child.said(), "1 1\n" * 2 + "2 0\n" * 2)

    def test_errors_in_a_packed_turn_are_reported(self):
        text = """
            import sys
            class Bot:
                def get_move(self, board, player, T, N):
                    if N == 0:
                        return "three"
                    if N == 1:
                        return board[99]
                    if N == 2:
                        sys.exit("enough")
                    return 10 ** 100
        """
        _, replies = self.both(
            text, "connect-five", [connect(games=n) for n in range(4)], lambda seen, first: pack_connect(seen)
        )
        self.assertEqual([reply.get("fault") for reply in replies], ["garbled", "crash", "crash", None])
        self.assertIn('File "Bot.py", line 8', replies[1]["says"])
        self.assertIn("SystemExit: enough", replies[2]["says"])


if __name__ == "__main__":
    unittest.main()
