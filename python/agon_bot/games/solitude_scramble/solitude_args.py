"""The arguments of a call of a Solitude Scramble bot. (Imports nothing: see `stateless_session.py`.)

A turn in the short form: twelve bytes as in `packet_channel.py`, the turn's number, the seat, this turn's deal (scores
of `PLATFORMS`, sides by number); then a row for each earlier turn, with its deal, moves and awards.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Tuple

    Message = Dict[str, Any]

PLATFORMS = ("CENTER", "NW", "NE", "SW", "SE")
"""In the order of the competition's document: a bot that takes the first of several equal platforms depends on it."""
SIDES = ("NORTH", "EAST", "SOUTH", "WEST")
MOVES = ("LEFT", "RIGHT", "CENTER", "NONE")
HEAD_BYTES, ROW_BYTES = 23, 17
"""Length of a turn in the short form without its rows, and of each row."""
_SAMPLE_DEAL = bytes([1, 2, 3, 4, 5, 0, 1, 2, 3])


def distinct(names: List[str], seats: int) -> List[str]:
    """Bot ids in seat order, made different from each other, because they are keys of dictionaries."""
    names = [*names, *[f"bot_{n}" for n in range(len(names), seats)]][:seats]
    ids: List[str] = []
    for seat, name in enumerate(names):
        number = seat + 1
        while name in ids or (name != names[seat] and name in names):
            name = f"{names[seat]} ({number})"
            number += 1
        ids.append(name)
    return ids


class SolitudeArgs:
    """The arguments of all calls of one game. Each call adds only the new turns to `history`.

    Written without loops: a fork copies every page that was touched since the last fork, and each kind of temporary
    object (a slice, a list, a function for a comprehension) touches one more page."""

    SOURCE_FILE = "Submission.py"
    ANSWERS = {"LEFT": b"LEFT", "RIGHT": b"RIGHT", "CENTER": b"CENTER"}
    SAMPLE_NAMES = ("a", "b", "c", "d")
    SAMPLE_TURN = bytes([1, *bytes(11), 3, 0]) + _SAMPLE_DEAL + (_SAMPLE_DEAL + bytes([0, 1, 2, 3, 0, 0, 1, 2])) * 2

    def __init__(self, names: List[str]) -> None:
        self.names = distinct(names, len(SIDES))
        self.history: List[Message] = []

    def state(self, data: Any) -> Message:
        """The state of a turn in the short form. Brings `history` up to date."""
        turn = data[12]
        history = self.history
        have = len(history)
        if have >= turn:
            del history[:]
            have = 0
        while have < turn - 1:
            history.append(self._past(data, have))
            have += 1
        return self._state(data)

    def _state(self, data: Any) -> Message:
        names = self.names
        seat = data[13]
        others = {
            names[0]: SIDES[data[19]],
            names[1]: SIDES[data[20]],
            names[2]: SIDES[data[21]],
            names[3]: SIDES[data[22]],
        }
        del others[names[seat]]
        return {
            "my_id": names[seat],
            "my_position": SIDES[data[19 + seat]],
            "current_turn": data[12],
            "platform_scores": {"CENTER": data[14], "NW": data[15], "NE": data[16], "SW": data[17], "SE": data[18]},
            "opponent_positions": others,
        }

    def _past(self, data: Any, number: int) -> Message:
        at = HEAD_BYTES + ROW_BYTES * number
        first, second, third, fourth = self.names
        awards = {}
        if data[at + 13]:
            awards[first] = data[at + 13]
        if data[at + 14]:
            awards[second] = data[at + 14]
        if data[at + 15]:
            awards[third] = data[at + 15]
        if data[at + 16]:
            awards[fourth] = data[at + 16]
        return {
            "turn": number + 1,
            "platform_scores": {
                "CENTER": data[at],
                "NW": data[at + 1],
                "NE": data[at + 2],
                "SW": data[at + 3],
                "SE": data[at + 4],
            },
            "player_move": {
                first: MOVES[data[at + 9]],
                second: MOVES[data[at + 10]],
                third: MOVES[data[at + 11]],
                fourth: MOVES[data[at + 12]],
            },
            "scores_awarded": awards,
            "players_map": {
                SIDES[data[at + 5]]: first,
                SIDES[data[at + 6]]: second,
                SIDES[data[at + 7]]: third,
                SIDES[data[at + 8]]: fourth,
            },
        }

    @staticmethod
    def from_observation(seen: Message, names: List[str]) -> Tuple[Message, List[Message]]:
        """The `state` and `match_history` of the competition's document, from an observation in JSON."""
        names = distinct(names, len(seen["sides"]))
        scores = [seen["platform_scores"][name] for name in PLATFORMS]
        history = [_past_turn(names, turn) for turn in seen["history"]]
        others = dict(zip(names, seen["sides"]))
        seat = seen["seat"]
        del others[names[seat]]
        state = {
            "my_id": names[seat],
            "my_position": seen["sides"][seat],
            "current_turn": seen["turn"],
            "platform_scores": dict(zip(PLATFORMS, scores)),
            "opponent_positions": others,
        }
        return state, history

    @classmethod
    def read_answer(cls, value: object) -> str:
        """One of the three moves. Calls none of the bot's code (see `answers.py`)."""
        from ...answers import describe
        from ...errors import garbled, illegal

        if not issubclass(type(value), str):
            raise garbled(f'get_action returned {describe(value)}, expected "LEFT", "RIGHT" or "CENTER"')
        text = str.__str__(value)  # type: ignore[arg-type]  # the characters themselves, ignoring overrides
        if text not in cls.ANSWERS:
            raise illegal(f'get_action returned {describe(text)}, expected "LEFT", "RIGHT" or "CENTER"')
        return text


def _past_turn(names: List[str], turn: Message) -> Message:
    """One entry of the document's `match_history`: `scores_awarded` holds only the bots that scored."""
    return {
        "turn": turn["turn"],
        "platform_scores": {name: turn["platform_scores"][name] for name in PLATFORMS},
        "player_move": dict(zip(names, turn["moves"])),
        "scores_awarded": {name: points for name, points in zip(names, turn["awards"]) if points},
        "players_map": dict(zip(turn["sides"], names)),
    }
