"""From whatever a bot returned to one plain line of text.

A returned object may lie: about its class, its equality, its text. So nothing of the object is ever called: its
real type is looked at (`type(x)`, never `x.__class__` or `isinstance`, which believe the object), and its value is
taken by the built-in type's own slots.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, Optional, Tuple

from .errors import garbled, illegal, type_name

BEYOND = 2**63 - 1
"""An integer further out than this is as far outside any board as this one; longer ones need not travel."""
FAR = 2**31
"""A coordinate further out than this is as far off the map as this one."""

COLOUR_MOVES = ("UP", "DOWN", "LEFT", "RIGHT", "STAY")
SOLITUDE_MOVES = ("LEFT", "RIGHT", "CENTER")

_PLAIN = (int, bool, float, str, bytes, type(None), complex)
_NUMPY_WHOLE = (
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
    """Whether a type is one of these. By identity: `in` would ask the type's metaclass, which may lie."""
    return any(kind is known for known in kinds)


def describe(value: object) -> str:
    """A few words for what a bot returned, without calling any of its code."""
    kind = type(value)
    if kind is int and not -BEYOND <= value <= BEYOND:  # type: ignore[operator]
        return "a huge int"
    if _is_one_of(kind, (str, bytes)):
        return repr(value[:80])  # type: ignore[index]
    if _is_one_of(kind, _PLAIN):
        return repr(value)
    name = type_name(value)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name[:80]} object"


def _numpy_whole(value: object) -> Optional[int]:
    """A NumPy integer or bool, or an array of no dimension that holds one, as a Python int. Only NumPy's own types: a
    subclass could have methods of its own."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    kind = type(value)
    scalar = _is_one_of(kind, (getattr(numpy, name) for name in _NUMPY_WHOLE))
    if scalar or (kind is numpy.ndarray and value.ndim == 0 and value.dtype.kind in "iub"):  # type: ignore
        return int(value.item())  # type: ignore[attr-defined]
    return None


def whole_number(value: object, what: str) -> int:
    """The integer a bot returned: an int, a bool, an `IntEnum`, a NumPy integer or bool. A float is none, not even
    3.0."""
    if type(value) is int and -BEYOND <= value <= BEYOND:  # nearly always
        return value
    if issubclass(type(value), int):
        number = int.__add__(value, 0)  # type: ignore[operator]  # the value itself, past any override
    else:
        found = _numpy_whole(value)
        if found is None:
            raise garbled(f"{what} is {describe(value)}, expected a whole number")
        number = found
    return max(-BEYOND, min(BEYOND, number))


def column(value: object) -> str:
    """Connect Five: a column. Whether it is on the board and has room is for the rules to say."""
    return str(whole_number(value, "what get_move returned"))


def solitude_move(value: object) -> str:
    """Solitude Scramble: exactly one of three words."""
    if not issubclass(type(value), str):
        raise garbled(f'get_action returned {describe(value)}, expected "LEFT", "RIGHT" or "CENTER"')
    text = str.__str__(value)  # type: ignore[arg-type]  # the characters themselves, past any override
    if text not in SOLITUDE_MOVES:
        raise illegal(f'get_action returned {describe(text)}, expected "LEFT", "RIGHT" or "CENTER"')
    return text


def _enum() -> type:
    import enum  # not everybody needs it

    return enum.Enum


def colour_move(value: object) -> str:
    """Colour Battle: a member of `Move`. The member of another enumeration with the same name counts too: a bot may
    carry a copy of `bot_control.py` of its own."""
    if issubclass(type(value), _enum()):
        try:
            name = object.__getattribute__(value, "_name_")
        except AttributeError:
            name = None
        if type(name) is str and name in COLOUR_MOVES:
            return name
    raise garbled(f"determine_next_move returned {describe(value)}, expected a Move")


def cell(value: object) -> Tuple[int, int]:
    """Hide and Seek: a position, as a tuple, a list or an array of two whole numbers (whole floats too: `np.array`
    of a mean is one)."""
    numpy = sys.modules.get("numpy")
    kind = type(value)
    if numpy is not None and issubclass(kind, numpy.ndarray):
        items = numpy.ndarray.tolist(value)
    elif issubclass(kind, tuple):
        items = list(tuple.__iter__(value))  # type: ignore[arg-type]
    elif issubclass(kind, list):
        items = list(list.__iter__(value))  # type: ignore[arg-type]
    else:
        items = None
    if type(items) is not list or len(items) != 2:
        raise garbled(f"self.pos is {describe(value)} after move(), expected a position [x, y]")
    x, y = items
    if type(x) is int and type(y) is int and -FAR <= x < FAR and -FAR <= y < FAR:  # nearly always
        return x, y
    return _coordinate(x), _coordinate(y)


def _coordinate(value: object) -> int:
    """One coordinate, held to 32 bits: further out is off the map all the same."""
    if issubclass(type(value), float) and float.is_integer(value):  # type: ignore[arg-type]
        value = float.__int__(value)  # type: ignore[arg-type]
    number = whole_number(value, "a coordinate of self.pos")
    return max(-FAR, min(FAR - 1, number))
