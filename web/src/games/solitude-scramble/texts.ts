// Texts of Solitude Scramble.

import { list } from '../../text_format';

export const texts = {
  ready: 'Sides and points are dealt. All bots choose.',
  alone: (name: string, platform: string, points: number) => `${name} alone on ${platform}: +${points}`,
  collided: (names: string[], platform: string) => `${list(names)} meet on ${platform}: no points`,
  forfeited: (name: string) => `${name} forfeits its move`,
  chart: { title: 'Score', what: 'sum of points', unit: 'points' },
  crashName: 'Collision of three or more',
  crash: (bots: number, platform: string) => `${bots} bots collide on ${platform}`,
  history: 'Points per turn',
  row: (name: string) => `${name}, points per turn`,
  platforms: { NW: 'NW', NE: 'NE', SW: 'SW', SE: 'SE', CENTER: 'the centre' } as { [id: string]: string },
  sides: { NORTH: 'north', EAST: 'east', SOUTH: 'south', WEST: 'west' } as { [id: string]: string },
};
