"""Common mistakes of authors get a message that says what to do."""

import os
import unittest

from bot_process import BotFolderTestCase, BotProcess, connect, solitude

PLAYER = "class Bot:\n    def get_move(self, board, player, T, N):\n"


class DuringTheGame(BotFolderTestCase):
    def fault(self, lines):
        """What the fault of a Connect Five bot says."""
        path = self.write("Bot.py", PLAYER + "".join(f"        {line}\n" for line in lines))
        with BotProcess("connect-five", path) as process:
            process.start()
            return process.turn(connect())["says"].splitlines()

    def test_breakpoint_points_to_the_debugger_at_its_own_line(self):
        says = self.fault(["x = 1", "breakpoint()", "return x"])
        self.assertEqual(says[0], 'File "Bot.py", line 4, in get_move')
        self.assertIn("RuntimeError: breakpoint(): ", says[-1])
        self.assertIn("agon debug RECORD --seat N --turn K --pdb", says[-1])

    def test_breakpoint_in_a_stateless_bot_points_to_the_debugger(self):
        self.write("Submission.py", "def get_action(state, match_history):\n    breakpoint()\n    return 'LEFT'\n")
        with BotProcess("solitude-scramble", self.folder) as process:
            process.start()
            says = process.turn(solitude())["says"].splitlines()
        self.assertEqual(says[0], 'File "Submission.py", line 2, in get_action')
        self.assertIn("--pdb", says[-1])

    def test_pdb_points_to_the_debugger(self):
        says = self.fault(["import pdb", "pdb.set_trace()", "return 1"])
        self.assertIn("BdbQuit", says[-1])
        self.assertIn("--pdb", says[-1])

    def test_process_that_cannot_be_started_is_explained(self):
        # What the sandbox answers, without a sandbox.
        refuse = "def refuse(*_): raise PermissionError(1, 'Operation not permitted')"
        for use in (
            ["import os, multiprocessing", refuse, "os.fork = refuse", "multiprocessing.get_context('fork').Process().start()"],
            ["import os, subprocess, _posixsubprocess", refuse, "subprocess._fork_exec = refuse", "subprocess.Popen(['true'], close_fds=False)"],
            ["import threading", "def refuse(*_): raise RuntimeError(\"can't start new thread\")",
             "threading._start_new_thread = refuse", "threading.Thread().start()"],
        ):
            with self.subTest(use=use[0]):
                self.assertIn("cannot start further processes or threads here", self.fault(use)[-1])

    def test_missing_shared_memory_is_explained(self):
        # The sandbox has no folder for semaphores.
        says = self.fault([
            "import multiprocessing.synchronize as s",
            "def refuse(*_): raise FileNotFoundError(2, 'No such file or directory')",
            "s._multiprocessing.SemLock = refuse",
            "import multiprocessing",
            "multiprocessing.Queue()",
        ])
        self.assertIn("bots have no shared memory", says[-1])

    def test_other_errors_have_no_explanation(self):
        self.assertEqual(self.fault(["open('none')"])[-1], "FileNotFoundError: [Errno 2] No such file or directory: 'none'")


class BeforeTheGame(BotFolderTestCase):
    def test_utf_16_is_named_with_the_way_to_save_the_file(self):
        text = PLAYER + "        return 0\n"
        for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
            path = self.write("Wide.py", "")
            with open(path, "wb") as file:
                file.write(text.encode(encoding))
            error = self.error("connect-five", path)
            self.assertEqual(error["what"], "does not parse: it is saved as UTF-16, not as UTF-8", encoding)
            self.assertIn("choose the encoding UTF-8", error["hint"])

    def test_folder_with_a_notebook_says_how_to_convert_it(self):
        self.write("mine.ipynb", "{}")
        for game in ("connect-five", "solitude-scramble"):
            error = self.error(game, self.folder)
            self.assertIn("a notebook, mine.ipynb", error["what"])
            self.assertIn("jupyter nbconvert --to script mine.ipynb", error["hint"])

    def test_breakpoint_at_the_top_level_is_a_load_error_with_its_line(self):
        path = self.write("Bot.py", "x = 1\nbreakpoint()\n" + PLAYER + "        return 0\n")
        error = self.error("connect-five", path)
        self.assertEqual((error["file"], error["line"]), ("Bot.py", 2))
        self.assertIn("--pdb", error["what"])

    def test_missing_numpy_has_the_command_that_installs_it(self):
        # A module of this name that fails like a missing one.
        hidden = self.write("hidden/numpy.py", "raise ModuleNotFoundError(\"No module named 'numpy'\", name='numpy')\n")
        path = self.write("own/Bot.py", "import numpy\n" + PLAYER + "        return 0\n")
        paths = os.pathsep.join([os.path.dirname(hidden), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))])
        with BotProcess("connect-five", path, environment={"PYTHONPATH": paths}) as process:
            error = process.ready["error"]
        self.assertEqual((error["file"], error["line"]), ("Bot.py", 1))
        self.assertIn("pip install numpy", error["hint"])


if __name__ == "__main__":
    unittest.main()
