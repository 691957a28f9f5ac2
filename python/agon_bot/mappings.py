"""Fewer pieces of memory. A fork pays for each mapping of its process, a microsecond or two, and a library is five of
them: three that are read, of which one is run, and two that were written when it was loaded, of which one is closed
afterwards. Given the same rights, those beside each other become one.

What that takes away (a library's constants cannot be run, its table of addresses not be written) protects a program from
its own mistakes. It is no wall around a bot, which may ask for memory it can run in any case."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Tuple

READ, WRITE, EXECUTE = 1, 2, 4
_libc = ctypes.CDLL(None)


def join_mappings() -> None:
    """Joins the parts of each library, as far as they can be. To be called before anything is forked: the kernel joins
    only what no other process shares."""
    for start, end, rights in _joinable(_mappings()):
        # One that refuses stays as it is.
        _libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(end - start), rights)


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
