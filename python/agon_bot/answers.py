"""Functions that games use to turn the object that a bot returned into an answer.

A returned object may lie about its class, its equality and its text. So no method of the object is ever called. These
functions look at its real type (`type(x)`, never `x.__class__` or `isinstance`, which the object can fake) and read its
value with the methods of the built-in type.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, Optional

from .errors import garbled, type_name

MAX_INTEGER = 2**63 - 1
"""Larger integers are sent as this one: both are outside every board."""
MAX_COORDINATE = 2**31
"""Larger coordinates are sent as this one: both are off every map."""

_BUILTIN_TYPES = (int, bool, float, str, bytes, type(None), complex)
_NUMPY_INTEGERS = (
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "longlong",
    "ulonglong",
    "intp",
)


def _is_one_of(kind: type, kinds: Iterable[type]) -> bool:
    """Whether a type is one of several. By identity: `in` would call the type's metaclass, which may lie."""
    return any(kind is known for known in kinds)


def describe(value: object) -> str:
    """A short description of a returned value. Calls none of the bot's code."""
    kind = type(value)
    if kind is int and not -MAX_INTEGER <= value <= MAX_INTEGER:  # type: ignore[operator]
        return "a huge int"
    if _is_one_of(kind, (str, bytes)):
        return repr(value[:80])  # type: ignore[index]
    if _is_one_of(kind, _BUILTIN_TYPES):
        return repr(value)
    name = type_name(value)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name[:80]} object"


def _numpy_integer(value: object) -> Optional[int]:
    """A NumPy integer or bool, or an array without dimensions that holds one, as a Python int. Only NumPy's types: a
    subclass could override methods."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    kind = type(value)
    scalar = _is_one_of(kind, (getattr(numpy, name) for name in _NUMPY_INTEGERS))
    if scalar or (kind is numpy.ndarray and value.ndim == 0 and value.dtype.kind in "iub"):  # type: ignore
        return int(value.item())  # type: ignore[attr-defined]
    return None


def whole_number(value: object, what: str) -> int:
    """The integer that a bot returned: an int, a bool, an `IntEnum`, a NumPy integer or bool. A float is not accepted,
    not even 3.0."""
    if type(value) is int and -MAX_INTEGER <= value <= MAX_INTEGER:  # the usual case
        return value
    if issubclass(type(value), int):
        number = int.__add__(value, 0)  # type: ignore[operator]  # the value itself, ignoring overrides
    else:
        found = _numpy_integer(value)
        if found is None:
            raise garbled(f"{what} is {describe(value)}, expected a whole number")
        number = found
    return max(-MAX_INTEGER, min(MAX_INTEGER, number))


def whole_coordinate(value: object, what: str) -> int:
    """A coordinate, limited to 32 bits: anything further out is off every map."""
    if issubclass(type(value), float) and float.is_integer(value):  # type: ignore[arg-type]
        value = float.__int__(value)  # type: ignore[arg-type]
    number = whole_number(value, what)
    return max(-MAX_COORDINATE, min(MAX_COORDINATE - 1, number))
