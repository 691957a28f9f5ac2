"""Load errors come before any game, with file, line and hint. Errors in a game are reported, and the game continues."""

import os
import unittest

from bot_process import BotFolderTestCase, BotProcess, connect, hide, needs_numpy, solitude


class BeforeTheGame(BotFolderTestCase):
    def solitude(self, text):
        self.write("Submission.py", text)
        return self.error("solitude-scramble", self.folder)

    def test_missing_files_and_functions_are_load_errors(self):
        error = self.error("solitude-scramble", os.path.join(self.folder, "missing"))
        self.assertEqual(error["what"], "no such file or folder")
        error = self.error("solitude-scramble", self.folder)
        self.assertEqual(error["what"], "the folder has no Submission.py")
        self.assertIn("get_action", error["hint"])
        self.assertEqual(self.solitude("x = 1\n")["what"], "has no function get_action")
        self.assertIn("3 parameters", self.solitude("def get_action(a, b, c):\n    return 'LEFT'\n")["what"])
        self.assertIn("connect-five", self.error("chess", self.folder)["hint"])

    def test_syntax_error_is_a_load_error_with_its_line(self):
        error = self.solitude("def get_action(state, match_history):\n    return 'LEFT\n")
        self.assertEqual((error["file"], error["line"]), ("Submission.py", 2))
        self.assertIn("does not parse", error["what"])

    def test_syntax_error_in_a_helper_names_the_helper(self):
        self.write("helper.py", "x = 1\ny = = 2\n")
        error = self.solitude("import helper\ndef get_action(s, h):\n    return 'LEFT'\n")
        self.assertEqual((error["file"], error["line"]), ("helper.py", 2))

    def test_file_that_is_not_text_is_a_load_error(self):
        path = self.write("Submission.py", "")
        with open(path, "wb") as file:
            file.write(b"\x00\xff\xfe\x00")
        self.assertIn("does not parse", self.error("solitude-scramble", self.folder)["what"])

    def test_failing_import_is_a_load_error_with_its_line(self):
        error = self.solitude("import math\nimport tensorflow_of_tomorrow\n")
        self.assertEqual((error["file"], error["line"]), ("Submission.py", 2))
        self.assertIn("No module named 'tensorflow_of_tomorrow'", error["what"])
        self.assertNotIn("\n", error["what"])

    def test_exception_or_exit_while_loading_is_a_load_error(self):
        error = self.solitude("def f():\n    return 1 / 0\nf()\n")
        self.assertEqual((error["file"], error["line"]), ("Submission.py", 2))
        self.assertIn("ZeroDivisionError", error["what"])
        self.assertIn("SystemExit", self.solitude("import sys\nsys.exit(0)\n")["what"])

    def test_class_without_the_method_is_a_load_error(self):
        path = self.write("bot.py", "\nclass Bot:\n    def get_moves(self): pass\n")
        error = self.error("connect-five", path)
        self.assertEqual(
            (error["what"], error["file"], error["line"]), ("class Bot has no method get_move", "bot.py", 2)
        )
        self.assertIn("none of its files", self.error("connect-five", self._two_files())["what"])

    def _two_files(self):
        self.write("pair/a.py", "x = 1\n")
        self.write("pair/b.py", "x = 1\n")
        return os.path.join(self.folder, "pair")

    def test_folder_with_two_candidates_is_a_load_error(self):
        for name in "ab":
            self.write(f"two/{name}.py", "class Bot:\n    def get_move(self, board, player, T, N): return 0\n")
        self.assertIn("a.py, b.py", self.error("connect-five", os.path.join(self.folder, "two"))["what"])

    def test_failing_constructor_is_a_load_error(self):
        path = self.write(
            "bot.py",
            "class Bot:\n    def __init__(self, depth): pass\n    def get_move(self, board, player, T, N): return 0\n",
        )
        self.assertIn("missing 1 required positional argument", self.error("connect-five", path)["what"])

    @needs_numpy
    def test_class_of_the_other_role_is_a_load_error(self):
        path = self.write("bot.py", "class Hider(Player):\n    def move(self): pass\n")
        error = self.error("hide-and-seek", path, seat=0)
        self.assertEqual(error["what"], "has no class Seeker")
        self.assertIn("it has Hider", error["hint"])


class DuringTheGame(BotFolderTestCase):
    def test_exception_is_a_crash_with_the_bots_lines(self):
        path = self.write(
            "bot.py",
            """
            class Bot:
                def get_move(self, board, player, T, N):
                    if N == 0:
                        return self.think(board)
                    return 4
                def think(self, board):
                    raise ValueError("no idea")
        """,
        )
        with BotProcess("connect-five", path) as process:
            process.start()
            reply = process.turn(connect())
            self.assertEqual(reply["fault"], "crash")
            self.assertEqual(
                reply["says"].splitlines(),
                [
                    'File "bot.py", line 5, in get_move',
                    "    return self.think(board)",
                    'File "bot.py", line 8, in think',
                    '    raise ValueError("no idea")',
                    "ValueError: no idea",
                ],
            )
            self.assertNotIn(self.folder, reply["says"])
            self.assertEqual(process.turn(connect(games=1))["answer"], "4", "the process continues")

    def test_exceptions_of_all_kinds_are_crashes(self):
        path = self.write(
            "bot.py",
            """
            import sys, os
            class Odd(Exception):
                def __str__(self):
                    raise RuntimeError
            class Bot:
                def get_move(self, board, player, T, N):
                    if N == 0: sys.exit(3)
                    if N == 1: raise KeyboardInterrupt
                    if N == 2: return self.get_move(board, player, T, N)
                    if N == 3: raise Odd()
                    if N == 4: raise ValueError("x" * 100000)
                    if N == 5: assert False
                    return N
                def adjust(self):
                    1 / 0
        """,
        )
        with BotProcess("connect-five", path) as process:
            process.start()
            for games, name in enumerate(
                ["SystemExit: 3", "KeyboardInterrupt", "RecursionError", "Odd: (its", "ValueError: x", "AssertionError"]
            ):
                reply = process.turn(connect(games=games))
                self.assertEqual(reply["fault"], "crash")
                self.assertIn(name, reply["says"])
                self.assertLessEqual(len(reply["says"]), 8192)
            self.assertEqual(process.turn(connect(games=6))["answer"], "6")
            self.assertIn("adjust(): ", process.ask(type="end")["says"])

    @needs_numpy
    def test_hider_with_failing_constructor_crashes_at_each_move(self):
        path = self.write(
            "bot.py",
            "class Hider(Player):\n    def __init__(self, *a):\n        raise OSError('no')\n    def move(self): pass\n",
        )
        with BotProcess("hide-and-seek", path, seat=1) as process:
            process.start()
            for step in (2, 4):
                self.assertIn("OSError: no", process.turn(hide(step=step, role="hider"))["says"])

    def test_closed_connection_and_unknown_messages_are_handled(self):
        path = self.write("bot.py", "class Bot:\n    def get_move(self, board, player, T, N): return 0\n")
        with BotProcess("connect-five", path) as process:
            self.assertEqual(process.close(), 0)
        with BotProcess("connect-five", path, hello=False) as process:
            self.assertIn("must be hello", process.ask(type="turn", observation={})["error"]["what"])
        with BotProcess("connect-five", path) as process:
            self.assertEqual(process.ask(type="weather", sky="blue"), {"id": 2}, "an unknown message is answered with its id")
            self.assertEqual(process.start(), {"id": 3})

    def test_call_that_dies_or_hangs_costs_one_move(self):
        self.write(
            "Submission.py",
            """
            import os, signal, time
            def get_action(state, match_history):
                turn = state["current_turn"]
                if turn == 1: os._exit(7)
                if turn == 2: os.kill(os.getpid(), signal.SIGSEGV)
                if turn == 3: time.sleep(60)
                return "CENTER"
        """,
        )
        with BotProcess("solitude-scramble", self.folder) as process:
            process.start()
            self.assertIn("exit code 7", process.turn(solitude(1))["says"])
            self.assertIn("SIGSEGV", process.turn(solitude(2))["says"])
            self.assertEqual(process.turn(solitude(3), limit_ms=100)["fault"], "timeout")
            self.assertEqual(process.turn(solitude(4))["answer"], "CENTER")

    def test_printed_text_never_reaches_the_protocol(self):
        path = self.write(
            "bot.py",
            """
            import os, sys
            print("at import")
            class Bot:
                def get_move(self, board, player, T, N):
                    print('{"id": 3, "answer": 8}')
                    sys.stdout.write("no end")
                    sys.__stdout__.write("no end")
                    os.write(1, b'{"id": 3, "answer": 8}\\n')
                    os.system("echo from a shell")
                    try:
                        input()
                    except EOFError:
                        print("nothing to read")
                    return 1
        """,
        )
        with BotProcess("connect-five", path) as process:
            process.start()
            self.assertEqual(process.turn(connect()), {"answer": "1", "id": 3})
            process.close()
            self.assertEqual(process.rest, b"")
            for text in ("at import", '"answer": 8', "no end", "from a shell", "nothing to read"):
                self.assertIn(text, process.said())

    def test_protocol_uses_descriptors_from_the_environment(self):
        path = self.write("bot.py", "class Bot:\n    def get_move(self, board, player, T, N): return 0\n")
        import subprocess
        import sys

        from bot_process import PACKAGE

        inside, outside = os.pipe(), os.pipe()
        env = {"PYTHONPATH": PACKAGE, "PYTHONHASHSEED": "0", "AGON_IN": str(inside[0]), "AGON_OUT": str(outside[1])}
        done = subprocess.Popen(
            [sys.executable, "-m", "agon_bot", "connect-five", path],
            env=env,
            pass_fds=(inside[0], outside[1]),
            stdout=subprocess.DEVNULL,
        )
        os.close(inside[0])
        os.close(outside[1])
        os.write(inside[1], b'{"type":"hello","id":1,"seed":"5"}\n')
        with os.fdopen(outside[0], "rb") as reader:
            self.assertIn(b'"protocol":1', reader.readline())
            os.close(inside[1])
            self.assertEqual(done.wait(10), 0)


if __name__ == "__main__":
    unittest.main()
