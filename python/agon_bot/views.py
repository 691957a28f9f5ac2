"""What a Solitude bot is called with. (Imports nothing: see `lean.py`.)

A turn in the short form: twelve bytes as in `packets.py`, the turn's number, the seat, this turn's deal (scores of
`PLATFORMS`, sides by number); then a row for each turn before, with its deal, moves and awards.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

    Message = Dict[str, Any]

PLATFORMS = ("CENTER", "NW", "NE", "SW", "SE")
"""In the order of the competition's document: a bot that takes the first of several equals depends on it."""
SIDES = ("NORTH", "EAST", "SOUTH", "WEST")
MOVES = ("LEFT", "RIGHT", "CENTER", "NONE")
HEAD, ROW = 23, 17
"""How long a turn in the short form is, and each row after it."""


def distinct(names: List[str], seats: int) -> List[str]:
    """Bot ids in seat order, all different: they are keys of dictionaries."""
    names = [*names, *[f"bot_{n}" for n in range(len(names), seats)]][:seats]
    ids: List[str] = []
    for seat, name in enumerate(names):
        number = seat + 1
        while name in ids or (name != names[seat] and name in names):
            name = f"{names[seat]} ({number})"
            number += 1
        ids.append(name)
    return ids


class View:
    """Turns of one game, as they come. Of a game that goes on, only what is new is read.

    Written out where a loop would do: a fork pays for every page that was touched since the last one, here and there,
    and each kind of object made on the way (a slice, a list, a function for a comprehension) is a page more."""

    def __init__(self, names: List[str]) -> None:
        self.names = distinct(names, len(SIDES))
        self.history: List[Message] = []

    def state(self, data: Any) -> Message:
        """The state; the history is in `history` then."""
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
        at = HEAD + ROW * number
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
