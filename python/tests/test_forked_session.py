"""A bot of the zygote in many games: what it can remember, and how its forks end."""

import json
import os
import unittest

from bot_process import colour, connect, hide, needs_numpy
from zygote_client import ZygoteTestCase, pack_colour, pack_connect, pack_hide

COLOUR = """
import os, random, sys
from bot_control import Move
games = []
class Bot:
    def __init__(self):
        games.append(1)
    def determine_next_move(self, grid, enemies, info):
        {}
"""


class Games(ZygoteTestCase):
    def colour(self, body, **request):
        child = self.bot(self.write("Bot.py", COLOUR.format(body)), "colour-battle", **request)
        self.assertNotIn("error", child.hello())
        return child

    def game(self, child, turns=2, seed=1):
        child.start(seed)
        replies = [child.turn(pack_colour(colour(round=n))) for n in range(1, turns + 1)]
        self.assertEqual(child.ask(type="end"), {})
        return [reply.get("answer", reply.get("says")) for reply in replies]

    @needs_numpy
    def test_globals_do_not_survive_a_game(self):
        # One object is made when the bot is loaded, and one for the game.
        body = "games.append(1); sys.extra = getattr(sys, 'extra', 0) + 1; print(len(games), sys.extra); return Move.UP"
        child = self.colour(body)
        for seed in range(3):
            self.assertEqual(self.game(child, seed=seed), ["UP", "UP"])
        self.assertEqual(child.said(), "3 1\n4 2\n" * 3)

    CARRIERS = {
        "a flag and the position of an open file": (
            "FILE = os.open(__file__, os.O_RDONLY)",
            """
        import fcntl
        flags, position = fcntl.fcntl(FILE, fcntl.F_GETFL), os.lseek(FILE, 0, 1)
        fcntl.fcntl(FILE, fcntl.F_SETFL, flags | os.O_NONBLOCK)
        os.lseek(FILE, 5, 0)
        return Move.DOWN if info.current_round == 1 and (position or flags & os.O_NONBLOCK) else Move.UP
            """,
        ),
        "a pipe": (
            "ENDS = os.pipe2(os.O_NONBLOCK)",
            """
        try:
            found = os.read(ENDS[0], 1) if info.current_round == 1 else b""
        except OSError:
            found = b""
        os.write(ENDS[1], b"x")
        return Move.DOWN if found else Move.UP
            """,
        ),
        "a signal handler in the process that forks": (
            "import signal\nsignal.signal(signal.SIGURG, lambda *_: games.append('signal'))",
            """
        import signal, time
        found = 'signal' in games
        os.kill(os.getppid(), signal.SIGURG)
        time.sleep(0.02)
        return Move.DOWN if found and info.current_round == 1 else Move.UP
            """,
        ),
    }
    """For each way to carry something from game to game: what the bot does while it is loaded, and in a move."""

    def carried(self, prepare, body, **request):
        """The first answers of two games."""
        text = COLOUR.format(body).replace("games = []", f"games = []\n{prepare}")
        child = self.bot(self.write("Bot.py", text), "colour-battle", **request)
        self.assertNotIn("error", child.hello())
        return [self.game(child, seed=seed)[0] for seed in range(2)]

    @needs_numpy
    def test_nothing_is_carried_from_game_to_game(self):
        for what, (prepare, body) in self.CARRIERS.items():
            with self.subTest(what):
                self.assertEqual(self.carried(prepare, body), ["UP", "UP"])

    @needs_numpy
    def test_each_carrier_works_without_its_defence(self):
        for what, (prepare, body) in self.CARRIERS.items():
            with self.subTest(what):
                self.assertEqual(self.carried(prepare, body, without=["games"]), ["UP", "DOWN"])

    @needs_numpy
    def test_signal_handler_of_a_bot_works_in_its_games(self):
        text = COLOUR.format(
            "import signal\n        signal.raise_signal(signal.SIGURG)\n        return Move.DOWN if 'signal' in games else Move.UP"
        ).replace("games = []", "games = []\nimport signal\nsignal.signal(signal.SIGURG, lambda *_: games.append('signal'))")
        child = self.bot(self.write("Bot.py", text), "colour-battle")
        self.assertNotIn("error", child.hello())
        self.assertEqual(self.game(child), ["DOWN", "DOWN"])

    @needs_numpy
    def test_game_cannot_shut_down_the_sockets(self):
        body = """
        import socket
        for number in range(3, 256):
            try:
                end = socket.socket(fileno=os.dup(number))
            except OSError:
                continue
            try:
                end.shutdown(socket.SHUT_RDWR)
            except PermissionError:
                pass
            except OSError:
                pass
        return Move.UP
        """
        child = self.colour(body)
        for seed in range(2):
            self.assertEqual(self.game(child, seed=seed), ["UP", "UP"])

    @needs_numpy
    def test_each_game_runs_in_a_new_process(self):
        child = self.colour("print(os.getpid(), os.getppid()); return Move.UP")
        for _ in range(2):
            self.game(child)
        lines = [line.split() for line in child.said().splitlines()]
        self.assertEqual([parent for _, parent in lines], [str(child.pid)] * 4)
        self.assertEqual((lines[0], lines[2]), (lines[1], lines[3]))
        self.assertNotEqual(lines[0], lines[2])

    @needs_numpy
    def test_same_seed_repeats_random_numbers(self):
        body = "import numpy; print(random.random(), numpy.random.random(), os.environ['AGON_SEED']); return Move.UP"
        child = self.colour(body)
        for seed in (5, 6, 5):
            self.game(child, seed=seed)
        said = child.said().splitlines()
        self.assertEqual(said[0:2], said[4:6])
        self.assertNotEqual(said[0], said[2])
        again = self.colour(body)
        self.game(again, seed=5)
        self.assertEqual(again.said().splitlines(), said[0:2], "independent of earlier games")

    @needs_numpy
    def test_loaded_bot_accepts_another_hello(self):
        child = self.colour("return Move.UP")
        self.game(child)
        self.assertEqual(child.hello(seed=8)["protocol"], 1)
        self.assertEqual(self.game(child), ["UP", "UP"])
        # As the host does it: a hello is the first message of a new match.
        child.number = 0
        self.assertEqual(child.hello(seed=9)["protocol"], 1)
        self.assertEqual(self.game(child), ["UP", "UP"])

    @needs_numpy
    def test_start_message_with_other_key_order_starts_a_game(self):
        child = self.colour("games.append(1); print(len(games)); return Move.UP")
        for number in (50, 60):
            child.send(json.dumps({"id": number, "number": 1, "seed": "1", "type": "start"}).encode())
            self.assertEqual(child.receive(), {"id": number})
            child.turn(pack_colour(colour()))
            self.assertEqual(child.ask(type="end"), {})
        self.assertEqual(child.said(), "3\n3\n")

    @needs_numpy
    def test_warm_up_calls_no_code_of_the_bot(self):
        text = """
            from players import Player
            class Seeker(Player):
                def __init__(self, *arguments):
                    print("made")
                    super().__init__(*arguments)
                def move(self):
                    print("moved")
        """
        child = self.bot(self.write("Bot.py", text), "hide-and-seek")
        self.assertNotIn("error", child.hello(role="seeker", seat=0))
        self.assertEqual(child.said(), "")
        child.start()
        child.turn(pack_hide(hide(), True))
        self.assertEqual(child.said(), "made\nmoved\n")

    @needs_numpy
    def test_bot_with_a_thread_started_at_import_plays(self):
        text = """
            import threading, time
            from players import Player
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
            class Seeker(Player):
                def move(self):
                    print(threading.active_count())
        """
        child = self.bot(self.write("Bot.py", text), "hide-and-seek")
        self.assertNotIn("error", child.hello(role="seeker", seat=0))
        for _ in range(3):
            child.start()
            self.assertIn("answer", child.turn(pack_hide(hide(), True)))
            child.ask(type="end")
        self.assertEqual(child.said(), "1\n" * 3)

    @needs_numpy
    def test_dead_fork_is_reported_with_its_exit_description(self):
        for body, words in (
            ("os._exit(5)", "exit code 5"),
            ("os._exit(0)", "exit code 0"),
            ("os.kill(os.getpid(), 9)", "killed by SIGKILL"),
            ("os.kill(os.getpid(), 40)", "killed by signal 40"),
        ):
            with self.subTest(body):
                child = self.colour(f"print('here', flush=True)\n        if info.current_round == 2: {body}\n        return Move.UP")
                child.start()
                self.assertEqual(child.turn(pack_colour(colour())), {"answer": "UP"})
                child.send(b"\1\0\0\0\7\0\0\0\0\0\0\0" + pack_colour(colour(round=2)))
                self.assertEqual(child.receive()["ended"], words)
                self.assertEqual(child.ask(type="end"), {})
                # The bot is unchanged, so another game can start.
                self.assertEqual(self.game(child, turns=1), ["UP"])

    @needs_numpy
    def test_failing_turn_is_reported_and_the_game_continues(self):
        body = """
        n = info.current_round
        if n in (2, 3): raise ValueError(f"round {n}")
        if n == 4: sys.exit("enough")
        if n == 5: return "UP"
        if n == 6: enemies[0]["position"][:] = 9
        return Move.UP if self.position[0] == 5 and enemies[0]["position"][1] != 9 or n == 6 else Move.DOWN"""
        child = self.colour(body)
        said = self.game(child, turns=8)
        self.assertEqual([said[n] for n in (0, 5, 6, 7)], ["UP"] * 4, "last turn's positions are not this turn's")
        for number, words in ((1, "ValueError: round 2"), (2, "ValueError: round 3"), (3, "SystemExit: enough")):
            self.assertTrue(said[number].endswith(words), said[number])
        self.assertIn("expected a Move", said[4])

    @needs_numpy
    def test_bot_that_overwrites_the_packet_buffer_answers_the_right_request(self):
        body = """
        import gc
        import numpy as np
        for one in (*gc.get_objects(), grid.base, getattr(grid.base, "obj", None)):
            if type(one) is bytearray: one[:64] = bytes(64)
        from agon_bot.packet_channel import PacketChannel
        frame = sys._getframe(1)
        frame.f_locals["packets"].buffer[:64] = bytes(64)
        return Move.UP"""
        self.assertEqual(self.game(self.colour(body), turns=3), ["UP"] * 3)

    @needs_numpy
    def test_constructor_failing_in_a_game_is_a_crash_at_each_turn(self):
        text = COLOUR.format("return Move.UP").replace("games.append(1)", "games.append(1); assert len(games) < 2, 'no more'")
        child = self.bot(self.write("Bot.py", text), "colour-battle")
        self.assertNotIn("error", child.hello())
        for _ in range(2):
            said = self.game(child, turns=3)
            self.assertTrue(all(words.endswith("AssertionError: no more") for words in said), said)

    @needs_numpy
    def test_map_is_the_same_in_packets_and_json(self):
        text = """
            class Seeker(Player):
                def move(self):
                    room = self.game_map
                    print(type(room).__name__, room.dtype, room.shape, room.flags.writeable, room.flags.c_contiguous, room.tolist())
                    room[0, 0] = 7
        """
        said = []
        for packed in (True, False):
            child = self.bot(self.write("Bot.py", text), "hide-and-seek")
            self.assertNotIn("error", child.hello(role="seeker", seat=0))
            child.start()
            if packed:
                self.assertIn("answer", child.turn(pack_hide(hide(), True)))
            else:
                self.assertIn("answer", child.ask(type="turn", limit_ms=1000, observation=hide()))
            said.append(child.said())
        self.assertIn("Map int64 ", said[0])
        self.assertEqual(said[0], said[1])

    @needs_numpy
    def test_turn_outside_a_game_is_rejected(self):
        # The process that forks must never run a move: it would change the bot for all later games.
        child = self.colour("games.append(1); print(len(games)); return Move.UP")
        self.assertNotIn("answer", child.turn(pack_colour(colour())))
        self.game(child, turns=1)
        self.assertNotIn("answer", child.turn(pack_colour(colour())))
        reply = child.ask(type="turn", limit_ms=1000, observation=colour())
        self.assertNotIn("answer", reply)
        self.assertEqual(self.game(child, turns=1), ["UP"])
        self.assertEqual(child.said(), "3\n3\n")

    @needs_numpy
    def test_fork_that_exits_early_gives_no_more_answers(self):
        child = self.colour("games.append(1)\n        if len(games) < 9: os._exit(77)\n        return Move.UP")
        child.start()
        child.send(b"\1\0\0\0\7\0\0\0\0\0\0\0" + pack_colour(colour()))
        replies = [child.receive()] if not child.is_silent() else []
        replies += [child.turn(pack_colour(colour(round=n))) for n in range(2, 12)]
        self.assertFalse(any("answer" in reply for reply in replies), replies)

    @needs_numpy
    def test_bytes_left_in_the_pipe_do_not_reach_the_next_game(self):
        body = """
        import fcntl, stat, struct
        frame = sys._getframe()
        while "packets" not in frame.f_locals:
            frame = frame.f_back
        packets = frame.f_locals["packets"]
        pipe = next(n for n in range(200, 256) if os.path.exists(f"/proc/self/fd/{n}") and stat.S_ISFIFO(os.fstat(n).st_mode))
        waiting = struct.unpack("i", fcntl.ioctl(pipe, 0x541B, b"...."))[0]
        print(info.current_round, waiting, packets.buffer.count(b"kept"), flush=True)
        if info.current_round == 2:
            again = os.open(f"/proc/self/fd/{pipe}", os.O_WRONLY)
            os.write(again, LEFT * 300)
            os._exit(77)
        return Move.UP"""
        turn = b"\1\0\0\0\7\0\0\0\0\0\0\0"
        for left, told in ((turn + b"kept", True), (b"\3kept", False), (b"kept", False)):
            child = self.colour(body.replace("LEFT", repr(left)))
            for _ in range(2):
                child.start()
                child.turn(pack_colour(colour(round=1)))
                child.send(turn + pack_colour(colour(round=2)))
                if told:  # it got a request that it wrote itself
                    self.assertEqual(child.receive(), {"id": 7, "ended": "in an earlier turn of this game"})
                self.assertTrue(child.is_silent())
                child.ask(type="end")
            self.assertEqual(child.said(), "1 0 0\n2 0 0\n" * 2)

    @needs_numpy
    def test_blocking_mode_is_restored_for_the_next_game(self):
        body = """
        numbers = [n for n in (0, 1, 2, *range(200, 256)) if os.path.exists(f"/proc/self/fd/{n}")]
        print(sum(os.get_blocking(n) for n in numbers) == len(numbers) > 5, flush=True)
        if info.current_round == 1:
            for number in numbers:
                os.set_blocking(number, False)
            os._exit(77)
        return Move.UP"""
        child = self.colour(body)
        for _ in range(2):
            child.start()
            child.send(b"\1\0\0\0\7\0\0\0\0\0\0\0" + pack_colour(colour(round=1)))
            self.assertTrue(child.is_silent())
            self.assertIn("ended", child.turn(pack_colour(colour(round=2))))
        self.assertEqual(child.said(), "True\nTrue\n")

    @needs_numpy
    def test_turns_of_all_lengths_arrive(self):
        child = self.colour("print(grid.shape, int(grid[-1, -1])); return Move.UP")
        for size in (12, 60, 400):
            child.start()
            for number in (1, 2, 3):
                grid = [[0] * size for _ in range(size)]
                grid[-1][-1] = number
                self.assertEqual(child.turn(pack_colour(colour(round=number, size=size, grid=grid))), {"answer": "UP"})
            self.assertEqual(child.ask(type="end"), {})
        said = [f"({size}, {size}) {number}" for size in (12, 60, 400) for number in (1, 2, 3)]
        self.assertEqual(child.said().splitlines(), said)

    @needs_numpy
    def test_colour_battle_bot_cannot_start_threads_or_processes(self):
        body = """
        import threading
        tries = [lambda: threading.Thread(target=print).start(), os.fork, lambda: os.posix_spawn("/bin/true", ["true"], {})]
        refused = 0
        for work in tries:
            try:
                work()
            except (RuntimeError, OSError):
                refused += 1
        print(refused)
        return Move.UP"""
        child = self.colour(body, **self.unprivileged())
        self.assertEqual(self.game(child, turns=1), ["UP"])
        self.assertEqual(child.said(), "3\n")

    @needs_numpy
    def test_seeker_can_start_threads(self):
        text = """
            import threading
            class Seeker(Player):
                def move(self):
                    thread = threading.Thread(target=print, args=("in a thread",))
                    thread.start()
                    thread.join()
        """
        child = self.bot(self.write("Bot.py", text), "hide-and-seek", **self.unprivileged())
        self.assertNotIn("error", child.hello(role="seeker"))
        child.start()
        self.assertEqual(child.turn(pack_hide(hide(), True)), {"answer": "3,4"})
        self.assertEqual(child.said(), "in a thread\n")

    def test_connect_five_keeps_its_object_for_the_match(self):
        text = """
            import os
            class Bot:
                calls = adjusted = 0
                def get_move(self, board, player, T, N):
                    self.calls += 1
                    return self.calls + 100 * self.adjusted
                def adjust(self):
                    self.adjusted += 1
                def train(self):
                    print("trained", self.calls, self.adjusted)
        """
        child = self.bot(self.write("Bot.py", text))
        child.hello()
        answers = []
        for game in range(3):
            child.start(seed=game)
            answers += [child.turn(pack_connect(connect(games=game)))["answer"] for _ in range(2)]
            self.assertEqual(child.ask(type="end"), {})
        self.assertEqual(answers, ["1", "2", "103", "104", "205", "206"])
        self.assertTrue(child.ends_match())
        self.assertEqual(child.said(), "trained 6 3\n")
        # The loaded bot plays the next match, with a new object.
        child.hello()
        child.start()
        self.assertEqual(child.turn(pack_connect(connect())), {"answer": "1"})
        self.assertTrue(child.ends_match())
        child.stop_asking()
        self.assertEqual(child.next_report(), {"ended": 0})

    def test_exception_in_adjust_is_reported(self):
        text = "class Bot:\n    def get_move(self, *a):\n        return 1\n    def adjust(self):\n        1 / 0\n"
        child = self.bot(self.write("Bot.py", text))
        child.hello()
        child.start()
        self.assertIn("ZeroDivisionError", child.ask(type="end")["says"])


if __name__ == "__main__":
    unittest.main()
