"""The warm parent: forks bots on request, each behind its own walls before its file is read."""

import json
import os
import signal
import struct
import sys
import time
import unittest

from bot_process import PACKAGE, HANG_TIMEOUT, BotFolderTestCase, connect, needs_numpy
from zygote_client import ForkedBot, ZygoteProcess, ZygoteTestCase, pack_connect

BOT = """
import os, socket
class Bot:
    def get_move(self, board, player, T, N):
        return 4
"""
HANGS = BOT.replace("return 4", "print('hangs', flush=True)\n        while True: pass")

READ = 1 << 2 | 1 << 3
"""Landlock: files can be read, folders listed."""
ALL_OF_VERSION_1 = (1 << 13) - 1


def gone(pid):
    """Waits until a process is no more, not even as a zombie."""
    for _ in range(int(HANG_TIMEOUT * 100)):
        if not os.path.exists(f"/proc/{pid}"):
            return True
        time.sleep(0.01)
    return False


def dead(pid):
    """Waits until a process does nothing more: it may be a zombie."""
    for _ in range(int(HANG_TIMEOUT * 100)):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


class Bots(ZygoteTestCase):
    def play(self, text, **order):
        child = self.bot(self.write("own/Bot.py", text), **order)
        ready = child.hello()
        if "error" in ready:
            return ready
        child.start()
        return child.turn(pack_connect(connect()))

    def refusal(self, **order):
        """Why a bot is not started."""
        said = self.write("own/Bot.py", "print('the file was read', flush=True)\n" + BOT)
        child = self.parent.bot(said, **order)
        self.addCleanup(child.close)
        news = [child.hear()]
        while news[-1] is not None and "failed" not in news[-1]:
            news.append(child.hear())
        self.assertIsNotNone(news[-1], news)
        self.assertNotIn("entered", news)
        self.assertEqual(child.said(), "")
        self.assertEqual(child.answers.recv(1), b"", "nobody is there to answer")
        return news[-1]["failed"]

    def test_a_bot_from_start_to_end(self):
        child = self.bot(self.write("Bot.py", BOT))
        self.assertEqual(child.hello()["name"], "Bot")
        child.start()
        self.assertEqual(child.turn(pack_connect(connect())), {"answer": "4"})
        child.stop_asking()
        self.assertEqual(child.hear(), {"ended": 0})
        self.assertTrue(os.path.exists(f"/proc/{child.pid}"), "its number is kept until nobody asks any more")
        child.news.close()
        self.assertTrue(gone(child.pid))

    def test_how_a_bot_ended_is_told(self):
        for text, status in (
            ("os._exit(5)", 5 << 8),
            ("os.kill(os.getpid(), 9)", 9),
            ("os.kill(os.getpid(), 40)", 40),
        ):
            with self.subTest(text):
                child = self.bot(self.write("Bot.py", BOT.replace("return 4", text)))
                child.hello()
                child.start()
                self.assertRaises(EOFError, child.turn, pack_connect(connect()))
                self.assertEqual(child.hear(), {"ended": status})

    def test_a_bot_that_cannot_be_loaded_ends_with_2(self):
        child = self.bot(self.write("Bot.py", "x ="))
        self.assertEqual(child.hello()["error"]["line"], 1)
        self.assertEqual(child.hear(), {"ended": 2 << 8})

    def test_why_a_process_failed_is_in_its_log(self):
        child = self.bot(self.write("Bot.py", BOT))
        child.asking.send(b"{nonsense")
        self.assertEqual(child.hear(), {"ended": 3 << 8})
        self.assertIn("JSONDecodeError", child.said())

    def test_hanging_up_ends_a_bot_and_its_children(self):
        text = HANGS.replace("print(", "child = os.fork()\n        print(child or '',")
        child = self.bot(self.write("Bot.py", text))
        child.hello()
        child.start()
        child.send(struct.pack("<B3xII", 1, 3, 1000) + pack_connect(connect()))
        while child.said().count("hangs") < 2:
            time.sleep(0.01)
        second = int(next(word for word in child.said().split() if word.isdigit()))
        child.hang_up()
        self.assertTrue(gone(child.pid) and gone(second))

    def test_bots_know_nothing_of_each_other(self):
        first = self.write("secret-folder/Bot.py", "import builtins\nbuiltins.SECRET = 1\n" + BOT)
        first = self.bot(first)
        self.assertNotIn("error", first.hello())
        text = (
            "import builtins, os, sys\nassert not hasattr(builtins, 'SECRET')\n"
            "assert not any('secret-folder' in str(found) for found in [sys.path, sys.argv, dict(os.environ), list(sys.modules)])\n"
            + BOT.replace("return 4", "return len([n for n in range(3, 199) if os.path.exists(f'/proc/self/fd/{n}')])")
        )
        reply = self.play(text)
        self.assertEqual(reply.get("answer"), "0", f"no descriptor but its own three and the protocol's: {reply}")

    def test_a_bot_has_no_descriptors_but_its_own(self):
        text = BOT.replace("return 4", "return len(os.listdir('/proc/self/fd'))")
        # Its three, the protocol's three, and the one of the listing.
        self.assertEqual(self.play(text)["answer"], "7")

    def test_a_request_that_makes_no_sense(self):
        for order in (b"nonsense", b"{}", b"[]", b'{"namespaces": null}', b'{"namespaces": 0}', b"\xff"):
            with self.subTest(order):
                child = ForkedBot()
                self.addCleanup(child.close)
                self.parent.send(order, [child.their_news, child.log.fileno()])
                child.hand_over()
                self.assertEqual(child.hear()["failed"]["step"], "forking the bot")
                self.assertIsNone(child.hear())
        # Without anybody to tell.
        self.parent.send(b"nonsense", [])
        self.assertEqual(self.play(BOT), {"answer": "4"})

    def test_limits(self):
        text = BOT.replace(
            "return 4",
            "import resource; return resource.getrlimit(resource.RLIMIT_NOFILE)[1] - resource.getrlimit(resource.RLIMIT_CORE)[1]",
        )
        self.assertEqual(self.play(text, limits={"NOFILE": 256, "CPU": 10}), {"answer": "256"})
        self.assertIn("NOSUCH", self.refusal(limits={"NOSUCH": 1})["reason"])

    def test_environment_folder_and_privileges(self):
        text = BOT.replace(
            "return 4",
            "return sorted(os.environ) == ['AGON_SEED', 'HOME'] and 'NoNewPrivs:\\t1' in open('/proc/self/status').read()",
        )
        self.assertEqual(self.play(text, environment={"HOME": "/x"}, folder="/"), {"answer": "1"})
        self.assertIn("FileNotFound", self.refusal(folder="/no/such/folder")["reason"])

    def test_core_and_doors(self):
        core = max(os.sched_getaffinity(0))
        text = BOT.replace("return 4", "return min(os.sched_getaffinity(0)) + 100 * len(os.sched_getaffinity(0))")
        self.assertEqual(self.play(text, core=core), {"answer": str(100 + core)})
        self.assertIn("reason", self.refusal(core=4000))
        reader, door = os.pipe()
        self.addCleanup(os.close, reader)
        self.assertEqual(self.play(BOT, doors=[door]), {"answer": "4"})
        os.close(door)
        self.assertEqual(os.read(reader, 9), b"0")
        # A door that cannot be gone through.
        with open(os.devnull, "rb") as closed:
            self.assertIn("reason", self.refusal(doors=[closed.fileno()]))

    def test_landlock(self):
        from agon_bot.sandbox_enter import landlock_version

        version = landlock_version()
        if not version:
            self.skipTest("the kernel has no Landlock")
        secret = self.write("elsewhere/secret.txt", "x")
        text = f"""
import os, socket
def refused(work):
    try:
        work()
    except PermissionError:
        return True
    return False
class Bot:
    def get_move(self, board, player, T, N):
        tries = [lambda: open({secret!r}), lambda: open("/etc/passwd"), lambda: open("new", "w"), lambda: os.listdir("/"),
                 lambda: os.execv("/bin/true", ["true"]), lambda: socket.create_connection(("127.0.0.1", 9)), lambda: os.kill(os.getppid(), 0)]
        return sum(refused(work) for work in tries)
"""
        os.mkdir(os.path.join(self.folder, "own"))
        readable = [*sys.path[1:], sys.base_prefix, sys.prefix, PACKAGE, os.path.join(self.folder, "own")]
        rules = [[path, READ] for path in readable if os.path.isdir(path)]
        walls = {
            "files": ALL_OF_VERSION_1,
            "network": 3 if version >= 4 else 0,
            "scopes": 3 if version >= 6 else 0,
            "rules": [*rules, ["/dev/null", 1 << 2 | 1 << 1]],
            "proc": ["/no/such/proc", READ],
        }
        reply = self.play(text, landlock=walls)
        wanted = 5 + (version >= 4) + (version >= 6)
        self.assertEqual(reply.get("answer"), str(wanted), reply)
        # The walls stand before the file is read.
        reply = self.bot(self.write("elsewhere/Bot.py", BOT), landlock=walls).hello()
        self.assertIn("error", reply)
        self.assertIn("FileNotFound", self.refusal(landlock={**walls, "rules": [["/no/such", READ]]})["reason"])
        self.assertIn("reason", self.refusal(landlock={**walls, "files": 1 << 60}))
        self.assertIn("reason", self.refusal(landlock={"files": 1}))

    @unittest.skipUnless(os.uname().machine == "x86_64", "the filter is for x86-64")
    def test_seccomp(self):
        # Allow everything but uname (63), which fails with EPERM, and kill (62) with the own number, with EACCES.
        own = 0x4F574E21
        load, jump, give = 0x20, 0x15, 0x06
        allow = (give, 0, 0, 0x7FFF0000)
        no_uname = [(load, 0, 0, 0), (jump, 0, 1, 63), (give, 0, 0, 0x00050001), allow]
        no_suicide = [
            *((load, 0, 0, 0), (jump, 0, 3, 62), (load, 0, 0, 16), (jump, 0, 1, own)),
            *((give, 0, 0, 0x0005000D), allow),
        ]
        filters = [b"".join(struct.pack("=HBBI", *step) for step in steps).hex() for steps in (no_uname, no_suicide)]
        text = """
import os
class Bot:
    def get_move(self, board, player, T, N):
        refused = 0
        for bit, work in enumerate([os.uname, lambda: os.kill(os.getpid(), 0), lambda: os.kill(os.getppid(), 0)]):
            try:
                work()
            except PermissionError:
                refused += 1 << bit
        return refused
"""
        self.assertEqual(self.play(text), {"answer": "0"})
        self.assertEqual(self.play(text, seccomp=filters, own=own), {"answer": "3"})
        self.assertEqual(self.play(text, seccomp=filters[:1], own=None), {"answer": "1"})
        for broken in ("00000000", "", "xy", "ff" * 8):
            self.assertIn("reason", self.refusal(seccomp=[filters[0], broken]))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_user(self):
        os.chmod(self.folder, 0o755)
        # Its Python may be in a folder this user cannot read: nothing is imported that is not there.
        text = BOT.replace("import os, socket", "import os").replace(
            "return 4",
            "own = dict(line.split(':\\t') for line in open('/proc/self/status').read().splitlines() if ':\\t' in line)\n"
            "        powers = {own[name] for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')}\n"
            "        return (os.getresuid(), os.getresgid(), os.getgroups(), powers) == ((65534,) * 3, (65534,) * 3, [], {'0' * 16})",
        )
        self.assertEqual(self.play(text, user=[65534, 65534], drop=True), {"answer": "1"})

    @needs_numpy
    def test_numpy_is_there_already(self):
        text = "import sys\nassert 'num' + 'py.random' in sys.modules\nimport numpy\n" + BOT
        self.assertEqual(self.play(text), {"answer": "4"})


class TheParent(BotFolderTestCase):
    def parent(self, **more):
        parent = ZygoteProcess(**more)
        self.addCleanup(parent.process.kill)
        self.addCleanup(parent.close)
        return parent

    def bot(self, parent, text=BOT):
        child = parent.bot(self.write("Bot.py", text))
        self.addCleanup(child.close)
        child.entered()
        self.assertEqual(child.hello()["name"], "Bot")
        return child

    def test_a_plain_parent_has_little(self):
        text = "import sys\nLOADED = set(sys.modules)\ndef get_action(state, history):\n    print(sorted(LOADED))\n    return 'LEFT'\n"
        parent = self.parent(plain=True)
        self.write("Submission.py", text)
        child = parent.bot(self.folder, "solitude-scramble")
        self.addCleanup(child.close)
        child.entered()
        self.assertEqual(child.hello(names=[]), {"protocol": 1})
        child.start()
        self.assertEqual(child.turn(bytes([1, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3])), {"answer": "LEFT"})
        loaded = set(json.loads(child.said().replace("'", '"')))
        self.assertIn("random", loaded)
        self.assertEqual(loaded & {"numpy", "json", "re", "typing", "ast", "traceback"}, set())

    def test_it_ends_when_nobody_holds_its_door(self):
        parent = self.parent()
        child = self.bot(parent)
        pids = [child.pid, *parent.children()]
        self.assertEqual(parent.close(), 0)
        self.assertTrue(all(dead(pid) for pid in pids), "its children die with it")
        self.assertRaises(EOFError, child.receive)

    def test_bots_die_with_their_parent(self):
        parent = self.parent()
        child = self.bot(parent)
        parent.process.kill()
        parent.process.wait()
        self.assertTrue(dead(child.pid))
        self.assertRaises(EOFError, child.receive)

    def test_it_goes_on_when_a_bot_is_killed(self):
        parent = self.parent()
        child = self.bot(parent, HANGS)
        os.kill(child.pid, signal.SIGKILL)
        self.assertEqual(child.hear(), {"ended": 9})
        self.bot(parent)

    def test_nothing_of_many_bots_stays(self):
        parent = self.parent()
        files = len(os.listdir(f"/proc/{parent.process.pid}/fd"))
        for _ in range(20):
            self.bot(parent).close()
        parent.send(b"nonsense", [])
        child = self.bot(parent)
        for _ in range(int(HANG_TIMEOUT * 100)):
            left = (parent.children(), len(os.listdir(f"/proc/{parent.process.pid}/fd")))
            if left == ([child.pid], files + 2):
                return
            time.sleep(0.01)
        self.fail(f"children, descriptors: {left}; before: {files}")


if __name__ == "__main__":
    unittest.main()
