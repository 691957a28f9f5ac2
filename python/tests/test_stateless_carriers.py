"""Hostile bots that carry a bit from call to call: none succeeds, and each one does when its defence is off. (The numbers
of system calls are those of x86-64.)"""

import os
import shutil
import unittest

from bot_process import PACKAGE, solitude
from test_stateless_session import GAME, NAMES
from zygote_client import ZygoteTestCase, pack_solitude

BOTS = os.path.join(os.path.dirname(os.path.abspath(PACKAGE)), "test-bots", "hostile")

CARRIERS = {
    "state_socket_flags": ["fresh"],
    "state_socket_shutdown": ["fresh", "shutdown"],
    "state_log_flags": ["flags"],
    "state_open_file": ["stale"],
    "state_shared_mapping": ["shared", "mmap", "mremap", "madvise", "sweep"],
    "state_signal_queue": ["signals"],
}
"""The bots, and the defences that must be off for them to succeed."""
UNABLE = ("state_kernel_objects", "state_own_settings")
"""Bots that have no single defence: what they keep ends with the call."""


class Carriers(ZygoteTestCase):
    plain = True

    def replies(self, name, without=(), count=3):
        folder = os.path.join(self.folder, f"{name}-{len(without)}")
        os.mkdir(folder)
        shutil.copy(os.path.join(BOTS, f"{name}.py"), os.path.join(folder, "Submission.py"))
        shutil.copy(os.path.join(BOTS, "attack.py"), folder)
        child = self.bot(folder, GAME, without=list(without))
        ready = child.hello(names=NAMES)
        if "error" in ready:
            return [ready]
        child.start()
        return [child.turn(pack_solitude(solitude(turn))) for turn in range(1, count + 1)]

    def test_nothing_is_carried(self):
        for name in (*CARRIERS, *UNABLE):
            with self.subTest(name):
                self.assertEqual(self.replies(name), [{"answer": "LEFT"}] * 3)

    def test_each_carrier_works_without_its_defence(self):
        for name, without in CARRIERS.items():
            with self.subTest(name):
                replies = self.replies(name, without)
                self.assertEqual(replies[0], {"answer": "LEFT"})
                self.assertIn("REACHED", str(replies[1:]))

    def test_one_of_two_defences_is_enough(self):
        refused = self.replies("state_shared_mapping", ["shared", "mmap", "sweep"])
        self.assertEqual(refused, [{"answer": "LEFT"}] * 3)
        rejected = self.replies("state_shared_mapping", ["shared", "mmap", "mremap", "madvise"])
        self.assertEqual(rejected[0]["error"]["what"], "makes shared memory while it is loaded")

    def test_calls_that_reach_other_processes_are_refused(self):
        text = """
            import ctypes, mmap, os, time
            libc = ctypes.CDLL(None, use_errno=True)
            word = ctypes.c_int(0)
            def refused(number, *arguments):
                ctypes.set_errno(0)
                return libc.syscall(ctypes.c_long(number), *arguments) == -1 and ctypes.get_errno() == 1
            def get_action(state, match_history):
                long, place, room = ctypes.c_long, ctypes.byref(word), ctypes.create_string_buffer(256)
                print(
                    refused(228, long((~os.getppid() << 3) | 2), room),  # the processor clock of another process
                    refused(99, room),  # sysinfo
                    refused(202, place, 1, 1, None),  # waking a futex that is not private
                    refused(25, long(0), long(0), long(4096), 1),  # mremap of size 0
                    refused(28, long(0), long(0), 11),  # MADV_DOFORK
                    not refused(202, place, 129, 1, None),  # waking a private futex
                    not refused(25, long(0), long(4096), long(4096), 1),
                    time.process_time() >= 0 and time.monotonic() > 0,
                    len(mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)) == 4096,
                )
                return "LEFT"
        """
        self.write("calls/Submission.py", text)
        child = self.bot(os.path.join(self.folder, "calls"), GAME)
        self.assertEqual(child.hello(names=NAMES), {"protocol": 1})
        child.start()
        self.assertEqual(child.turn(pack_solitude(solitude())), {"answer": "LEFT"})
        self.assertEqual(child.said().split(), ["True"] * 9)


if __name__ == "__main__":
    unittest.main()
