"""Keeps state in files, wherever one can be written, and in their times and modes.

Must happen: the next call does not find it (it would play CENTER)."""

import os

from attack import FOLDER, TARGETS

FOLDERS = (".", FOLDER, "data", "/tmp", "/var/tmp", "/dev/shm", "/run", "/", os.path.expanduser("~"))


def get_action(state, match_history):
    remembered = False
    for folder in FOLDERS:
        path = os.path.join(folder, TARGETS["token"] + "-kept")
        remembered |= os.path.exists(path)
        try:
            open(path, "w").close()
        except OSError:
            pass
    own = os.path.join(FOLDER, "attack.py")
    remembered |= os.stat(own).st_mtime == 1
    for change in (lambda: os.utime(own, (1, 1)), lambda: os.chmod(own, 0o777)):
        try:
            change()
        except OSError:
            pass
    return "CENTER" if remembered else "LEFT"
