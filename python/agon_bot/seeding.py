"""Seeds for bots: the bot's seed decides what `random` and `numpy.random` return, so that a random bot repeats its
moves."""

from __future__ import annotations

import os
import sys

# Python's generator reseeds itself in every fork. This package seeds it in every fork anyway, and forks must be cheap,
# so `random` is imported without its fork handler.
_register = getattr(os, "register_at_fork", None)
if _register is not None:
    os.register_at_fork = lambda **_: None
try:
    import random
finally:
    if _register is not None:
        os.register_at_fork = _register

# `hashlib` would load all of OpenSSL for one hash.
try:
    from _sha512 import sha512  # type: ignore[import-not-found]
except ImportError:
    try:
        from _sha2 import sha512  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha512

# What `random.seed` does for an integer, without its checks.
_generator = random._inst  # type: ignore[attr-defined]
_seed_generator = super(random.Random, _generator).seed
_modules = sys.modules


def derive(*parts: object) -> int:
    """A 64-bit seed from seeds, turn numbers and the like. A change in any part changes the whole seed."""
    text = "/".join(str(part) for part in parts)
    return int.from_bytes(sha512(text.encode()).digest()[:8], "big")


def seed_all(seed: int) -> None:
    """Seeds Python's global generator, and NumPy's if it is loaded."""
    _seed_generator(seed)
    if _generator.gauss_next is not None:
        _generator.gauss_next = None
    numpy_random = _modules.get("numpy.random")
    if numpy_random is not None:
        # NumPy's legacy generator takes 32 bits.
        numpy_random.seed(seed & 0xFFFFFFFF)


def preload_numpy(path: str) -> None:
    """Imports NumPy's generator before the bot does, if the bot's files mention NumPy: a generator that is not loaded
    cannot be seeded, and a bot may draw numbers while it is loaded. Other bots do not pay for the import."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    try:
        files = [entry.path for entry in os.scandir(folder) if entry.name.endswith(".py")]
        mentioned = any(b"numpy" in open(file, "rb").read() for file in files)
        if mentioned:
            import numpy.random  # noqa: F401
    except (OSError, ImportError):
        pass
