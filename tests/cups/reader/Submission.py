# In the second phase what was published of the first lies beside the bot.
import json
from pathlib import Path

FILE = Path(__file__).parent / "history.json"
KNOWN = len(json.loads(FILE.read_text())["matches"]) if FILE.exists() else 0


def get_action(state, match_history):
    return ["LEFT", "RIGHT", "CENTER"][(KNOWN + state["current_turn"]) % 3]
