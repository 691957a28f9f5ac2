"""The warm parent: forks bots on request, each behind its own walls before its file is read."""

import base64
import json
import os
import socket
import struct
import subprocess
import sys
import time
import unittest

from talk import PACKAGE, Folder, connect, needs_numpy

BOT = """
import os, socket
class Bot:
    def get_move(self, board, player, T, N):
        return 4
"""


class Parent:
    """A warm parent in its process."""

    def __init__(self, *words):
        self.here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        env = {"PYTHONPATH": PACKAGE, "PYTHONHASHSEED": "0", "AGON_CONTROL": str(there.fileno())}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agon_bot", "--zygote", *words], env=env, pass_fds=[there.fileno()]
        )
        there.close()
        self.here.settimeout(10)
        self.number = 0
        self.packets = []

    def packet(self):
        data, descriptors, _, _ = socket.recv_fds(self.here, 1 << 16, 4)
        return json.loads(data), descriptors

    def bot(self, target, game="connect-five", **order):
        """Starts a bot: its pid, pidfd and the two ends of the protocol."""
        (bot_in, host_out), (host_in, bot_out), (log, bot_log) = os.pipe(), os.pipe(), os.pipe()
        self.number += 1
        order = {"id": self.number, "game": game, "target": target, **order}
        socket.send_fds(self.here, [json.dumps(order).encode()], [bot_in, bot_out, bot_log])
        for descriptor in (bot_in, bot_out, bot_log):
            os.close(descriptor)
        reply, descriptors = self.packet()
        while "exited" in reply:  # of an earlier bot
            self.packets.append(reply)
            reply, descriptors = self.packet()
        return Child(reply, descriptors, host_out, host_in, log)

    def exited(self, pid):
        while True:
            for packet in self.packets:
                if packet.get("exited") == pid:
                    return packet["status"]
            self.packets.append(self.packet()[0])

    def close(self):
        self.here.close()
        return self.process.wait(10)


class Child:
    def __init__(self, reply, descriptors, out, into, log):
        self.reply, self.descriptors = reply, descriptors
        self.out, self.into, self.log = os.fdopen(out, "wb", 0), os.fdopen(into, "rb"), os.fdopen(log, "rb")
        self.number = 0

    def ask(self, **message):
        self.number += 1
        self.out.write(json.dumps({"id": self.number, **message}).encode() + b"\n")
        return json.loads(self.into.readline() or b"null")

    def close(self):
        for file in (self.out, self.into, self.log):
            file.close()
        for descriptor in self.descriptors:
            os.close(descriptor)


class WarmParent(Folder):
    def setUp(self):
        super().setUp()
        self.parent = Parent()
        self.addCleanup(self.parent.close)

    def start(self, target, **order):
        child = self.parent.bot(target, **order)
        self.addCleanup(child.close)
        return child

    def play(self, text, **order):
        child = self.start(self.write("own/Bot.py", text), **order)
        ready = child.ask(type="hello", seed="3", seat=0)
        if "error" in ready:
            return ready
        child.ask(type="start", seed="3")
        return child.ask(type="turn", limit_ms=1000, observation=connect())

    def test_a_bot_from_start_to_end(self):
        path = self.write("Bot.py", BOT)
        child = self.start(path)
        self.assertEqual(len(child.descriptors), 1, "a pidfd comes with the reply")
        self.assertEqual(child.ask(type="hello", seed="3")["name"], "Bot")
        child.ask(type="start", seed="3")
        self.assertEqual(child.ask(type="turn", observation=connect())["answer"], "4")
        child.out.close()
        self.assertEqual(self.parent.exited(child.reply["pid"]), 0)

    def test_bots_know_nothing_of_each_other(self):
        first = self.start(self.write("a/Bot.py", "import builtins\nbuiltins.SECRET = 1\n" + BOT))
        self.assertNotIn("error", first.ask(type="hello", seed="1"))
        text = (
            "import builtins, os, sys\nassert not hasattr(builtins, 'SECRET') and not any('/a' in p for p in sys.path)\n"
            + BOT.replace("return 4", "return len([n for n in range(3, 199) if os.path.exists(f'/proc/self/fd/{n}')])")
        )
        self.assertEqual(self.play(text).get("answer"), "0", "no descriptor but its own three and the protocol's")

    def test_a_plain_parent_has_no_numpy(self):
        parent = Parent("plain")
        self.addCleanup(parent.close)
        child = parent.bot(
            self.write(
                "Bot.py", "import sys\nassert 'num' + 'py' not in sys.modules and 'random' in sys.modules\n" + BOT
            )
        )
        self.addCleanup(child.close)
        self.assertEqual(child.ask(type="hello", seed="3").get("name"), "Bot")

    def test_a_request_that_makes_no_sense(self):
        socket.send_fds(self.parent.here, [b'{"id": 1}'], [0])
        self.assertIn("three descriptors", self.parent.packet()[0]["error"])
        self.parent.here.send(b"nonsense")
        self.assertIn("error", self.parent.packet()[0])

    def test_limits(self):
        text = BOT.replace(
            "return 4",
            "import resource; return resource.getrlimit(resource.RLIMIT_NOFILE)[1] - resource.getrlimit(resource.RLIMIT_CORE)[1]",
        )
        self.assertEqual(self.play(text, policy={"rlimits": {"NOFILE": 256, "CPU": [5, 10]}})["answer"], "256")
        self.assertIn("sandbox", self.play(text, policy={"rlimits": {"NOSUCH": 1}})["error"]["what"])

    def test_environment_folder_and_privileges(self):
        text = BOT.replace(
            "return 4",
            "return sorted(os.environ) == ['HOME'] and 'NoNewPrivs:\\t1' in open('/proc/self/status').read()",
        )
        self.assertEqual(self.play(text, policy={"environment": {"HOME": "/x"}, "folder": "/"})["answer"], "1")

    def test_landlock(self):
        from agon_bot.enter import landlock_version

        if not landlock_version():
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
                 lambda: socket.create_connection(("127.0.0.1", 9)), lambda: os.kill(os.getppid(), 0), lambda: os.execv("/bin/true", ["true"])]
        return sum(refused(work) for work in tries)
"""
        readable = [*sys.path[1:], sys.base_prefix, sys.prefix, PACKAGE, os.path.join(self.folder, "own"), "/dev/null"]
        os.mkdir(readable[-2])
        policy = {"landlock": {"read": [path for path in readable if os.path.exists(path)], "write": ["/dev/null"]}}
        reply = self.play(text, policy=policy)
        wanted = 7 if landlock_version() >= 6 else 6
        self.assertEqual(reply.get("answer"), str(wanted), reply)

    def test_seccomp(self):
        # Allow everything but uname (63 on x86-64), which fails with EPERM.
        if os.uname().machine != "x86_64":
            self.skipTest("the filter is for x86-64")
        steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 63), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
        code = b"".join(struct.pack("HBBI", *step) for step in steps)
        text = BOT.replace(
            "return 4",
            "\n        try:\n            os.uname()\n        except PermissionError:\n            return 8\n        return 4",
        )
        self.assertEqual(self.play(text)["answer"], "4")
        self.assertEqual(self.play(text, policy={"seccomp": base64.b64encode(code).decode()})["answer"], "8")
        self.assertIn("sandbox", self.play(text, policy={"seccomp": "AAAA"})["error"]["what"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_user(self):
        os.chmod(self.folder, 0o755)
        text = BOT.replace(
            "return 4", "return os.getuid() == 65534 and os.getgroups() in ([], [65534]) and os.getgid() == 65534"
        )
        self.assertEqual(self.play(text, policy={"user": 65534, "group": 65534})["answer"], "1")

    def test_bots_die_with_their_parent(self):
        child = self.start(self.write("Bot.py", BOT))
        child.ask(type="hello", seed="1")
        self.parent.process.kill()
        self.parent.process.wait()
        self.assertIsNone(json.loads(child.into.readline() or b"null"))

    @needs_numpy
    def test_starting_is_quick(self):
        path = self.write("Bot.py", "import numpy\n" + BOT)
        times = []
        for _ in range(20):
            begun = time.perf_counter()
            child = self.start(path)
            child.ask(type="hello", seed="1")
            times.append(time.perf_counter() - begun)
            child.out.close()
        middle = sorted(times)[len(times) // 2] * 1000
        print(f"\nstart of a bot that imports NumPy, warm parent: {middle:.1f} ms (median of 20)", file=sys.stderr)
        self.assertLess(middle, 60, "far from an import of NumPy, even on a busy machine")


if __name__ == "__main__":
    unittest.main()
