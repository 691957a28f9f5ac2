// Draws the canvas: tiles once, when they change, and bots in every frame. Nothing is allocated while a film plays.

import { colour, letter, textColourOn } from '../../palette';
import type { ColourBattleFrame } from './view';

/** Largest side of the hidden canvas with the tiles, in pixels. */
const MAX_TILES_SIDE = 4096;
const DARK = '#101216';

export interface PaintOptions {
  letters: boolean;
  numbers: boolean;
  dark: boolean;
  chosenId: number | undefined;
  /** Number of the palette by id. */
  colours: number[];
}

export const idText = (id: number, numbers: boolean): string => (numbers ? String(id) : letter(id - 1));

/** A hidden canvas with all tiles. */
export class TilePainter {
  readonly canvas = document.createElement('canvas');
  private painted: number[] = [];
  private key = '';

  paint(now: ColourBattleFrame, wantedSize: number, options: PaintOptions): void {
    const size = Math.max(2, Math.min(Math.round(wantedSize), Math.floor(MAX_TILES_SIDE / now.side)));
    const key = `${size}/${now.side}/${options.letters}/${options.numbers}/${options.dark}/${options.chosenId}`;
    if (key === this.key && this.painted === now.grid) return;
    const context = this.canvas.getContext('2d');
    if (!context) return;
    if (key !== this.key) {
      this.canvas.width = this.canvas.height = size * now.side;
      this.painted = [];
      this.key = key;
    }
    context.font = `600 ${Math.floor(size * 0.62)}px system-ui, sans-serif`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    const { grid } = now;
    for (let tile = 0; tile < grid.length; tile += 1) {
      if (this.painted[tile] !== grid[tile]) paintTile(context, grid[tile] ?? 0, tile % now.side, now.side - 1 - Math.floor(tile / now.side), size, options);
    }
    this.painted = grid;
  }
}

function paintTile(context: CanvasRenderingContext2D, id: number, column: number, row: number, size: number, options: PaintOptions): void {
  const [x, y] = [column * size, row * size];
  const faint = options.chosenId !== undefined && id !== options.chosenId;
  const line = size >= 6 ? 1 : 0;
  context.fillStyle = options.dark ? '#c4c1b8' : '#e6e3db';
  context.fillRect(x, y, size, size);
  context.fillStyle = options.dark ? '#dcdad3' : '#ffffff';
  context.fillRect(x, y, size - line, size - line);
  if (id === 0) return;
  const own = options.colours[id] ?? id - 1;
  context.globalAlpha = faint ? 0.18 : 1;
  context.fillStyle = colour(own);
  context.fillRect(x, y, size, size);
  if ((options.letters || options.numbers) && size >= 8) {
    context.fillStyle = faint ? DARK : textColourOn(own);
    context.fillText(idText(id, options.numbers), x + size / 2, y + size * 0.54);
  }
  context.globalAlpha = 1;
}

/** Where the canvas is drawn: a tile is `size` pixels wide, and the upper left corner is at `(x, y)`. */
export interface Placing {
  x: number;
  y: number;
  size: number;
}

/** Lines along the last positions of each bot, darker towards the bot. The last step is drawn as far as the bot has come. */
export function paintTrails(context: CanvasRenderingContext2D, now: ColourBattleFrame, trail: Int16Array[], progress: number, at: Placing, options: PaintOptions): void {
  const { size } = at;
  const last = trail.length - 1;
  if (last < 1) return;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  for (const bot of now.bots) {
    const faint = options.chosenId !== undefined && bot.id !== options.chosenId;
    if (faint) continue;
    for (let half = 0; half < 2; half += 1) {
      const middle = last >> 1;
      context.beginPath();
      for (let i = half === 0 ? 0 : middle; i <= (half === 0 ? middle : last); i += 1) {
        let column = trail[i]?.[2 * bot.seat] ?? 0;
        let row = trail[i]?.[2 * bot.seat + 1] ?? 0;
        if (i === last) {
          const fromColumn = trail[i - 1]?.[2 * bot.seat] ?? column;
          const fromRow = trail[i - 1]?.[2 * bot.seat + 1] ?? row;
          column = fromColumn + (column - fromColumn) * progress;
          row = fromRow + (row - fromRow) * progress;
        }
        context.lineTo(at.x + (column + 0.5) * size, at.y + (now.side - 0.5 - row) * size);
      }
      context.globalAlpha = half === 0 ? 0.3 : 0.65;
      context.lineWidth = Math.max(2, size * 0.34);
      context.strokeStyle = DARK;
      context.stroke();
      context.globalAlpha = half === 0 ? 0.55 : 1;
      context.lineWidth = Math.max(1, size * 0.16);
      context.strokeStyle = colour(options.colours[bot.id] ?? bot.id - 1);
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

/** Frames around tiles that a bot took from another bot, and dashed ones around tiles that turned white. */
export function paintTaken(context: CanvasRenderingContext2D, now: ColourBattleFrame, at: Placing, options: PaintOptions): void {
  const { size } = at;
  const width = Math.max(1.5, size * 0.11);
  context.lineJoin = 'miter';
  context.lineCap = 'butt';
  for (const bot of now.bots) {
    if (bot.floor === undefined || bot.floor === 0 || bot.floor === bot.id || (bot.did !== 'painted' && bot.did !== 'wiped')) continue;
    if (options.chosenId !== undefined && bot.id !== options.chosenId && bot.floor !== options.chosenId) continue;
    const x = at.x + bot.position[0] * size;
    const y = at.y + (now.side - 1 - bot.position[1]) * size;
    context.lineWidth = width;
    context.strokeStyle = DARK;
    context.strokeRect(x - width, y - width, size + 2 * width, size + 2 * width);
    context.strokeStyle = '#ffffff';
    if (bot.did === 'wiped') context.setLineDash([size * 0.25, size * 0.2]);
    context.strokeRect(x, y, size, size);
    context.setLineDash([]);
  }
}

export function paintBots(context: CanvasRenderingContext2D, now: ColourBattleFrame, progress: number, at: Placing, options: PaintOptions): void {
  const { size } = at;
  context.font = `800 ${Math.max(8, Math.floor(size * 0.72))}px system-ui, sans-serif`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.lineCap = 'butt';
  for (const bot of now.bots) {
    const from = bot.from ?? bot.position;
    const x = at.x + (from[0] + (bot.position[0] - from[0]) * progress + 0.5) * size;
    const y = at.y + (now.side - 0.5 - from[1] - (bot.position[1] - from[1]) * progress) * size;
    const own = options.colours[bot.id] ?? bot.id - 1;
    context.globalAlpha = options.chosenId !== undefined && bot.id !== options.chosenId ? 0.35 : 1;
    context.beginPath();
    context.arc(x, y, size * 0.62, 0, 2 * Math.PI);
    context.fillStyle = colour(own);
    context.fill();
    context.lineWidth = Math.max(1.5, size * 0.12);
    context.strokeStyle = DARK;
    context.stroke();
    if (bot.fault !== undefined) {
      context.setLineDash([size * 0.2, size * 0.2]);
      context.strokeStyle = '#ff4d3d';
      context.stroke();
      context.setLineDash([]);
    }
    context.fillStyle = textColourOn(own);
    context.fillText(idText(bot.id, options.numbers), x, y + size * 0.04);
  }
  context.globalAlpha = 1;
}

/** Crosses on tiles where bots met. */
export function paintClashes(context: CanvasRenderingContext2D, now: ColourBattleFrame, at: Placing): void {
  const { size } = at;
  const r = size * 0.95;
  context.lineCap = 'butt';
  context.strokeStyle = '#d21f0f';
  context.lineWidth = Math.max(2, size * 0.16);
  for (const clash of now.clashes) {
    const x = at.x + (clash[0] + 0.5) * size;
    const y = at.y + (now.side - 0.5 - clash[1]) * size;
    context.beginPath();
    context.moveTo(x - r, y - r);
    context.lineTo(x + r, y + r);
    context.moveTo(x + r, y - r);
    context.lineTo(x - r, y + r);
    context.stroke();
  }
}
