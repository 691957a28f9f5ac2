// Slow Python bots for all five games, so that live games take a while.

/**
 * Files of a bot that waits a number of milliseconds before each answer.
 * @param {string} game
 * @param {number} ms
 * @returns {{ [path: string]: string }}
 */
export function slowBot(game, ms) {
  const think = `time.sleep(${ms / 1000})`;
  switch (game) {
    case 'solitude-scramble':
      return {
        'Submission.py': `
def get_action(state, match_history):
    total = 0
    for i in range(${Math.round(ms * 8000)}):
        total += i
    return ("LEFT", "RIGHT", "CENTER")[len(match_history) % 3]
`,
      };
    case 'colour-battle':
      return {
        'thinker.py': `
import time
from bot_control import Move


class Thinker:
    def get_name(self):
        return "Thinker"

    def get_contributor(self):
        return "Ada"

    def determine_next_move(self, grid, enemies, game_info):
        ${think}
        self.turn = getattr(self, "turn", 0) + 1
        return (Move.UP, Move.RIGHT, Move.DOWN, Move.LEFT)[self.turn // 5 % 4]
`,
      };
    case 'connect-five':
      return {
        'Thinker.py': `
import time


class Thinker:
    def get_move(self, board, player, T, N):
        ${think}
        return next(column for column in (0, 8, 2, 6, 4, 1, 7, 3, 5) if board[0][column] == 0)
`,
      };
    case 'hide-and-seek':
      return {
        'thinker.py': `
import time
from players import Player


class Seeker(Player):
    def move(self):
        ${think}
`,
      };
    case 'word-racer':
      return {
        'thinker.py': `
import time

board = ["."] * 49


def place(letter):
    ${think}
    position = board.index(".")
    board[position] = letter
    return position


board[24] = input().strip()
calls = input().strip() == "1"
while "." in board:
    if calls:
        letter = "ETAOINSHRDLU"[board.count(".") % 12]
        print(letter, place(letter), flush=True)
    else:
        print(place(input().strip()), flush=True)
    calls = not calls
`,
      };
    default:
      throw new Error(`no bot for ${game}`);
  }
}
