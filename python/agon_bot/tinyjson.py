"""JSON without Python's `json` module, which imports regular expressions: each fork pays for memory (see
`stateless_session.py`)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    from _json import encode_basestring_ascii, make_scanner

    class _DecoderOptions:
        strict = True
        object_hook = None
        object_pairs_hook = None
        parse_float = float
        parse_int = int
        parse_constant = float
        memo: dict = {}

    _scan = make_scanner(_DecoderOptions)

    def loads(text: str) -> Any:
        """Parses a text that the host has written."""
        text = text.strip(" \t\r\n")
        try:
            value, end = _scan(text, 0)
        except StopIteration:
            raise ValueError("not JSON") from None
        if end != len(text):
            raise ValueError("not JSON: something follows the value")
        return value

    def dumps(value: Any) -> str:
        """A value of built-in types as JSON."""
        kind = type(value)
        if kind is str:
            return str(encode_basestring_ascii(value))
        if kind is dict:
            return "{" + ",".join([f"{dumps(str(k))}:{dumps(v)}" for k, v in value.items()]) + "}"
        if kind is list or kind is tuple:
            return "[" + ",".join([dumps(item) for item in value]) + "]"
        if value is None or kind is bool:
            return {None: "null", True: "true", False: "false"}[value]
        if kind is int or kind is float:
            if value - value != 0:
                raise ValueError("neither infinity nor nan is JSON")
            return repr(value)
        raise TypeError(f"not a built-in type: {kind.__name__}")

except ImportError:  # not CPython
    from json import dumps, loads  # type: ignore[assignment]
