// Texts of Hide and Seek.

import { plural } from '../../text_format';

export const texts = {
  viewpoint: 'Point of view',
  all: 'Everything',
  seeker: 'Seeker’s view',
  hider: 'Hider’s view',
  fog: 'Fog',
  heat: 'Heat map',
  visits: 'Visited cells',
  nearMiss: (distance: number) => `Near miss: ${plural(distance, 'step')} apart`,
  sighting: 'They see each other',
  momentName: 'Near miss or sighting',
  chart: { title: 'Distance', what: 'steps between the two, round the walls', unit: 'steps' },
  start: 'Start of the game.',
  moves: (name: string, where: string) => `${name} moves ${where}.`,
  stays: (name: string) => `${name} stays.`,
  faulted: (name: string, fault: string) => `${name} stays (${fault}).`,
  visible: 'They see each other.',
  notVisible: 'They do not see each other.',
  seesNow: (name: string) => `${name} sees the opponent.`,
  sawLast: (name: string, step: number) => (step === 0 ? `${name} has not seen the opponent yet.` : `${name} last saw the opponent in step ${step}.`),
  lastSeen: (step: number) => (step === 0 ? 'spawn' : `last seen in step ${step}`),
  step: (step: number, steps: number) => `step ${step} of ${steps}`,
  ended: (ending: string, score: number) => `${ending}: ${plural(score, 'step')}.`,
  map: 'Map, 20 by 20 cells',
  legend: 'Square: seeker. Circle: hider. Dashes: path. Ring: last known position of the opponent. Line: line of sight. Fog: cells that neither player sees.',
  heatLegend: 'Heat map: lower left half of a cell for the seeker, upper right half for the hider.',
  directions: { LEFT: 'left', RIGHT: 'right', UP: 'up', DOWN: 'down', STAY: 'nowhere' } as { [id: string]: string },
};
