"""Memory that a fork need not know of.

A fork copies the list of its parent's pages, page by page, and its end takes the copy apart again: half of what a fork costs. Of some
1,200 pages a call of a bot that forgets needs 350. The kernel leaves out only what it could find again elsewhere, in a file. So what
the warm parent had before there was any bot is put into a file (in memory), and that file into the memory's place: what is
needed is taken out again at once (`_warm`), the rest is found when it is touched.

Which pages are needed is found out once, by the warm parent (`learn`): a fork of it puts everything away, does what a call does, and
looks what is there then. As a rule the kernel takes a page's neighbours along; with a `userfaultfd` it does not, which
is all that one is for here.

Between copying the memory and putting the copy into its place nothing may be written, not even by the interpreter that does it: see
`_in_a_row`. Nothing here is needed: where anything is missing, forks cost more."""

from __future__ import annotations

import ctypes
import os

from .mappings import (
    ANONYMOUS,
    EXECUTE,
    FIXED,
    MAY_MOVE,
    NOWHERE,
    PRIVATE,
    READ,
    WRITE,
    _address,
    _int,
    _madvise,
    _mmap,
    _munmap,
    _size,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, List, Tuple

    Span = Tuple[int, int]
    Call = Tuple[int, Tuple[int, ...]]

PAGE = 4096
SHARED = 0x01
NOT_FOR_FORKS, FETCH_TO_WRITE = 10, 23
LEAST = 16 * PAGE
"""Memory without a name that is smaller is left alone; the C library has its notes about this thread there."""
GAP = 1
"""So many pages between two that are needed are fetched with them."""
# Sealed: no longer, no shorter, nobody else writes, and that for good.
ADD_SEALS, SEALS = 1033, 0x01 | 0x02 | 0x04 | 0x10
TRIM_FROM, NEVER, AS_A_RULE = -1, (1 << 31) - 1, 128 << 10
USERFAULTFD, USER_ONLY = 323, 1
FAULTS_API, REGISTER, OF_WRITING = 0xC018AA3F, 0xC020AA00, 2
WRITING_IN_FILES = 1 << 12
ROOM = 2 * PAGE
"""For one of a row of calls, and again for its stack."""

_libc = ctypes.PyDLL(None)
_long = ctypes.c_long
_regions: List[Span] = []
_warm: List[Span] = []


def learn(prepare: Callable[[], None], exercise: Callable[[], None]) -> None:
    """Finds out what can be put away, and what of it a call needs. `prepare` does what is done once before the calls of a
    bot, `exercise` what is done for each; both in a fork."""
    if os.uname().machine != "x86_64" or not hasattr(_libc, "makecontext"):
        return
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            regions = _movable()
            prepare()
            if not put_away(*_make(regions), regions, [], userfaultfd()):
                return
            exercise()
            warm = [span for region in regions for span in _close_to_each_other(_pages_there([region]))]
            data = f"{_text(regions)}\n{_text(warm)}".encode()
            while data:
                data = data[os.write(writer, data) :]
        finally:
            os._exit(0)
    os.close(writer)
    data = b""
    while True:
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            break
        data += chunk
    os.close(reader)
    os.waitpid(child, 0)
    regions, _, warm = data.decode().partition("\n")
    if warm:
        _regions[:], _warm[:] = _spans(regions), _spans(warm)


def make() -> Span:
    """A place for what is to be put away, twice: to write to, and to be put into the memory's place. To be called before a
    bot's walls are up; the bot can do nothing with it but spoil its own memory. Zeros if it cannot be had."""
    return _make(_regions) if _regions else (0, 0)


def put_away_what_rests(copy: int, place: int) -> None:
    """Puts away what `learn` found. To be called when a bot is loaded, and nothing else runs in its process."""
    try:
        if copy:
            put_away(copy, place, _regions, _warm, -1)
    except OSError:
        # Where a bot does not see what memory it has.
        _munmap(copy, sum(end - start for start, end in _regions))


def userfaultfd() -> int:
    """A descriptor that keeps the kernel from taking a page's neighbours along. Raises where there is none."""
    descriptor = _libc.syscall(_long(USERFAULTFD), _int(os.O_CLOEXEC | USER_ONLY))
    wishes = (ctypes.c_uint64 * 3)(0xAA, WRITING_IN_FILES, 0)
    if descriptor < 0 or _libc.ioctl(_int(descriptor), _long(FAULTS_API), wishes) != 0:
        raise OSError("no userfaultfd")
    return descriptor


def _make(regions: List[Span]) -> Span:
    """The two places."""
    size = sum(end - start for start, end in regions)
    descriptor = os.memfd_create("agon", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size)
        copy = _mmap(None, size, READ | WRITE, SHARED, descriptor, 0)
        # Code and data lie side by side, and are one piece then (`mappings.py` says what that gives up).
        place = _mmap(None, size, READ | WRITE | EXECUTE, PRIVATE, descriptor, 0)
        if NOWHERE in (copy, place):
            raise OSError("no memory")
        # Forks have no part in it: it would be memory in common.
        if _madvise(copy, size, NOT_FOR_FORKS) != 0 or _libc.fcntl(descriptor, ADD_SEALS, SEALS) != 0:
            raise OSError("no seal")
        return copy, place
    finally:
        os.close(descriptor)


def put_away(copy: int, place: int, regions: List[Span], warm: List[Span], faults: int) -> bool:
    """Copies these regions of memory to `copy`, puts `place`, which shows the same, in place of them, and fetches
    what is warm. Says whether it could be done."""
    size = sum(end - start for start, end in regions)
    memmove, mremap, madvise, ioctl = map(_whereabouts, ("memmove", "mremap", "madvise", "ioctl"))
    calls: List[Call] = []
    tables = []
    # From here on the C library gives nothing back: what is there now is there when it is copied.
    _libc.mallopt(TRIM_FROM, NEVER)
    for start, end, offset in _still_there(regions, (place, place + size)):
        length = end - start
        calls.append((memmove, (copy + offset, start, length)))
        calls.append((mremap, (place + offset, length, length, MAY_MOVE | FIXED, start)))
        if faults >= 0:
            table = (ctypes.c_uint64 * 4)(start, length, OF_WRITING, 0)
            tables.append(table)
            calls.append((ioctl, (faults, REGISTER, ctypes.addressof(table))))
    calls.extend((madvise, (start, end - start, FETCH_TO_WRITE)) for start, end in warm)
    # All of it is had before anything is moved: memory that runs out halfway would end the process.
    done = _madvise(copy, size, FETCH_TO_WRITE) == 0 and _in_a_row(calls)
    _munmap(copy, size)
    _libc.mallopt(TRIM_FROM, AS_A_RULE)
    return done


def _in_a_row(calls: List[Call]) -> bool:
    """Calls functions of the C library one after another, with nothing in between: a chain of contexts, each of which
    runs a function and goes over to the next. The interpreter, whose memory they move, stands still meanwhile."""
    size = (2 * len(calls) + 1) * ROOM
    room = _mmap(None, size, READ | WRITE, PRIVATE | ANONYMOUS, -1, 0)
    if room is None or room == NOWHERE:
        return False
    for number, (function, arguments) in enumerate(calls):
        context = room + 2 * number * ROOM
        _libc.getcontext(_address(context))
        # Flags, the next context, where the stack is, its flags, its size.
        head = (_size * 5).from_address(context)
        head[1], head[2], head[4] = context + 2 * ROOM, context + ROOM, ROOM
        words = [_long(word) for word in arguments]
        _libc.makecontext(_address(context), _address(function), _int(len(words)), *words)
    # The last one goes over to where this call came from.
    _libc.swapcontext(_address(room + size - ROOM), _address(room))
    _munmap(room, size)
    return True


def _whereabouts(name: str) -> int:
    return ctypes.cast(getattr(_libc, name), _address).value or 0


def _mappings() -> List[Tuple[int, int, str, str]]:
    """Start, end, rights and name of all mappings."""
    found = []
    with open("/proc/self/maps") as file:
        for line in file:
            words = line.split()
            start, _, end = words[0].partition("-")
            found.append((int(start, 16), int(end, 16), words[1], words[5] if len(words) > 5 else ""))
    return found


def _movable() -> List[Span]:
    """The memory of the interpreter and its libraries: what was written and what is only read, so that all that lies side
    by side becomes one piece. Without the stack, and without code in large pages, which have no name."""
    found: List[Span] = []
    for start, end, rights, name in _mappings():
        if name == "[heap]" or (not name and rights == "rw-p" and end - start >= LEAST):
            _append(found, *_used((start, end)))
        elif name.startswith("/") and rights in ("r--p", "r-xp", "rw-p"):
            _append(found, start, end)
    return found


def _still_there(regions: List[Span], but: Span) -> List[Tuple[int, int, int]]:
    """What of these regions there is, with its place among them: memory may have been given back since. Something else may
    be there now, which is as good, but for what is to be put there itself."""
    own: List[Span] = []
    for start, end, rights, _ in _mappings():
        if rights[0] == "r" and rights[3] == "p" and not but[0] <= start < but[1]:
            _append(own, start, end)
    found = []
    offset = 0
    for first, last in regions:
        for start, end in own:
            if start < last and end > first:
                start, end = max(start, first), min(end, last)
                found.append((start, end, offset + start - first))
        offset += last - first
    return found


def _append(spans: List[Span], start: int, end: int) -> None:
    """Adds a span, to the last one if it goes on there."""
    if spans and spans[-1][1] == start:
        spans[-1] = spans[-1][0], end
    elif start < end:
        spans.append((start, end))


def _used(span: Span) -> Span:
    """The same without what has not been used yet at either end, if it is much: that is for new things."""
    start, end = span
    pages = _pages_there([span])
    first, last = (pages[0], pages[-1] + PAGE) if pages else (start, start)
    return first if first - start >= LEAST else start, last if end - last >= LEAST else end


def _pages_there(spans: List[Span]) -> List[int]:
    """The pages that this process has there."""
    found = []
    with open("/proc/self/pagemap", "rb", buffering=0) as file:
        for start, end in spans:
            file.seek(start // PAGE * 8)
            entries = memoryview(file.read((end - start) // PAGE * 8)).cast("Q")
            found.extend(start + number * PAGE for number, entry in enumerate(entries) if entry >> 63)
    return found


def _close_to_each_other(pages: List[int]) -> List[Span]:
    """Pages in order, as spans."""
    found: List[Span] = []
    for page in pages:
        if found and page - found[-1][1] <= GAP * PAGE:
            found[-1] = found[-1][0], page + PAGE
        else:
            found.append((page, page + PAGE))
    return found


def _text(spans: List[Span]) -> str:
    return " ".join(f"{start} {end}" for start, end in spans)


def _spans(text: str) -> List[Span]:
    numbers = [int(word) for word in text.split()]
    return list(zip(numbers[::2], numbers[1::2]))
