"""Stateless bots: a call leaves nothing for the next one, and the arguments are those of the document."""

import json
import os
import unittest

from bot_process import SIDES, BotFolderTestCase, BotProcess, solitude

# Each bot answers LEFT in its first call and RIGHT if it finds a trace of an earlier call.
LEAKS = {
    "a global": """
        seen = []
        def get_action(state, match_history):
            seen.append(1)
            return "LEFT" if len(seen) == 1 else "RIGHT"
    """,
    "an attribute of a module": """
        import math
        def get_action(state, match_history):
            math.calls = getattr(math, "calls", 0) + 1
            return "LEFT" if math.calls == 1 else "RIGHT"
    """,
    "builtins": """
        import builtins
        def get_action(state, match_history):
            builtins.calls = getattr(builtins, "calls", 0) + 1
            return "LEFT" if builtins.calls == 1 else "RIGHT"
    """,
    "a default argument": """
        def get_action(state, match_history, seen=[]):
            seen.append(1)
            return "LEFT" if len(seen) == 1 else "RIGHT"
    """,
    "the environment": """
        import os
        def get_action(state, match_history):
            before = os.environ.get("CALLS")
            os.environ["CALLS"] = "1"
            return "LEFT" if before is None else "RIGHT"
    """,
    "a file": """
        import os, tempfile
        def get_action(state, match_history):
            for folder in (".", os.path.dirname(__file__), "/tmp", "/dev/shm"):
                path = os.path.join(folder, "agon-test-leak-%d" % os.getppid())
                if os.path.exists(path):
                    return "RIGHT"
                for make in (lambda: open(path, "w").close(), lambda: os.mkdir(path), lambda: os.mkfifo(path), lambda: os.symlink("x", path)):
                    try:
                        make()
                    except OSError:
                        pass
            return "LEFT"
    """,
    "a thread": """
        import threading, time, os
        def later():
            time.sleep(0.05)
            os.environ["CALLS"] = "1"
        def get_action(state, match_history):
            time.sleep(0.1)
            if os.environ.get("CALLS"):
                return "RIGHT"
            threading.Thread(target=later).start()
            return "LEFT"
    """,
    "shared memory made at import": """
        import mmap
        try:
            page = mmap.mmap(-1, 4096)
        except OSError:
            page = bytearray(4096)
        def get_action(state, match_history):
            page[0] += 1
            return "LEFT" if page[0] == 1 else "RIGHT"
    """,
    "a pipe made at import": """
        import os
        r, w = os.pipe()
        os.set_blocking(r, False)
        def get_action(state, match_history):
            try:
                found = os.read(r, 1)
            except OSError:
                found = b""
            try:
                os.write(w, b"x")
            except OSError:
                pass
            return "RIGHT" if found else "LEFT"
    """,
}


class Stateless(BotFolderTestCase):
    def test_nothing_survives_a_call(self):
        for what, text in LEAKS.items():
            with self.subTest(what):
                path = self.write(f"{what}/Submission.py", text)
                with BotProcess("solitude-scramble", os.path.dirname(path)) as process:
                    if "error" in process.ready:
                        self.assertEqual(process.ready["error"]["what"], "makes shared memory while it is loaded")
                        continue
                    process.start()
                    self.assertEqual([process.turn(solitude(turn)).get("answer") for turn in (1, 2, 3)], ["LEFT"] * 3)

    def test_children_of_a_call_are_killed(self):
        path = self.write(
            "Submission.py",
            """
            import os, time
            def get_action(state, match_history):
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        time.sleep(30)
                    os._exit(0)
                time.sleep(0.05)
                return "LEFT"
        """,
        )
        with BotProcess("solitude-scramble", os.path.dirname(path)) as process:
            process.start()
            for turn in (1, 2):
                self.assertEqual(process.turn(solitude(turn))["answer"], "LEFT")
            with open(f"/proc/{process.process.pid}/task/{process.process.pid}/children") as file:
                self.assertEqual(file.read().split(), [])

    def test_thread_started_at_import_is_a_load_error(self):
        self.write(
            "Submission.py",
            "import threading, time\nthreading.Thread(target=time.sleep, args=(5,), daemon=True).start()\n"
            "def get_action(s, h):\n    return 'LEFT'\n",
        )
        self.assertIn("thread", self.error("solitude-scramble", self.folder)["what"])

    def test_call_cannot_write_to_the_protocol(self):
        self.write(
            "Submission.py",
            """
            import os
            def get_action(state, match_history):
                for n in range(3, 300):
                    try:
                        os.write(n, b'{"id": 99, "answer": "RIGHT"}\\n')
                    except OSError:
                        pass
                return "LEFT"
        """,
        )
        with BotProcess("solitude-scramble", self.folder) as process:
            process.start()
            self.assertEqual(process.turn(solitude())["fault"], "crash", "it spoils only its own answer")
            self.assertEqual(process.turn(solitude(2))["id"], 4)
            process.close()
            self.assertEqual(process.rest, b"")

    def test_arguments_equal_those_of_the_document(self):
        self.write(
            "Submission.py",
            "import json\ndef get_action(state, match_history):\n    print(json.dumps([state, match_history]))\n    return 'LEFT'\n",
        )
        with BotProcess("solitude-scramble", self.folder, seat=2, names=["ann", "bob", "cy", "dee"]) as process:
            process.start()
            process.turn(solitude(turn=2, seat=2))
            state, history = json.loads(process.said())
        scores = {"CENTER": 1, "NW": 3, "NE": 2, "SW": 4, "SE": 5}
        self.assertEqual(
            state,
            {
                "my_id": "cy",
                "my_position": "SOUTH",
                "current_turn": 2,
                "platform_scores": scores,
                "opponent_positions": {"ann": "NORTH", "bob": "EAST", "dee": "WEST"},
            },
        )
        self.assertEqual(list(state), ["my_id", "my_position", "current_turn", "platform_scores", "opponent_positions"])
        self.assertEqual(list(state["platform_scores"]), ["CENTER", "NW", "NE", "SW", "SE"])
        self.assertEqual(
            history,
            [
                {
                    "turn": 1,
                    "platform_scores": scores,
                    "player_move": {"ann": "LEFT", "bob": "RIGHT", "cy": "NONE", "dee": "CENTER"},
                    "scores_awarded": {"bob": 2, "dee": 1},
                    "players_map": dict(zip(SIDES, ["ann", "bob", "cy", "dee"])),
                }
            ],
        )

    def test_equal_names_give_three_opponents(self):
        self.write(
            "Submission.py",
            "def get_action(state, match_history):\n    assert len(state['opponent_positions']) == 3\n    return 'LEFT'\n",
        )
        with BotProcess("solitude-scramble", self.folder, names=["x", "x", "x", "x"]) as process:
            process.start()
            self.assertEqual(process.turn(solitude())["answer"], "LEFT")


if __name__ == "__main__":
    unittest.main()
