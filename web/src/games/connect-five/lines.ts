// Threats: empty cells that complete five in a line.

export type Cell = [number, number];

const LENGTH = 5;
const DIRECTIONS: Cell[] = [[0, 1], [1, 0], [1, 1], [1, -1]];

export interface Threat {
  row: number;
  column: number;
  player: number;
  /** Whether the next piece in this column lands there. */
  open: boolean;
}

/** Cells in which a piece of a player makes five in a line. `board` has the top row first; 0 is empty. */
export function threats(board: number[][]): Threat[] {
  const found = new Map<string, Threat>();
  board.forEach((cells, row) =>
    cells.forEach((_, column) => {
      for (const [down, right] of DIRECTIONS) {
        const line = Array.from({ length: LENGTH }, (_, i): Cell => [row + i * down, column + i * right]);
        const players = line.map(([r, c]) => board[r]?.[c]);
        const empty = players.indexOf(0);
        const player = players.find((one) => one !== 0);
        if (player === undefined || empty < 0 || players.some((one, i) => i !== empty && one !== player)) continue;
        const [r, c] = line[empty] as Cell;
        const below = board[r + 1]?.[c];
        found.set(`${r} ${c} ${player}`, { row: r, column: c, player, open: below === undefined || below !== 0 });
      }
    }),
  );
  return [...found.values()];
}

/** Open threats that were not there before. */
export function newThreats(now: number[][], before: number[][]): Threat[] {
  const known = new Set(threats(before).filter((threat) => threat.open).map((threat) => `${threat.row} ${threat.column} ${threat.player}`));
  return threats(now).filter((threat) => threat.open && !known.has(`${threat.row} ${threat.column} ${threat.player}`));
}
