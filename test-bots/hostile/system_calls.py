"""Makes forty system calls by their numbers that no bot needs.

Must happen: each is refused."""

import ctypes

from attack import Attacker, call, refused

ROOM = ctypes.create_string_buffer(4096)
CALLS = {
    "ptrace": (101, 0, 0, 0, 0),
    "personality": (135, 0x0040000),
    "pivot_root": (155, b".", b"."),
    "chroot": (161, b"."),
    "acct": (163, b"x"),
    "swapoff": (168, b"x"),
    "sethostname": (170, b"x", 1),
    "iopl": (172, 3),
    "ioperm": (173, 0, 1, 1),
    "init_module": (175, ROOM, 0, b""),
    "delete_module": (176, b"none", 0),
    "quotactl": (179, 0, 0, 0, 0),
    "setns": (308, 0, 0),
    "unshare": (272, 0x10000000),
    "keyctl": (250, 0, 0, 0, 0),
    "add_key": (248, b"user", b"x", b"x", 1, -3),
    "request_key": (249, b"user", b"x", 0, 0),
    "inotify_init1": (294, 0),
    "fanotify_init": (300, 0, 0),
    "perf_event_open": (298, ROOM, 0, -1, -1, 0),
    "name_to_handle_at": (303, -100, b".", ROOM, ROOM, 0),
    "open_by_handle_at": (304, -100, ROOM, 0),
    "kcmp": (312, 1, 1, 0, 0, 0),
    "finit_module": (313, 0, b"", 0),
    "seccomp notify": (317, 1, 8, ROOM),
    "bpf": (321, 0, ROOM, 64),
    "userfaultfd": (323, 1),
    "memfd_create": (319, b"x", 0),
    "memfd_secret": (447, 0),
    "io_uring_setup": (425, 4, ROOM),
    "pidfd_getfd": (438, 0, 0, 0),
    "open_tree": (428, -100, b".", 1),
    "move_mount": (429, -100, b".", -100, b".", 0),
    "fsopen": (430, b"tmpfs", 0),
    "mount_setattr": (442, -100, b".", 0, ROOM, 32),
    "process_madvise": (440, 0, 0, 0, 0, 0),
    "timer_create": (222, 0, 0, ROOM),
    "clone a user namespace": (56, 0x10000000 | 17, 0, 0, 0, 0),
    "clone3": (435, ROOM, 88),
    "vmsplice": (278, 1, ROOM, 1, 0),
    "lookup_dcookie": (212, 0, 0, 0),
    "modify_ldt": (154, 0, ROOM, 16),
    "openat2": (437, -100, b"/etc/passwd", ROOM, 24),
    "x32 socket": (0x40000000 | 41, 2, 1, 0),
    "type into a terminal": (16, 0, 0x5412, b"x"),
}


class Bot(Attacker):
    def attack(self):
        for name, arguments in CALLS.items():
            refused(name, lambda: call(*arguments))
