// Fills a server so that every page has content: finished, running, open and draft competitions, good and bad bots.

import { slowBot } from './bots.mjs';
import { ApiUser, until } from './server.mjs';

/** A page, its user, and a selector that must match. @typedef {{ name: string, who: 'Ada' | 'Olga' | null, path: string, shows?: string }} Shown */
/** @typedef {{ pages: Shown[], embed: string, replay: string, organiser: ApiUser, ada: ApiUser, replays: { [game: string]: string } }} SampleSite */

/**
 * Competitions of the five games: small ones for tests, large ones for screenshots.
 * @param {boolean} large
 * @returns {{ [game: string]: { name: string, file: string, house: string[] } }}
 */
export const competitions = (large) => ({
  'solitude-scramble': {
    name: 'Solitude Scramble 2026',
    file: `[[phase]]\nname = "Seeding"\nformat = "groups"\nmatches = ${large ? 40 : 4}\n[[phase]]\nname = "Finals"\nformat = "groups"\nmatches = ${large ? 80 : 8}`,
    house: ['random', 'second-best', 'equilibrium', 'greedy', 'counter', 'mastermind'],
  },
  'colour-battle': {
    name: 'Colour Battle',
    file: `[settings]\nrounds = ${large ? 600 : 100}\n[[phase]]\nname = "Tournament"\nformat = "arena"\ngames = ${large ? 20 : 4}`,
    house: ['random', 'sweeper', 'short-sighted', 'seeker', 'drawn', 'planner'],
  },
  'connect-five': {
    name: 'Connect Five League',
    file: `[[phase]]\nname = "League"\nformat = "round-robin"\nlegs = ${large ? 4 : 1}\nparts = [{ games = 3, first_to = 3, seconds = 1 }]`,
    house: ['random', 'stacker', 'line-counter', 'tactician'],
  },
  'hide-and-seek': {
    name: 'Competitive Hide and Seek',
    file: `[settings]\nsteps = ${large ? 1500 : 200}\n[[phase]]\nname = "Championship"\nformat = "cross"\nboards = ${large ? 6 : 1}`,
    house: ['roaming-seeker', 'chasing-seeker', 'hunting-seeker', 'still-hider', 'running-hider', 'shadow-hider'],
  },
  'word-racer': {
    name: 'Word Racer',
    file: `[[phase]]\nname = "Round robin"\nformat = "round-robin"\nletters = "${large ? 'AES' : 'A'}"\nswap = true\n[[phase]]\nname = "Knockout"\nformat = "knockout"\ntop = 4\npairs = 2\nextra = 2\nthird = true`,
    house: ['random', 'filler', 'z-racer', 'rows', 'crossword', 'strategist'],
  },
});

const CLIMBER = `
class Climber:
    """Takes the first free column, and crashes in the third game."""

    def get_move(self, board, player, T, N):
        free = [column for column in (4, 3, 5, 2, 6, 1, 7, 0, 8) if board[0][column] == 0]
        print(f"game {N}: {len(free)} columns are free")
        if N == 2 and board[6][4] != 0:
            raise RuntimeError("I have not learnt to play a third game")
        return free[0]
`;

/**
 * @param {import('./server.mjs').SiteServer} server
 * @returns {Promise<SampleSite>}
 */
export async function fillSite(server, large = false) {
  const COMPETITIONS = competitions(large);
  const organiser = await server.signUpOrganiser();
  const ada = await ApiUser.signUp(server.url, 'Ada', await organiser.invite('author'));
  // The newest competition is listed first.
  for (const [game, { file, house, name }] of Object.entries(COMPETITIONS).reverse()) await organiser.createCompetition(game, game, file, house, name);
  await organiser.act('connect-five', 'open');
  const bot = await ada.submitBot('connect-five', 'Climber', { 'Climber.py': CLIMBER });
  const stranger = 'import os\n\n\nclass Stranger:\n    def move(self):\n        return os.listdir("/")\n';
  const refused = await ada.submitAndCheck('connect-five', 'Stranger', { 'Stranger.py': stranger });
  for (const game of Object.keys(COMPETITIONS)) await organiser.act(game, 'start');
  for (const game of Object.keys(COMPETITIONS)) await organiser.waitForState(game, 'over');
  await organiser.ask('POST', '/competitions/connect-five/rulings', { kind: 'disqualify', bot: (await entrant(organiser, 'connect-five', 'stacker')).bot, reason: 'It was entered twice.' });

  await organiser.createCompetition('connect-five', 'autumn', '[[phase]]\nformat = "round-robin"\nlegs = 2\nparts = [{ games = 9, seconds = 1 }]', ['random', 'tactician'], 'Autumn Cup');
  await organiser.act('autumn', 'open');
  await ada.submitBot('autumn', 'Climber', { 'Climber.py': CLIMBER });
  await organiser.createCompetition('word-racer', 'idea', '[[phase]]\nformat = "swiss"\nrounds = 3', ['random', 'rows', 'filler', 'crossword'], 'Only an idea');
  await organiser.createCompetition('connect-five', 'now', '[[phase]]\nname = "League"\nformat = "round-robin"\nlegs = 50\nparts = [{ games = 9, seconds = 1 }]', ['tactician', 'line-counter'], 'Played just now');
  await organiser.act('now', 'open');
  await ada.submitBot('now', 'Thinker', slowBot('connect-five', 400));
  await organiser.act('now', 'start');
  await until(() => organiser.get('/competitions/now/boards'), (boards) => boards.items.length > 0);

  /** @type {{ [game: string]: string }} */
  const replays = {};
  for (const game of Object.keys(COMPETITIONS)) {
    const { items } = await organiser.get(`/competitions/${game}/phases/1/matches?limit=1`);
    replays[game] = `/c/${game}/p/1/m/${items[0].match}/g/1`;
  }
  const replay = replays['connect-five'] ?? '';
  const embed = replay.replace(/^\/c\/(.*)\/p\/(.*)\/m\/(.*)\/g\/(.*)$/, '/embed/$1/$2/$3/$4');
  const unused = await organiser.invite('author');
  /** @type {Shown[]} */
  const pages = [
    { name: 'home', who: null, path: '/', shows: 'a[href="/c/autumn"]' },
    ...Object.keys(COMPETITIONS).map((game) => ({ name: `overview-${game}`, who: null, path: `/c/${game}`, shows: 'main article.match' })),
    { name: 'overview-open', who: null, path: '/c/autumn', shows: '.enter' },
    { name: 'overview-now', who: null, path: '/c/now', shows: 'main .board' },
    ...Object.keys(COMPETITIONS).map((game) => ({ name: `table-${game}`, who: null, path: `/c/${game}/standings`, shows: 'main table' })),
    ...Object.entries(replays).map(([game, path]) => ({ name: `replay-${game}`, who: null, path: `${path}#t=4`, shows: '.replay[data-panel-turn="4"]' })),
    { name: 'embed', who: null, path: `${embed}#t=4`, shows: '.replay[data-panel-turn="4"]' },
    { name: 'games', who: null, path: '/c/connect-five/watch/games', shows: 'main table' },
    ...['standings/schedule', 'rules', 'proof'].map((view) => ({ name: view.replace('standings/', ''), who: null, path: `/c/connect-five/${view}`, shows: 'main h2' })),
    ...['connect-five', 'colour-battle'].map((game) => ({ name: `charts-${game}`, who: null, path: `/c/${game}/analysis`, shows: 'main .axis span' })),
    { name: 'bracket', who: null, path: '/c/word-racer/standings/bracket', shows: 'a.match' },
    { name: 'live', who: null, path: '/c/now/watch', shows: '.replay' },
    { name: 'live-over', who: null, path: '/c/word-racer/watch' },
    { name: 'no-such-game', who: null, path: replay.replace(/g\/1$/, 'g/9'), shows: 'main a.button' },
    { name: 'bot', who: null, path: `/c/connect-five/bots/${bot.bot}`, shows: 'main table' },
    { name: 'games-all', who: null, path: '/games', shows: 'main h2' },
    ...Object.keys(COMPETITIONS).map((game) => ({ name: `game-${game}`, who: null, path: `/games/${game}`, shows: 'main h2' })),
    { name: 'signin', who: null, path: '/signin', shows: 'form' },
    { name: 'signup', who: null, path: `/signup?invite=${unused}`, shows: 'form' },
    { name: 'signup-wrong', who: null, path: '/signup?invite=nothing-like-it' },
    { name: 'nowhere', who: null, path: '/nowhere' },
    { name: 'me', who: 'Ada', path: '/me', shows: 'main form' },
    { name: 'my-bot', who: 'Ada', path: `/c/connect-five/bots/${bot.bot}`, shows: 'main table' },
    { name: 'submit', who: 'Ada', path: '/c/autumn/submit', shows: '.zone' },
    { name: 'submit-closed', who: 'Ada', path: '/c/word-racer/submit' },
    { name: 'accepted', who: 'Ada', path: `/s/${bot.id}`, shows: '.step' },
    { name: 'refused', who: 'Ada', path: `/s/${refused.id}`, shows: '.step.no' },
    { name: 'dashboard', who: 'Olga', path: '/admin', shows: 'form' },
    ...['idea', 'autumn', 'now', 'connect-five'].map((id) => ({ name: `dashboard-${id}`, who: /** @type {const} */ ('Olga'), path: `/admin/c/${id}`, shows: 'textarea' })),
    { name: 'users', who: 'Olga', path: '/admin/users', shows: 'form' },
    { name: 'system', who: 'Olga', path: '/admin/system', shows: 'main table' },
    { name: 'workers', who: 'Olga', path: '/admin/workers', shows: 'main strong' },
    { name: 'audit', who: 'Olga', path: '/admin/audit', shows: 'main li' },
  ];
  return { pages, embed, replay, organiser, ada, replays };
}

/**
 * @param {ApiUser} user
 * @param {string} id
 * @param {string} name
 */
async function entrant(user, id, name) {
  const { entrants } = await user.get(`/competitions/${id}`);
  return entrants.find((/** @type {{ name: string }} */ one) => one.name === name);
}
