"""A bot for all five games: a random legal answer. The seed from the engine decides.

It uses the JSON-lines protocol of docs/protocol.md: one JSON object per line on stdin and on stdout.
Write debug output to stderr, never to stdout.
"""

import json
import sys


class Random:
    """xorshift32: small, and the same in every language."""

    def __init__(self, seed: str) -> None:
        self.state = int(seed) % 2**32 or 1

    def choice(self, options):
        x = self.state
        x = (x ^ x << 13) % 2**32
        x ^= x >> 17
        x = (x ^ x << 5) % 2**32
        self.state = x
        return options[x % len(options)]


def solitude_scramble(seen, rng):
    return rng.choice(["LEFT", "RIGHT", "CENTER"])


def colour_battle(seen, rng):
    return rng.choice(["UP", "DOWN", "LEFT", "RIGHT"])


def connect_five(seen, rng):
    top_row = seen["board"][0]
    return rng.choice([column for column in range(9) if top_row[column] == 0])


def hide_and_seek(seen, rng):
    game_map, (x, y) = seen["game_map"], seen["pos"]
    steps = {"LEFT": (x - 1, y), "RIGHT": (x + 1, y), "UP": (x, y - 1), "DOWN": (x, y + 1)}
    legal = [
        word
        for word, (x, y) in steps.items()
        if 0 <= x < len(game_map) and 0 <= y < len(game_map[x]) and game_map[x][y] == 0
    ]
    return rng.choice(legal or ["STAY"])


def word_racer(seen, rng):
    free = [position for position in range(49) if seen["board"][position] == "."]
    position = rng.choice(free)
    if seen["letter"] is not None:
        return position
    return f"{rng.choice('ETAOINSHRDLU')} {position}"


GAMES = {
    "solitude-scramble": solitude_scramble,
    "colour-battle": colour_battle,
    "connect-five": connect_five,
    "hide-and-seek": hide_and_seek,
    "word-racer": word_racer,
}


def main() -> None:
    play, rng = None, Random("1")
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "bye":
            break
        reply = {"id": message["id"]}
        if message["type"] == "hello":
            play = GAMES[message["game"]]
        elif message["type"] == "start":
            rng = Random(message["seed"])
        elif message["type"] == "turn":
            reply["answer"] = play(message["observation"], rng)
        print(json.dumps(reply), flush=True)


main()
