"""Fewer pieces of memory, and larger ones. A fork pays for each mapping of its process, a microsecond or two, and a library is five of
them: three that are read, of which one is run, and two that were written when it was loaded, of which one is closed
afterwards. Given the same rights, those beside each other become one.

What that takes away (a library's constants cannot be run, its table of addresses not be written) protects a program from
its own mistakes. It is no wall around a bot, which may ask for memory it can run in any case.

And a fork finds a library's code page by page, a fault for every few of them. Of a large page there is one for 2 MiB; but
the kernel makes large pages of memory only, not of a file, so that the code has to be copied there."""

from __future__ import annotations

import ctypes
from itertools import repeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Tuple

READ, WRITE, EXECUTE = 1, 2, 4
PRIVATE, ANONYMOUS = 0x02, 0x20
MAY_MOVE, FIXED = 1, 2
WISH_LARGE, MAKE_LARGE = 14, 25
LARGE = 2 << 20
"""The size of a large page."""
NOWHERE = ctypes.c_void_p(-1).value
_libc = ctypes.CDLL(None)
_address, _size, _int = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
_mmap = ctypes.CFUNCTYPE(_address, _address, _size, _int, _int, _int, ctypes.c_long)(("mmap", _libc))
_mremap = ctypes.CFUNCTYPE(_address, _address, _size, _size, _int, _address)(("mremap", _libc))
_madvise = ctypes.CFUNCTYPE(_int, _address, _size, _int)(("madvise", _libc))
_mprotect = ctypes.CFUNCTYPE(_int, _address, _size, _int)(("mprotect", _libc))
_munmap = ctypes.CFUNCTYPE(_int, _address, _size)(("munmap", _libc))


def join_mappings() -> None:
    """Joins the parts of each library, as far as they can be. To be called before anything is forked: the kernel joins
    only what no other process shares."""
    for start, end, rights in _joinable(_mappings()):
        # One that refuses stays as it is.
        _mprotect(start, end - start, rights)


def enlarge_pages(library: str = "libpython") -> int:
    """Has the code of the interpreter, or of a library, in large pages, as far as it fills them, and says how many there are. Those that
    cannot be had stay as they are. To be called before anything is forked, and before there are threads."""
    done = 0
    for start, end, rights, _, name in _mappings():
        if rights == "r-xp" and library in name.rpartition("/")[2]:
            for place in range(-(-start // LARGE) * LARGE, end // LARGE * LARGE, LARGE):
                done += _enlarge(place)
    return done


def _enlarge(place: int) -> bool:
    """Puts a large page with the same content in the place of what is there."""
    room = _mmap(None, 2 * LARGE, READ | WRITE, PRIVATE | ANONYMOUS, -1, 0)
    if room is None or room == NOWHERE:
        return False
    page = -(-room // LARGE) * LARGE
    _madvise(page, LARGE, WISH_LARGE)
    ctypes.memmove(page, place, LARGE)
    # Small pages would be worse than the file's: each fork would have to copy the list of them. So only if it is one now.
    done = (
        _madvise(page, LARGE, MAKE_LARGE) == 0
        and _mprotect(page, LARGE, READ | EXECUTE) == 0
        and _mremap(page, LARGE, LARGE, MAY_MOVE | FIXED, place) == place
    )
    # Around it, and all of it if it was not moved.
    _munmap(room, page - room)
    _munmap(page + LARGE if done else page, room + LARGE - page + (0 if done else LARGE))
    return done


def _mappings() -> List[Tuple[int, int, str, int, str]]:
    """Start, end, rights, place in the file and name of each mapping of a file."""
    found = []
    try:
        with open("/proc/self/maps") as file:
            for line in file:
                words = line.split(None, 5)
                if len(words) == 6 and words[5].startswith("/"):
                    start, end = words[0].split("-")
                    found.append((int(start, 16), int(end, 16), words[1], int(words[2], 16), words[5]))
    except OSError:
        pass
    return found


def _joinable(mappings: List[Tuple[int, int, str, int, str]]) -> List[Tuple[int, int, int]]:
    """What is to get which rights."""
    found = []
    for one, other in zip(mappings, mappings[1:]):
        if one[4] != other[4] or one[1] != other[0] or one[3] + one[1] - one[0] != other[3]:
            continue
        kinds = one[2], other[2]
        if kinds == ("r--p", "rw-p"):
            found.append((*one[:2], READ | WRITE))
        elif kinds == ("r--p", "r-xp"):
            found.append((*one[:2], READ | EXECUTE))
        elif kinds == ("r-xp", "r--p"):
            found.append((*other[:2], READ | EXECUTE))
    return found


POOL, POOL_HEAD = 1 << 14, 48
"""Python has its small objects in pools of so many bytes, for each size another, and so much of one is taken before the
first object."""
FILLERS = 1 << 14
"""So many gaps are filled at most, for each size."""
_fillers: list = []


def begin_new_pools() -> int:
    """Fills up the gaps that are left in memory between small objects, for each size, and says how many there were. What
    is made from now on lies side by side in new places, and not here and there in old ones, of which a fork would have
    to copy each. What filled the first places of a new pool stays there, too: a pool without an object is given back,
    and one that is in use for a moment only would be given back and taken again by every little sum."""
    half = 0.5  # a number of 32 bytes
    for size in range(16, 513, 16):
        make, words = (object, ()) if size == 16 else (half.__mul__, (half,)) if size == 32 else (bytes, (size - 33,))
        # Not a range: its numbers are objects, too.
        for _ in repeat(None, FILLERS):
            one = make(*words)
            _fillers.append(one)
            # Numbers like these places are objects themselves and may have had the very first place for a moment.
            if id(one) % POOL <= POOL_HEAD + size:
                row = one, make(*words), make(*words), make(*words)
                _fillers.append(row)
                # A new pool, where they lie beside each other, or a gap at the beginning of an old one.
                if all(POOL_HEAD <= id(each) % POOL < POOL_HEAD + 5 * size for each in row):
                    break
    return len(_fillers)
