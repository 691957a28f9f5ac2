// Logic of the organiser's forms, of the printable sheet and of the editor.

import { expect, test, vi } from 'vitest';
import { isFileName } from '../../src/app/editor/draft.svelte';
import { fileOf, findingsOf, tracebackPlace } from '../../src/app/editor/findings';
import { differences } from '../../src/app/editor/versions';
import { errorsAt, FileForm, valueAt } from '../../src/app/organiser/file_form.svelte';
import { FORMATS, foreignKeys } from '../../src/app/organiser/formats';
import { joinMoment, offsets, offsetText, splitMoment } from '../../src/app/organiser/moment';
import { qrCode } from '../../src/app/organiser/qr';
import { printedCell, sheetOf } from '../../src/app/organiser/sheet';
import { atMostEvery } from '../../src/app/organiser/dashboard_events';
import type { ChangedFile, CheckReport, FileChange, FileError, PhaseItem, PhaseStandings } from '../../src/app/types';

test('a moment is split into local time and time zone, and joined again', () => {
  expect(splitMoment('2027-04-26T23:59:00+02:00')).toEqual({ local: '2027-04-26T23:59', offset: '+02:00' });
  expect(splitMoment('2027-04-26 23:59:30.5z')).toEqual({ local: '2027-04-26T23:59', offset: 'Z' });
  for (const wrong of ['', '2027-04-26', '2027-04-26T23:59:00', 'tomorrow']) expect(splitMoment(wrong)).toBeUndefined();
  expect(joinMoment({ local: '2027-04-26T23:59', offset: '+02:00' })).toBe('2027-04-26T23:59:00+02:00');
  expect(joinMoment({ local: '', offset: 'Z' })).toBe('');
});

test('time zones are offsets from west to east', () => {
  expect([offsetText(0), offsetText(120), offsetText(-210), offsetText(345)]).toEqual(['Z', '+02:00', '-03:30', '+05:45']);
  expect(offsets('Z')).toContain('+05:30');
  expect(offsets('+01:23')).toContain('+01:23');
  expect(new Set(offsets('Z')).size).toBe(offsets('Z').length);
});

test('values and errors are found by their paths', () => {
  const values = { name: 'Cup', phase: [{ format: 'swiss' }, { settings: { seconds: 2 } }] };
  expect(valueAt(values, 'name')).toBe('Cup');
  expect(valueAt(values, 'phase.1.settings.seconds')).toBe(2);
  expect(valueAt(values, 'phase.7.name')).toBeUndefined();
  expect(valueAt(values, 'name.inner')).toBeUndefined();
  const error = (path: string | null): FileError => ({ path, line: 1, column: 1, what: 'wrong', hint: '' });
  const errors = [error('phase.1'), error('phase.1.settings.seconds'), error('phase.10'), error(null)];
  expect(errorsAt(errors, 'phase.1')).toHaveLength(1);
  expect(errorsAt(errors, 'phase.1', true)).toHaveLength(2);
});

test('a new format removes the keys of the old one', () => {
  expect(foreignKeys({ name: 'x', format: 'swiss', rounds: 5, swap: true }, 'knockout').sort()).toEqual(['rounds', 'swap']);
  expect(foreignKeys({ format: 'knockout', top: 8, third: true, hidden: true }, 'double-elimination')).toEqual(['third']);
  expect(Object.keys(FORMATS)).toHaveLength(8);
});

/** Answers like the server: the changes are appended to the text. */
function fakeServer(): { sent: { file: string; changes: FileChange[] }[]; release: () => void; send: (body: { file: string; changes: FileChange[] }) => Promise<ChangedFile> } {
  const sent: { file: string; changes: FileChange[] }[] = [];
  const waiting: (() => void)[] = [];
  return {
    sent,
    release: () => waiting.shift()?.(),
    send: (body) => {
      sent.push(body);
      return new Promise((resolve) => {
        waiting.push(() => resolve({ file: body.file + body.changes.map((one) => `\n${one.path}`).join(''), values: { name: body.file }, errors: [] }));
      });
    },
  };
}
const settle = async (): Promise<void> => {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
};

test('changes are made one after the other in the newest text', async () => {
  const server = fakeServer();
  const form = new FileForm('connect-five', undefined, server.send);
  void form.reset('a');
  await settle();
  void form.set('name', 'x');
  void form.set('about', '');
  expect(server.sent).toHaveLength(1);
  server.release();
  await settle();
  expect(server.sent[1]).toMatchObject({ file: 'a', changes: [{ change: 'set', path: 'name', value: 'x' }, { change: 'remove', path: 'about' }] });
  server.release();
  await settle();
  expect(form.text).toBe('a\nname\nabout');
  expect(form.busy).toBe(false);
});

test('a text that is edited while a change is on its way is not lost', async () => {
  const server = fakeServer();
  const form = new FileForm('connect-five', undefined, server.send);
  void form.reset('a');
  await settle();
  server.release();
  await settle();
  void form.set('name', 'x');
  form.text = 'b';
  await settle();
  server.release();
  await settle();
  expect(server.sent.at(-1)).toMatchObject({ file: 'b', changes: [{ path: 'name' }] });
  server.release();
  await settle();
  expect(form.text).toBe('b\nname');
});

test('a failed change keeps the text and shows the error', async () => {
  const form = new FileForm('connect-five', undefined, () => Promise.reject(new Error('no')));
  await form.reset('a');
  expect(form.text).toBe('a');
  expect(form.error).toBeInstanceOf(Error);
  expect(form.busy).toBe(false);
});

test('findings of a check are at the lines of the files', () => {
  const paths = ['bot.py', 'lib/search.py'];
  expect(fileOf('my-bot/bot.py', paths)).toBe('bot.py');
  expect(fileOf('search.py', paths)).toBe('lib/search.py');
  expect(fileOf('other.py', paths)).toBeUndefined();
  const trace = 'Traceback\n  File "bot.py", line 3, in move\n  File "/usr/lib/python3/json.py", line 9\n  File "lib/search.py", line 7, in best\n  File "/usr/lib/x.py", line 1';
  expect(tracebackPlace(trace, paths)).toEqual({ path: 'lib/search.py', line: 7 });
  expect(tracebackPlace('nothing', paths)).toBeUndefined();
  const finding = { file: null, line: null, what: 'it crashed', hint: '', trace };
  const report: CheckReport = {
    accepted: false,
    name: null,
    hash: null,
    steps: [
      { name: 'source', outcome: 'no', says: '', bad: [{ file: 'bot.py', line: 2, what: 'forbidden', hint: 'remove it', trace: '' }], advice: [] },
      { name: 'plays', outcome: 'no', says: '', bad: [finding], advice: [{ file: 'elsewhere.py', line: 1, what: 'slow', hint: '', trace: '' }] },
    ],
  };
  expect(findingsOf(report, paths)).toEqual([
    { path: 'bot.py', line: 2, severity: 'error', text: 'forbidden\nremove it' },
    { path: 'lib/search.py', line: 7, severity: 'error', text: 'it crashed' },
  ]);
  expect(findingsOf(null, paths)).toEqual([]);
});

test('file names of a draft are those that the server accepts', () => {
  for (const good of ['bot.py', 'lib/search tree.py', 'a-b_c+d.txt']) expect(isFileName(good), good).toBe(true);
  for (const bad of ['', '/bot.py', '../bot.py', 'a//b', '.hidden', 'a\\b', 'a ', 'x'.repeat(201)]) expect(isFileName(bad), bad).toBe(false);
});

test('differences list changed, added and removed files', () => {
  const file = (path: string, text: string | null, bytes = 1) => ({ path, text, bytes });
  expect(differences([file('a', '1'), file('b', '2'), file('c', null, 5)], [file('a', '1', 9), file('b', '3'), file('c', null, 6), file('d', '4')])).toEqual([
    { path: 'b', before: '2', after: '3' },
    { path: 'c', before: null, after: null },
    { path: 'd', before: undefined, after: '4' },
  ]);
  expect(differences([file('a', '1')], [])).toEqual([{ path: 'a', before: '1', after: undefined }]);
});

test('a QR code has three finders and a quiet zone', () => {
  const { size, path } = qrCode('https://example.org/c/cup');
  expect(size).toBeGreaterThan(25);
  const dark = new Set([...path.matchAll(/M(\d+) (\d+)/g)].map(([, x, y]) => `${x} ${y}`));
  for (const [x, y] of [[4, 4], [size - 11, 4], [4, size - 11]] as const) {
    for (let i = 0; i < 7; i += 1) expect(dark.has(`${x + i} ${y}`) && dark.has(`${x} ${y + i}`)).toBe(true);
    expect(dark.has(`${x + 1} ${y + 1}`)).toBe(false);
  }
  expect([...dark].every((one) => one.split(' ').every((n) => Number(n) >= 4 && Number(n) < size - 4))).toBe(true);
});

test('the sheet has official tables, the podium of finished phases and the ties', () => {
  const column = { id: 'points', title: 'Points', right: true, time: false, kind: 'number', decimals: 1, unit: '%' };
  expect([printedCell(null, column), printedCell('x', column), printedCell(2, column), printedCell({ low: 1, high: 2 }, column)]).toEqual(['', 'x', '2.0%', '1.0 – 2.0']);
  const phase = { number: 2, name: 'Final', format: 'knockout', state: 'published' } as PhaseItem;
  const sheet = { id: 'score', title: 'Score', official: true, columns: [column], rows: [{ entrant: 1, medal: 'gold', points: 3 }, { entrant: 0, medal: null, points: 1 }], notes: [], scale: null };
  const table = { sheets: [sheet, { ...sheet, id: 'other', official: false }] } as unknown as PhaseStandings;
  const bracket = { rounds: [{ name: 'final', matches: [{ match: '1-1', sides: [{ entrant: 1, seed: 1, score: '2', won: true }, { entrant: null, seed: null, score: '', won: false }], note: '' }] }], placing: [] };
  const printed = sheetOf(phase, table, bracket, (entrant) => `bot ${entrant}`);
  expect(printed.tables).toHaveLength(1);
  expect(printed.podium).toEqual([{ place: 1, name: 'bot 1', title: 'Score' }]);
  expect(printed.ties).toEqual([{ round: 'final', names: ['bot 1', '–'], score: '2 : ', won: 0 }]);
  expect(sheetOf({ ...phase, state: 'running' }, table, undefined, String).podium).toEqual([]);
});

test('an action is called at most once per interval, and after the last call', () => {
  vi.useFakeTimers({ now: 100_000 });
  try {
    let calls = 0;
    const limited = atMostEvery(1_000, () => (calls += 1));
    limited.call();
    limited.call();
    vi.advanceTimersByTime(0);
    expect(calls).toBe(1);
    limited.call();
    limited.call();
    vi.advanceTimersByTime(999);
    expect(calls).toBe(1);
    vi.advanceTimersByTime(1);
    expect(calls).toBe(2);
    limited.call();
    limited.stop();
    vi.advanceTimersByTime(5_000);
    expect(calls).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});
