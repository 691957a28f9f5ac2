"""The zygote forks bots on request. Each child enters its sandbox before it reads the bot's file."""

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
"""Landlock rights: read files, list folders."""
ALL_OF_VERSION_1 = (1 << 13) - 1


def gone(pid):
    """Waits until a process is gone, even as a zombie."""
    for _ in range(int(HANG_TIMEOUT * 100)):
        if not os.path.exists(f"/proc/{pid}"):
            return True
        time.sleep(0.01)
    return False


def dead(pid):
    """Waits until a process has ended; it may be a zombie."""
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
    def play(self, text, **request):
        child = self.bot(self.write("own/Bot.py", text), **request)
        ready = child.hello()
        if "error" in ready:
            return ready
        child.start()
        return child.turn(pack_connect(connect()))

    def refusal(self, **request):
        """The failure report of a bot that is not started."""
        said = self.write("own/Bot.py", "print('the file was read', flush=True)\n" + BOT)
        child = self.parent.bot(said, **request)
        self.addCleanup(child.close)
        reports = [child.next_report()]
        while reports[-1] is not None and "failed" not in reports[-1]:
            reports.append(child.next_report())
        self.assertIsNotNone(reports[-1], reports)
        self.assertNotIn("entered", reports)
        self.assertEqual(child.said(), "")
        self.assertEqual(child.answers.recv(1), b"", "no process answers")
        return reports[-1]["failed"]

    def test_bot_plays_from_start_to_end(self):
        child = self.bot(self.write("Bot.py", BOT))
        self.assertEqual(child.hello()["name"], "Bot")
        child.start()
        self.assertEqual(child.turn(pack_connect(connect())), {"answer": "4"})
        child.stop_asking()
        self.assertEqual(child.next_report(), {"ended": 0})
        self.assertTrue(os.path.exists(f"/proc/{child.pid}"), "its process id is kept until the launcher closes its end")
        child.reports.close()
        self.assertTrue(gone(child.pid))

    def test_exit_status_of_a_bot_is_reported(self):
        for text, status, words in (
            ("os._exit(5)", 5 << 8, "exit code 5"),
            ("os.kill(os.getpid(), 9)", 9, "killed by SIGKILL"),
            ("os.kill(os.getpid(), 40)", 40, "killed by signal 40"),
        ):
            with self.subTest(text):
                # The process that has loaded the bot reports how the fork for a match ended.
                child = self.bot(self.write("Bot.py", BOT.replace("return 4", text)))
                child.hello()
                child.start()
                child.number = -1  # the report belongs to no request
                self.assertEqual(child.turn(pack_connect(connect())), {"ended": words})
                child.stop_asking()
                self.assertEqual(child.next_report(), {"ended": 0})
                # The zygote reports how that process ended.
                child = self.bot(self.write("Bot.py", text.replace("os.", "import os; os.", 1) + "\n" + BOT))
                self.assertRaises(EOFError, child.hello)
                self.assertEqual(child.next_report(), {"ended": status})

    def test_bot_that_cannot_be_loaded_exits_with_2(self):
        child = self.bot(self.write("Bot.py", "x ="))
        self.assertEqual(child.hello()["error"]["line"], 1)
        self.assertEqual(child.next_report(), {"ended": 2 << 8})

    def test_failure_of_a_process_is_in_its_log(self):
        child = self.bot(self.write("Bot.py", BOT))
        child.requests.send(b"{nonsense")
        self.assertEqual(child.next_report(), {"ended": 3 << 8})
        self.assertIn("JSONDecodeError", child.said())

    def test_closed_connection_kills_a_bot_and_its_children(self):
        text = HANGS.replace("print(", "child = os.fork()\n        print(child or '',")
        child = self.bot(self.write("Bot.py", text))
        child.hello()
        child.start()
        child.send(struct.pack("<B3xII", 1, 3, 1000) + pack_connect(connect()))
        while child.said().count("hangs") < 2:
            time.sleep(0.01)
        second = int(next(word for word in child.said().split() if word.isdigit()))
        child.close_connection()
        self.assertTrue(gone(child.pid) and gone(second))

    def test_bots_do_not_see_each_other(self):
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

    def test_bot_has_no_foreign_descriptors(self):
        text = BOT.replace("return 4", "return len(os.listdir('/proc/self/fd'))")
        # Three streams, three of the protocol, and one of the listing.
        self.assertEqual(self.play(text)["answer"], "7")

    def test_malformed_request_is_reported(self):
        for request in (b"nonsense", b"{}", b"[]", b'{"namespaces": null}', b'{"namespaces": 0}', b"\xff"):
            with self.subTest(request):
                child = ForkedBot()
                self.addCleanup(child.close)
                self.parent.send(request, [child.their_reports, child.log.fileno()])
                child.close_their_ends()
                self.assertEqual(child.next_report()["failed"]["step"], "forking the bot")
                self.assertIsNone(child.next_report())
        # Without a descriptor for reports.
        self.parent.send(b"nonsense", [])
        self.assertEqual(self.play(BOT), {"answer": "4"})

    def test_resource_limits_are_applied(self):
        text = BOT.replace(
            "return 4",
            "import resource; return resource.getrlimit(resource.RLIMIT_NOFILE)[1] - resource.getrlimit(resource.RLIMIT_CORE)[1]",
        )
        self.assertEqual(self.play(text, limits={"NOFILE": 256, "CPU": 10}), {"answer": "256"})
        self.assertIn("NOSUCH", self.refusal(limits={"NOSUCH": 1})["reason"])

    def test_environment_folder_and_privileges_are_applied(self):
        text = BOT.replace(
            "return 4",
            "return sorted(os.environ) == ['AGON_SEED', 'HOME'] and 'NoNewPrivs:\\t1' in open('/proc/self/status').read()",
        )
        self.assertEqual(self.play(text, environment={"HOME": "/x"}, folder="/"), {"answer": "1"})
        self.assertIn("FileNotFound", self.refusal(folder="/no/such/folder")["reason"])

    def test_core_and_cgroup_files_are_applied(self):
        core = max(os.sched_getaffinity(0))
        text = BOT.replace("return 4", "return min(os.sched_getaffinity(0)) + 100 * len(os.sched_getaffinity(0))")
        self.assertEqual(self.play(text, core=core), {"answer": str(100 + core)})
        self.assertIn("reason", self.refusal(core=4000))
        reader, control = os.pipe()
        self.addCleanup(os.close, reader)
        self.assertEqual(self.play(BOT, cgroup_files=[control]), {"answer": "4"})
        os.close(control)
        self.assertEqual(os.read(reader, 9), b"0")
        # A cgroup file that cannot be written.
        with open(os.devnull, "rb") as closed:
            self.assertIn("reason", self.refusal(cgroup_files=[closed.fileno()]))

    def test_landlock_rules_are_applied(self):
        from agon_bot.sandbox_enter import landlock_version

        version = landlock_version()
        if not version:
            self.skipTest("the kernel has no Landlock")
        secret = self.write("elsewhere/secret.txt", "x")
        text = f"""
import os, socket
ZYGOTE = os.getppid()
def refused(work):
    try:
        work()
    except PermissionError:
        return True
    return False
class Bot:
    def get_move(self, board, player, T, N):
        tries = [lambda: open({secret!r}), lambda: open("/etc/passwd"), lambda: open("new", "w"), lambda: os.listdir("/"),
                 lambda: os.execv("/bin/true", ["true"]), lambda: socket.create_connection(("127.0.0.1", 9)), lambda: os.kill(ZYGOTE, 0)]
        return sum(refused(work) for work in tries)
"""
        os.mkdir(os.path.join(self.folder, "own"))
        readable = [*sys.path[1:], sys.base_prefix, sys.prefix, PACKAGE, os.path.join(self.folder, "own")]
        rules = [[path, READ] for path in readable if os.path.isdir(path)]
        sandbox = {
            "files": ALL_OF_VERSION_1,
            "network": 3 if version >= 4 else 0,
            "scopes": 3 if version >= 6 else 0,
            "rules": [*rules, ["/dev/null", 1 << 2 | 1 << 1]],
            "proc": ["/no/such/proc", READ],
        }
        reply = self.play(text, landlock=sandbox)
        wanted = 5 + (version >= 4) + (version >= 6)
        self.assertEqual(reply.get("answer"), str(wanted), reply)
        # The sandbox is complete before the file is read.
        reply = self.bot(self.write("elsewhere/Bot.py", BOT), landlock=sandbox).hello()
        self.assertIn("error", reply)
        self.assertIn("FileNotFound", self.refusal(landlock={**sandbox, "rules": [["/no/such", READ]]})["reason"])
        self.assertIn("reason", self.refusal(landlock={**sandbox, "files": 1 << 60}))
        self.assertIn("reason", self.refusal(landlock={"files": 1}))

    @unittest.skipUnless(os.uname().machine == "x86_64", "the filter is for x86-64")
    def test_seccomp_filters_are_applied(self):
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
OWN, ZYGOTE = os.getpid(), os.getppid()
class Bot:
    def get_move(self, board, player, T, N):
        refused = 0
        for bit, work in enumerate([os.uname, lambda: os.kill(OWN, 0), lambda: os.kill(ZYGOTE, 0)]):
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
    def test_user_is_changed_and_capabilities_are_dropped(self):
        os.chmod(self.folder, 0o755)
        # The user may not be able to read Python's folder, so the bot imports only loaded modules.
        text = BOT.replace("import os, socket", "import os").replace(
            "return 4",
            "own = dict(line.split(':\\t') for line in open('/proc/self/status').read().splitlines() if ':\\t' in line)\n"
            "        powers = {own[name] for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')}\n"
            "        return (os.getresuid(), os.getresgid(), os.getgroups(), powers) == ((65534,) * 3, (65534,) * 3, [], {'0' * 16})",
        )
        self.assertEqual(self.play(text, user=[65534, 65534], drop=True), {"answer": "1"})

    @needs_numpy
    def test_numpy_is_preloaded(self):
        text = "import sys\nassert 'num' + 'py.random' in sys.modules\nimport numpy\n" + BOT
        self.assertEqual(self.play(text), {"answer": "4"})


class ZygoteLifecycle(BotFolderTestCase):
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

    def test_stateless_zygote_loads_few_modules(self):
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

    def test_zygote_ends_when_the_launcher_closes_its_end(self):
        parent = self.parent()
        child = self.bot(parent)
        pids = [child.pid, *parent.children()]
        self.assertEqual(parent.close(), 0)
        self.assertTrue(all(dead(pid) for pid in pids), "its children die too")
        self.assertRaises(EOFError, child.receive)

    def test_bots_die_with_the_zygote(self):
        parent = self.parent()
        child = parent.bot(self.write("Bot.py", BOT))
        self.addCleanup(child.close)
        child.entered()
        parent.process.kill()
        parent.process.wait()
        self.assertTrue(dead(child.pid))
        self.assertRaises(EOFError, child.receive)

    def test_zygote_continues_after_a_bot_is_killed(self):
        parent = self.parent()
        child = self.bot(parent, HANGS)
        os.kill(child.pid, signal.SIGKILL)
        self.assertEqual(child.next_report(), {"ended": 9})
        self.bot(parent)

    def test_many_bots_leave_no_children_and_descriptors(self):
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
