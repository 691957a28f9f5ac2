"""Duplicates a shared mapping of the host while it is loaded (`mremap` with an old size of 0), has forks inherit it
(`MADV_DOFORK`) and takes away every access to it, so that it looks harmless. A call makes it writable again.

Must happen: no call finds a byte that another one wrote."""

import ctypes
import sys

from attack import reached

libc = ctypes.CDLL(None, use_errno=True)
libc.mremap.restype = libc.mmap.restype = ctypes.c_void_p
SIZE = 4096
MAYMOVE, DOFORK, NONE, READ_WRITE = 1, 11, 0, 3


def duplicate():
    """The address of a duplicate, if there is a mapping and it can be duplicated."""
    mapping = getattr(sys, "shared_mapping", None)
    if mapping is None:
        return None
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
    found = libc.mremap(ctypes.c_void_p(address), ctypes.c_size_t(0), ctypes.c_size_t(SIZE), MAYMOVE)
    if found in (None, ctypes.c_void_p(-1).value):
        return None
    libc.madvise(ctypes.c_void_p(found), ctypes.c_size_t(SIZE), DOFORK)
    libc.mprotect(ctypes.c_void_p(found), ctypes.c_size_t(SIZE), NONE)
    return found


COPY = duplicate()


def get_action(state, match_history):
    if COPY is not None and libc.mprotect(ctypes.c_void_p(COPY), ctypes.c_size_t(SIZE), READ_WRITE) == 0:
        byte = ctypes.c_char.from_address(COPY)
        if byte.value == b"x":
            reached("a shared mapping", hex(COPY))
        byte.value = b"x"
    return "LEFT"
