// Texts of Hide and Seek.

import { plural } from '../../text_format';

export const texts = {
  viewpoint: 'Point of view',
  all: 'Everything',
  seeker: 'Seeker’s view',
  hider: 'Hider’s view',
  field: 'Field of view',
  start: 'Start of the game.',
  moves: (name: string, where: string) => `${name} moves ${where}.`,
  stays: (name: string) => `${name} stays.`,
  faulted: (name: string, fault: string) => `${name} stays (${fault}).`,
  visible: 'They see each other.',
  notVisible: 'They do not see each other.',
  lastSeen: (step: number) => (step === 0 ? 'spawn' : `last seen in step ${step}`),
  step: (step: number, steps: number) => `step ${step} of ${steps}`,
  ended: (ending: string, score: number) => `${ending}: ${plural(score, 'step')}.`,
  map: 'Map, 20 by 20 cells',
  legend: 'Dashes: path. Ring: last known position of the opponent. Line: line of sight.',
  directions: { LEFT: 'left', RIGHT: 'right', UP: 'up', DOWN: 'down', STAY: 'nowhere' } as { [id: string]: string },
};
