// Texts of Colour Battle.

import { plural } from '../../text_format';

export const texts = {
  ids: 'Letters',
  numbers: 'Ids as numbers (key i)',
  trails: 'Trails',
  blank: (share: string) => `white ${share} %`,
  taken: (count: number) => plural(count, 'tile stolen', 'tiles stolen'),
  state: (leader: string, share: string, blank: string, clashes: number) =>
    `${leader} leads with ${share} %. White: ${blank} %.${clashes > 0 ? ` ${plural(clashes, 'clash', 'clashes')}.` : ''}`,
  start: (bots: number, side: number) => `${bots} bots on a canvas of ${side} by ${side} white tiles.`,
  canvas: (side: number) => `Canvas, ${side} by ${side} tiles, y axis upwards.`,
  chart: { title: 'Territory', what: 'share of the canvas', unit: '%' },
  surgeName: 'Surge',
  surge: (name: string, gain: string, rounds: number) => `${name} gains ${gain} % in ${plural(rounds, 'round')}`,
};
