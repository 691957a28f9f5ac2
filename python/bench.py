#!/usr/bin/env python3
"""What the machinery in a Python bot's process costs: trivial bots, one process, no engine and no sandbox around it.

    python3 python/bench.py

`call` is from a request's line to the answer's line without any pipe: decoding, the objects a bot is handed, the
call, judging the answer, encoding.
"""

from __future__ import annotations

import base64
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "tests")]
os.environ.update(OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0")

BOTS = {
    "colour-battle": (
        "bot.py",
        "from ..bot_control import Move\nclass B:\n    def determine_next_move(self, grid, enemies, game_info):\n        return Move.UP\n",
    ),
    "connect-five": ("bot.py", "class B:\n    def get_move(self, board, player, T, N):\n        return 4\n"),
    "hide-and-seek": (
        "bot.py",
        "class Seeker(Player):\n    def move(self):\n        self.pos = (self.pos[0], self.pos[1])\n",
    ),
}


def seen(game: str) -> dict:
    """An observation of full size: 20 bots in Colour Battle, the last turn in Solitude."""
    import talk

    if game == "colour-battle":
        grid = [[(x * y) % 21 for x in range(36)] for y in range(36)]
        return talk.colour(size=36, grid=grid, places=[[n, n] for n in range(20)])
    if game == "connect-five":
        return talk.connect()
    return talk.hide()


def call(game: str, packed: bool, number: int = 3000) -> float:
    """Microseconds from line to line."""
    from agon_bot.loading import Target
    from agon_bot.session import Session

    class Line:
        def __init__(self, lines: list) -> None:
            self.lines = lines

        def receive_line(self) -> bytes:
            return self.lines.pop() if self.lines else None

        def send(self, message: dict) -> None:
            self.last = json.dumps(message, separators=(",", ":")).encode()

    with tempfile.TemporaryDirectory() as folder:
        name, text = BOTS[game]
        path = os.path.join(folder, "own", name)
        os.mkdir(os.path.dirname(path))
        with open(path, "w") as file:
            file.write(text)
        here = os.getcwd()
        line = Line([b'{"type":"start","id":2,"seed":"1"}', b'{"type":"hello","id":1,"seed":"1"}'])
        session = Session(line, game, Target.parse(path))
        session.run()
        observation = seen(game)
        if packed:
            observation["grid"] = base64.b64encode(bytes(sum(observation["grid"], []))).decode()
        message = {"type": "turn", "id": 3, "request": "move", "limit_ms": 20, "observation": observation}
        turn = json.dumps(message, separators=(",", ":")).encode()
        times = []
        for _ in range(5):
            line.lines = [turn] * number
            begun = time.perf_counter()
            session.run()
            times.append((time.perf_counter() - begun) / number * 1e6)
        assert "answer" in json.loads(line.last), line.last
        os.chdir(here)
        return min(times)


def solitude(mode: str, matches: int = 30) -> tuple[float, float]:
    """Microseconds for each call of a match, pipes included; and of processor time, the forks' included."""
    import talk

    bot = os.path.join(HERE, "tests", "bots", "solitude_random")
    with talk.Talk("solitude-scramble", bot, environment={"AGON_STATELESS": mode}) as host:
        turns = [talk.solitude(turn) for turn in range(1, 11)]
        begun, used = time.perf_counter(), processor_time(host.process.pid)
        for match in range(matches):
            host.start(match)
            for turn in turns:
                assert "answer" in host.turn(turn)
            host.ask(type="end")
        calls = 10 * matches / 1e6
        return (time.perf_counter() - begun) / calls, (processor_time(host.process.pid) - used) / calls


def processor_time(process: int) -> float:
    """Seconds on a processor, those of children that were waited for included."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def warm_start(number: int = 40) -> tuple[float, float]:
    """Milliseconds from the request to a loaded bot that imports NumPy, and its own memory (PSS) in MiB."""
    import test_zygote

    parent = test_zygote.Parent()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "Bot.py")
        with open(path, "w") as file:
            file.write("import numpy\nclass Bot:\n    def get_move(self, board, player, T, N):\n        return 4\n")
        times, memory, children = [], [], []
        for _ in range(number):
            begun = time.perf_counter()
            child = parent.bot(path)
            child.ask(type="hello", seed="1")
            times.append((time.perf_counter() - begun) * 1e3)
            children.append(child)
        for child in children:
            with open(f"/proc/{child.reply['pid']}/smaps_rollup") as file:
                memory.append(next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024)
            child.close()
    parent.close()
    return statistics.median(times), statistics.median(memory)


def main() -> None:
    for words in (["colour-battle"], ["colour-battle", "packed"], ["connect-five"], ["hide-and-seek"]):
        own = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True, check=True)
        print(f"{words[0]:20} call {words[-1] if len(words) > 1 else '':6}{float(own.stdout):8.1f} us")
    for mode in ("strict", "fresh", "audited"):
        wall, cpu = solitude(mode)
        print(f"solitude-scramble    {mode:10} {wall:8.1f} us a call, {cpu:8.1f} us of processor time")
    start, memory = warm_start()
    print(f"warm start, NumPy    {start:8.1f} ms, {memory:.1f} MiB PSS ({40} alive)")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(call(sys.argv[1], "packed" in sys.argv))
    else:
        main()
