"""A memory image: makes the forks of a stateless bot cheaper. `docs/memory-image.md` explains it, `AGON_MEMORY_IMAGE=off` switches
it off.

A fork copies the list of its parent's pages, and its exit frees the copy again. That is half of the cost of a fork. A call
needs about 350 of some 1,200 pages. The kernel does not copy the entries of pages that it can find again in a file. So
the memory that the zygote had before any bot was loaded is copied into a file in memory, the image, and the image is mapped
over the original. Pages that every call needs are fetched again at once; the others are found when they are touched.

The zygote finds out once which pages a call needs (`learn`): one of its forks installs an image, runs sample calls, and
looks at which pages are present then. By default the kernel fetches a page's neighbours too. A `userfaultfd` prevents
that, which is its only purpose here.

Between copying the memory and mapping the copy over it, nothing may be written, not even by the interpreter that does
it: see `_call_in_sequence`. All of this is optional. Where something is missing, forks cost more and nothing else changes.
"""

from __future__ import annotations

import ctypes
import os

from .process_cleanup import PAGE_BYTES, read_until_exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, List, Tuple

    Span = Tuple[int, int]
    Call = Tuple[int, Tuple[int, ...]]
    Mapping = Tuple[int, int, str, str]

SWITCH = "AGON_MEMORY_IMAGE"
"""Environment variable; `off` disables the image."""
NO_IMAGE = (0, 0)
READ, WRITE, EXECUTE = 1, 2, 4
MAP_SHARED, MAP_PRIVATE, MAP_ANONYMOUS = 0x01, 0x02, 0x20
MREMAP_MAYMOVE, MREMAP_FIXED = 1, 2
MADV_DONTFORK, MADV_POPULATE_WRITE = 10, 23
MIN_REGION_BYTES = 16 * PAGE_BYTES
"""Smaller anonymous mappings stay as they are. The C library keeps its data about this thread in one."""
MAX_GAP_PAGES = 1
"""Unused pages between two used ones that are fetched with them."""
F_ADD_SEALS, ALL_SEALS = 1033, 0x01 | 0x02 | 0x04 | 0x10
"""No process can change the size or the content of a sealed file, or remove the seals."""
M_TRIM_THRESHOLD, NEVER_TRIM, DEFAULT_TRIM = -1, (1 << 31) - 1, 128 << 10
SYS_USERFAULTFD, UFFD_USER_MODE_ONLY = 323, 1
UFFDIO_API, UFFDIO_REGISTER, UFFDIO_REGISTER_MODE_WP = 0xC018AA3F, 0xC020AA00, 2
UFFD_FEATURE_WP_HUGETLBFS_SHMEM = 1 << 12
CONTEXT_BYTES = 2 * PAGE_BYTES
"""Space for one context of `_call_in_sequence`, and the same again for its stack."""

_MAP_FAILED = ctypes.c_void_p(-1).value
_libc = ctypes.PyDLL(None)
_address, _size, _int, _long = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_long
_mmap = ctypes.PYFUNCTYPE(_address, _address, _size, _int, _int, _int, _long)(("mmap", _libc))
_madvise = ctypes.PYFUNCTYPE(_int, _address, _size, _int)(("madvise", _libc))
_munmap = ctypes.PYFUNCTYPE(_int, _address, _size)(("munmap", _libc))
_regions: List[Span] = []
"""Memory that the image replaces. Empty if there is no image."""
_used: List[Span] = []
"""The part of it that every call needs."""


def learn(prepare: Callable[[], None], sample_calls: Callable[[], None]) -> None:
    """Finds out, in a fork, which memory an image can replace, and which part of it a call needs. `prepare` does what is
    done once after a bot is loaded, `sample_calls` what is done for each call."""
    if os.uname().machine != "x86_64" or not hasattr(_libc, "makecontext") or os.environ.get(SWITCH) == "off":
        return
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            regions = _replaceable_regions()
            prepare()
            image, userfaultfd = _create(regions), _open_userfaultfd()
            if not _replace(image, regions, [], userfaultfd, _own_mappings):
                return
            sample_calls()
            used = [span for region in regions for span in _join_pages(_present_pages([region]))]
            data = f"{_to_text(regions)}\n{_to_text(used)}".encode()
            while data:
                data = data[os.write(writer, data) :]
        finally:
            os._exit(0)
    os.close(writer)
    data = read_until_exit(reader, child)
    os.waitpid(child, 0)
    regions, _, used = data.decode().partition("\n")
    if used:
        _regions[:], _used[:] = _from_text(regions), _from_text(used)


def create() -> Span:
    """Creates an empty image for this process. Returns two addresses: where the image is written, and where the same pages
    are mapped privately. Call it before the process enters its sandbox. A bot can only damage its own memory with it.
    Returns `NO_IMAGE` if there is nothing to replace or the image cannot be created."""
    if not _regions:
        return NO_IMAGE
    try:
        return _create(_regions)
    except OSError:
        return NO_IMAGE


def install(image: Span, read_mappings: Callable[[], bytes]) -> None:
    """Copies what `learn` found to the image and maps the image over it. Call it when the bot is loaded and nothing else
    runs in its process. `read_mappings` returns the content of `/proc/self/maps`, which a stateless bot cannot open
    itself. If that is empty, nothing is replaced."""
    if image != NO_IMAGE:
        _replace(image, _regions, _used, -1, read_mappings)


def _open_userfaultfd() -> int:
    """A descriptor that keeps the kernel from fetching a page's neighbours. Raises an error where there is none."""
    descriptor = _libc.syscall(_long(SYS_USERFAULTFD), _int(os.O_CLOEXEC | UFFD_USER_MODE_ONLY))
    wanted = (ctypes.c_uint64 * 3)(0xAA, UFFD_FEATURE_WP_HUGETLBFS_SHMEM, 0)
    if descriptor < 0 or _libc.ioctl(_int(descriptor), _long(UFFDIO_API), wanted) != 0:
        raise OSError("no userfaultfd")
    return descriptor


def _create(regions: List[Span]) -> Span:
    size = _total_bytes(regions)
    descriptor = os.memfd_create("agon", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size)
        writable = _mmap(None, size, READ | WRITE, MAP_SHARED, descriptor, 0)
        # Code and data are in one image, so both can be executed. That gives the bot nothing: it may map executable memory anyway.
        private = _mmap(None, size, READ | WRITE | EXECUTE, MAP_PRIVATE, descriptor, 0)
        if _MAP_FAILED in (writable, private):
            raise OSError("no memory")
        # Forks must not have the writable mapping: it would be shared memory.
        if _madvise(writable, size, MADV_DONTFORK) != 0 or _libc.fcntl(descriptor, F_ADD_SEALS, ALL_SEALS) != 0:
            raise OSError("no seal")
        return writable, private
    finally:
        os.close(descriptor)


def _replace(
    image: Span, regions: List[Span], used: List[Span], userfaultfd: int, read_mappings: Callable[[], bytes]
) -> bool:
    """Copies the regions to the image, maps the image over them, and fetches the used pages. Returns whether it was
    done."""
    writable, private = image
    size = _total_bytes(regions)
    memmove, mremap, madvise, ioctl = map(_function_address, ("memmove", "mremap", "madvise", "ioctl"))
    calls: List[Call] = []
    tables = []
    # From here on the C library returns no memory to the system: what exists now still exists when it is copied.
    _libc.mallopt(M_TRIM_THRESHOLD, NEVER_TRIM)
    mappings = _mappings(read_mappings())
    for start, end, offset in _still_mapped(regions, mappings, (private, private + size)):
        length = end - start
        calls.append((memmove, (writable + offset, start, length)))
        calls.append((mremap, (private + offset, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, start)))
        if userfaultfd >= 0:
            table = (ctypes.c_uint64 * 4)(start, length, UFFDIO_REGISTER_MODE_WP, 0)
            tables.append(table)
            calls.append((ioctl, (userfaultfd, UFFDIO_REGISTER, ctypes.addressof(table))))
    calls.extend((madvise, (start, end - start, MADV_POPULATE_WRITE)) for start, end in used)
    # Allocates all memory before anything moves: a process that runs out of memory halfway would crash.
    done = bool(mappings) and _madvise(writable, size, MADV_POPULATE_WRITE) == 0 and _call_in_sequence(calls)
    _munmap(writable, size)
    _libc.mallopt(M_TRIM_THRESHOLD, DEFAULT_TRIM)
    return done


def _call_in_sequence(calls: List[Call]) -> bool:
    """Calls functions of the C library one after the other, without running the interpreter in between, because these
    calls move its memory. Each call has a context (`makecontext`) that continues with the next one."""
    size = (2 * len(calls) + 1) * CONTEXT_BYTES
    space = _mmap(None, size, READ | WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    if space is None or space == _MAP_FAILED:
        return False
    for number, (function, arguments) in enumerate(calls):
        context = space + 2 * number * CONTEXT_BYTES
        _libc.getcontext(_address(context))
        # Flags, next context, address of the stack, its flags, its size.
        head = (_size * 5).from_address(context)
        head[1], head[2], head[4] = context + 2 * CONTEXT_BYTES, context + CONTEXT_BYTES, CONTEXT_BYTES
        words = [_long(word) for word in arguments]
        _libc.makecontext(_address(context), _address(function), _int(len(words)), *words)
    # The last context returns to this call.
    _libc.swapcontext(_address(space + size - CONTEXT_BYTES), _address(space))
    _munmap(space, size)
    return True


def _function_address(name: str) -> int:
    return ctypes.cast(getattr(_libc, name), _address).value or 0


def _own_mappings() -> bytes:
    with open("/proc/self/maps", "rb") as file:
        return file.read()


def _mappings(text: bytes) -> List[Mapping]:
    """Start, end, permissions and name of every mapping in `/proc/self/maps`."""
    found = []
    for line in text.decode("utf-8", "replace").splitlines():
        words = line.split()
        start, _, end = words[0].partition("-")
        found.append((int(start, 16), int(end, 16), words[1], words[5] if len(words) > 5 else ""))
    return found


def _replaceable_regions() -> List[Span]:
    """The memory of the interpreter and its libraries, both written and read-only, so that adjacent mappings become one.
    Without the stack."""
    found: List[Span] = []
    for start, end, permissions, name in _mappings(_own_mappings()):
        if name == "[heap]" or (not name and permissions == "rw-p" and end - start >= MIN_REGION_BYTES):
            _append(found, *_without_unused_ends((start, end)))
        elif name.startswith("/") and permissions in ("r--p", "r-xp", "rw-p"):
            _append(found, start, end)
    return found


def _still_mapped(regions: List[Span], mappings: List[Mapping], image: Span) -> List[Tuple[int, int, int]]:
    """The parts of these regions that are still mapped, with their offsets in the image. Memory may have been returned
    since. If something else is mapped there now, it is replaced in the same way, unless it is the image itself."""
    mapped: List[Span] = []
    for start, end, permissions, _ in mappings:
        if permissions[0] == "r" and permissions[3] == "p" and not image[0] <= start < image[1]:
            _append(mapped, start, end)
    found = []
    offset = 0
    for first, last in regions:
        for start, end in mapped:
            if start < last and end > first:
                start, end = max(start, first), min(end, last)
                found.append((start, end, offset + start - first))
        offset += last - first
    return found


def _append(spans: List[Span], start: int, end: int) -> None:
    """Appends a span, or extends the last one if they are adjacent."""
    if spans and spans[-1][1] == start:
        spans[-1] = spans[-1][0], end
    elif start < end:
        spans.append((start, end))


def _without_unused_ends(span: Span) -> Span:
    """The span without large parts at its ends that were never used: they are for new objects."""
    start, end = span
    pages = _present_pages([span])
    first, last = (pages[0], pages[-1] + PAGE_BYTES) if pages else (start, start)
    return first if first - start >= MIN_REGION_BYTES else start, last if end - last >= MIN_REGION_BYTES else end


def _present_pages(spans: List[Span]) -> List[int]:
    """The pages that this process has in these spans."""
    found = []
    with open("/proc/self/pagemap", "rb", buffering=0) as file:
        for start, end in spans:
            file.seek(start // PAGE_BYTES * 8)
            entries = memoryview(file.read((end - start) // PAGE_BYTES * 8)).cast("Q")
            found.extend(start + number * PAGE_BYTES for number, entry in enumerate(entries) if entry >> 63)
    return found


def _join_pages(pages: List[int]) -> List[Span]:
    """Sorted pages as spans."""
    found: List[Span] = []
    for page in pages:
        if found and page - found[-1][1] <= MAX_GAP_PAGES * PAGE_BYTES:
            found[-1] = found[-1][0], page + PAGE_BYTES
        else:
            found.append((page, page + PAGE_BYTES))
    return found


def _total_bytes(spans: List[Span]) -> int:
    return sum(end - start for start, end in spans)


def _to_text(spans: List[Span]) -> str:
    return " ".join(f"{start} {end}" for start, end in spans)


def _from_text(text: str) -> List[Span]:
    numbers = [int(word) for word in text.split()]
    return list(zip(numbers[::2], numbers[1::2]))
