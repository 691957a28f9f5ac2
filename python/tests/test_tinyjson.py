"""The small JSON module gives the same as Python's for values of built-in types."""

import json
import random
import unittest

import bot_process  # noqa: F401  # finds the package

from agon_bot.tinyjson import dumps, loads

VALUES = [
    *(None, True, False, 0, -1, 7, 2**63, -(10**40), 0.5, -1e300, 1e-9, 3.0, 1e22),
    *("", "plain", 'quotes " and \\', "lines\n\r\t\x00\x1f\x7f", "ä€😀", "\ud800", "</script>", "\u2028"),
    *([], {}, [[]], [{}], {"": ""}, {"a": [1, {"b": None}]}, [1, [2, [3, [4]]]]),
]
BAD = ["", " ", "{", "[", "[1", "[1,", '"', '"a', "nul", "nonsense", "{1: 2}", "{'a': 1}", '{"a"}', '{"a":}', "[1 2]"]
BAD += ['"\n"', '"\\x"', '"\\u12"', "-", "+1", ".5", "]", "}", ",", '{"a": 1,}', "[,]"]
AFTER = ["1 2", "{} {}", "[]]", '"a" b', "{}x"]


def some_value(chance, depth=0):
    kind = chance.randrange(7 if depth < 4 else 5)
    if kind == 5:
        return [some_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 6:
        return {some_text(chance): some_value(chance, depth + 1) for _ in range(chance.randrange(4))}
    number = chance.randrange(-(10**6), 10**6)
    return [None, chance.random() < 0.5, number, number / 7, some_text(chance)][kind]


def some_text(chance):
    return "".join(chr(chance.choice([chance.randrange(128), chance.randrange(0x11000)])) for _ in range(chance.randrange(9)))


class TinyJson(unittest.TestCase):
    def same(self, value):
        text = dumps(value)
        self.assertEqual(text, json.dumps(value, separators=(",", ":")))
        for form in (text, json.dumps(value), json.dumps(value, ensure_ascii=False), json.dumps(value, indent=2)):
            found = loads(form)
            self.assertEqual((repr(found), type(found)), (repr(json.loads(form)), type(value)))

    def test_built_in_values_equal_json(self):
        for value in VALUES:
            with self.subTest(value=value):
                self.same(value)

    def test_random_values_equal_json(self):
        chance = random.Random(5)
        for _ in range(500):
            self.same(some_value(chance))

    def test_tuples_and_numeric_keys_equal_json(self):
        self.assertEqual(loads(dumps({"a": (1, (2,))})), {"a": [1, [2]]})
        self.assertEqual(loads(dumps({1: 2})), {"1": 2})

    def test_infinity_and_nan_are_rejected(self):
        for text in ("NaN", "Infinity", "-Infinity", "[NaN]"):
            self.assertEqual(repr(loads(text)), repr(json.loads(text)))
        for number in (float("inf"), -float("inf"), float("nan")):
            # The host cannot parse what Python writes for them.
            with self.subTest(number=number), self.assertRaises(ValueError):
                dumps(number)

    def test_bad_input_is_a_value_error(self):
        for text in BAD:
            with self.subTest(text=text), self.assertRaises(ValueError):
                loads(text)

    def test_text_after_the_value_is_rejected(self):
        for text in AFTER:
            with self.subTest(text=text), self.assertRaises(ValueError):
                loads(text)

    def test_white_space_around_the_value_is_accepted(self):
        for text in (' {"a": 1}', "[1]\n", "\n 5 \t"):
            with self.subTest(text=text):
                self.assertEqual(loads(text), json.loads(text))

    def test_other_types_are_rejected(self):
        class Text(str):
            pass

        for value in (Text("a"), {1}, b"bytes", object(), 1j, [Text("a")]):
            with self.subTest(value=value), self.assertRaises(TypeError):
                dumps(value)


if __name__ == "__main__":
    unittest.main()
