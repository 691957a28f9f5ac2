#!/usr/bin/env python3
"""Measures how close the times in Colour Battle's tables are to the truth.

Four Python bots that think for a known time (nothing, 2 us, 20 us, 200 us) play games with each other. The script compares
the mean time that `agon play` shows with the time that the same method takes when it is called directly. It prints a table
and exits with 1 if a difference is larger than 3 us.

    crates/agon/benches/own_times.py [PATH OF agon] [GAMES]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

MAX_DIFFERENCE_US = 3.0
ROUNDS = 1000
THINKS_US = {"empty": 0, "two": 2, "twenty": 20, "two_hundred": 200}

BOT = """from time import perf_counter_ns

from bot_control import Move


class Thinker:
    def get_name(self):
        return "{name}"

    def get_contributor(self):
        return "bench"

    def determine_next_move(self, grid, enemies, game_info):
        {think}return Move.STAY
"""
THINK = "end = perf_counter_ns() + {ns}\n        while perf_counter_ns() < end:\n            pass\n        "


def source(name: str, us: int) -> str:
    """A bot that thinks for this time."""
    return BOT.format(name=name, think=THINK.format(ns=us * 1000) if us else "")


def true_time_us(text: str) -> float:
    """Mean time of the method when it is called directly."""
    names: dict = {}
    exec(text.replace("from bot_control import Move", "class Move:\n    STAY = 5"), names)
    method = names["Thinker"]().determine_next_move
    calls = 5000
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter_ns()
        for _ in range(calls):
            method(None, None, None)
        best = min(best, (time.perf_counter_ns() - start) / calls / 1000)
    return best


def main() -> int:
    """Plays the games and prints the table."""
    agon = sys.argv[1] if len(sys.argv) > 1 else "target/release/agon"
    games = sys.argv[2] if len(sys.argv) > 2 else "20"
    sources = {name: source(name, us) for name, us in THINKS_US.items()}
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # started by root, bots run as another user
        for name, text in sources.items():
            with open(os.path.join(folder, f"{name}.py"), "w", encoding="utf-8") as file:
                file.write(text)
        bots = [os.path.join(folder, f"{name}.py") for name in sources]
        command = [agon, "play", "colour-battle", *bots, "--games", games, "--jobs", "1", "--seed", "1", "--json"]
        played = subprocess.run([*command, "--set", f"rounds={ROUNDS}"], stdout=subprocess.PIPE, check=True)
    seats = json.loads(played.stdout)["seats"]
    worst = 0.0
    print(f"{'bot':12} {'truth us':>9} {'shown us':>9} {'error us':>9} {'charged us':>11} {'empty us':>9}")
    for (name, text), seat in zip(sources.items(), seats):
        truth, times = true_time_us(text), seat["time_us"]
        error = times["own"] - truth
        worst = max(worst, abs(error))
        print(f"{name:12} {truth:9.2f} {times['own']:9.2f} {error:9.2f} {times['mean']:11.2f} {times['empty'] or 0:9.2f}")
    print(f"largest difference: {worst:.2f} us (at most {MAX_DIFFERENCE_US} us)")
    return 0 if worst <= MAX_DIFFERENCE_US else 1


if __name__ == "__main__":
    sys.exit(main())
