"""Runs a function in a fork of this process. Afterwards nothing of the fork is left."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from typing import Any, Callable, Dict, Optional, Tuple

from .process_cleanup import exit_description, kill_children
from .streams import MIN_PROTOCOL_DESCRIPTOR, flush

# Kept under names of this module: a bot may replace the originals.
_fork, _exit, _waitpid, _kill = os.fork, os._exit, os.waitpid, os.kill
_pipe, _read, _write, _close, _closerange = os.pipe, os.read, os.write, os.close, os.closerange

MAX_ANSWER_BYTES = 64 * 1024
ALLOWED_KEYS = {"answer", "fault", "says"}
"""The only keys accepted in a fork's result."""
LATE_GRACE_MS = 25.0
"""A call that exceeds its limit by this time is killed."""


def run_in_fork(work: Callable[[], Dict[str, Any]], limit_ms: Optional[float]) -> Dict[str, Any]:
    """Runs a function in a fork and returns its result. Kills the fork and all processes that it started."""
    reader, writer = _pipe()
    child = _fork()
    if child == 0:
        _run_and_exit(work, reader, writer)
    _close(writer)
    data, in_time = _read_answer(reader, child, limit_ms)
    _close(reader)
    _kill(child, signal.SIGKILL)
    status = _waitpid(child, 0)[1]
    kill_children()
    if not in_time:
        return {"fault": "timeout", "says": f"no answer within {limit_ms} ms"}
    result = decode(data)
    if result is None:
        return {"fault": "crash", "says": "the call ended without an answer: " + exit_description(status)}
    return result


def _run_and_exit(work: Callable[[], Dict[str, Any]], reader: int, writer: int) -> None:
    """In the fork: runs the function, writes its result and exits. Never returns."""
    try:
        _close(reader)
        # Close the protocol's descriptors, so that a call cannot answer for the bot.
        _closerange(MIN_PROTOCOL_DESCRIPTOR, MIN_PROTOCOL_DESCRIPTOR + 8)
        data = encode(work())
        flush()
        while data:
            data = data[_write(writer, data) :]
    finally:
        _exit(0)


def encode(result: Dict[str, Any]) -> bytes:
    """A fork's result as a line. The usual case needs no JSON: a fork copies every page of memory that it touches."""
    answer = result.get("answer")
    plain = type(answer) is str and len(result) == 1 and answer.isalnum()
    return f"={answer}\n".encode() if plain else json.dumps(result).encode() + b"\n"


def decode(data: bytes) -> Optional[Dict[str, Any]]:
    """Parses a fork's result. `None` if no function of this module wrote it: the bot can write to the pipe too."""
    line, end, _ = data.partition(b"\n")
    if not end:
        return None
    if line[:1] == b"=":
        return {"answer": line[1:].decode("ascii", "replace")}
    try:
        result = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) and set(result) <= ALLOWED_KEYS else None


def _read_answer(reader: int, child: int, limit_ms: Optional[float]) -> Tuple[bytes, bool]:
    """Reads one line from the fork, or what there is when it ends. Also returns whether that was in time.

    The host's clock decides about lateness. This clock only frees the bot's process from a call that hangs, so that the
    call costs one move and not the match. Like the host's clock, it does not count the time that the call waited for a
    processor."""
    began = time.monotonic()
    poller = select.poll()
    poller.register(reader, select.POLLIN)
    data = b""
    spare = None if limit_ms is None else float(limit_ms) + LATE_GRACE_MS
    while not data.endswith(b"\n") and len(data) <= MAX_ANSWER_BYTES:
        if not poller.poll(spare):
            charged = (time.monotonic() - began) * 1000 - run_queue_wait_ms(child)
            spare = float(limit_ms or 0) + LATE_GRACE_MS - charged
            if spare <= 0:
                return data, False
            spare = max(1.0, spare)
            continue
        chunk = _read(reader, 1 << 16)
        if not chunk:
            break
        data += chunk
    return data, True


def run_queue_wait_ms(process: int) -> float:
    """How long a process has been ready to run and waited for a processor."""
    try:
        with open(f"/proc/{process}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e6
    except (OSError, IndexError, ValueError):
        return 0.0
