import json
from pathlib import Path

HERE = Path(__file__).parent


class Learner:
    """Its moves depend on all files that it has kept and can read."""

    def __init__(self):
        kept = HERE / "data" / "count.json"
        self.count = json.loads(kept.read_text())["count"] if kept.exists() else 0
        self.look()

    def look(self):
        self.read = 0
        for log in sorted((HERE / "logs").glob("*.json")):
            told = json.loads(log.read_text())
            self.read = (self.read * 31 + len(told["turns"])) % 1009

    def get_move(self, board, player, T, N):
        free = [column for column in range(len(board[0])) if board[0][column] == 0]
        return free[(self.count * 7 + self.read + N + sum(map(sum, board))) % len(free)]

    def adjust(self):
        self.count += 1
        self.look()

    def train(self):
        (HERE / "data").mkdir(exist_ok=True)
        (HERE / "data" / "count.json").write_text(json.dumps({"count": self.count}))
