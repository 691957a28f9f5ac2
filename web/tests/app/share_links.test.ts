// Addresses of what can be shared.

import { describe, expect, test } from 'vitest';
import { clipAddress, embedCode, lastTurn, pageLink, pictureAddress, shareBot, shareCompetition, shareGame, sharePlayed, turnFromQuery, turnWithin } from '../../src/app/share_links';

const shared = shareGame('a – b', 'cup', 1, '2-15', 3, 40);
const game = shared.game!;

describe('addresses of what can be shared', () => {
  test('a game of a competition has a page, pictures and a replay to embed', () => {
    expect(shared.page).toBe('/c/cup/p/1/m/2-15/g/3');
    expect(shared.card).toBe('/api/v1/competitions/cup/phases/1/matches/2-15/games/3/card.png');
    expect(game.embed).toBe('/embed/cup/1/2-15/3');
    expect(pictureAddress(game, 0)).toBe('/api/v1/competitions/cup/phases/1/matches/2-15/games/3/picture.png?turn=0');
    expect(pageLink('https://agon.test', shared.page, 7)).toBe('https://agon.test/c/cup/p/1/m/2-15/g/3?t=7');
    expect(pageLink('https://agon.test', shared.page)).toBe('https://agon.test/c/cup/p/1/m/2-15/g/3');
  });

  test('other pages have a link and a card', () => {
    expect(sharePlayed('a – b', 'ab12', 9)).toMatchObject({ page: '/played/ab12', game: { embed: '/embed/played/ab12', last: 9 } });
    expect(shareBot('alpha', 'cup', 7)).toEqual({ title: 'alpha', page: '/c/cup/bots/7', card: '/api/v1/competitions/cup/bots/7/card.png' });
    expect(shareCompetition('Cup', 'cup').card).toBe('/api/v1/competitions/cup/card.png');
  });

  test('a GIF has its turns in order and within the game', () => {
    expect(clipAddress(game, { from: 9, to: 2, speed: 0 })).toMatch(/clip\.gif\?from=2&to=9$/);
    expect(clipAddress(game, { from: 0, to: 999, speed: 4 })).toMatch(/clip\.gif\?from=0&to=40&speed=4$/);
  });

  test('the HTML to embed has no markup of names', () => {
    const code = embedCode('https://agon.test', game, '"><script>', 5, true);
    expect(code).toContain('src="https://agon.test/embed/cup/1/2-15/3?t=5&amp;autoplay=1"');
    expect(code).not.toContain('<script>');
    expect(embedCode('https://agon.test', game, 'x', undefined, false)).toContain('src="https://agon.test/embed/cup/1/2-15/3"');
  });

  test('turns are read from links and limited to the game', () => {
    expect(turnFromQuery('?x=1&t=12')).toBe(12);
    expect(turnFromQuery('?t=-1')).toBeUndefined();
    expect(turnFromQuery('')).toBeUndefined();
    expect([turnWithin(-1, 9), turnWithin(3.4, 9), turnWithin(99, 9), turnWithin(Number.NaN, 9)]).toEqual([0, 3, 9, 9]);
    expect([lastTurn({ deltas: [1, 2] }), lastTurn(undefined), lastTurn({})]).toEqual([2, 0, 0]);
  });
});
