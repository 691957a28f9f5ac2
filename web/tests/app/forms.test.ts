// Logic of the forms of authors and organisers: uploads, competition files, actions, validation.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { RequestError, parseError } from '../../src/app/api';
import { availableActions, isSlug, slug } from '../../src/app/actions';
import { Form } from '../../src/app/form.svelte';
import { itemsOf } from '../../src/app/lists';
import { lineSpan, configErrorsOf } from '../../src/app/config_errors';
import { nameError, passwordError } from '../../src/app/validation';
import { isIgnored, MAX_FILES, validateUpload, filesFromDrop, prepareUpload, type UploadFile } from '../../src/app/upload_files';
import { houseBots, withoutEntrants } from '../../src/app/preset';
import { shellQuote, submitCommand } from '../../src/app/submit_command';
import { admin } from '../../src/app/texts/admin';
import type { CompetitionState } from '../../src/app/types';

const item = (path: string, size = 10): UploadFile => ({ path, file: new File([new Uint8Array(size)], path.split('/').at(-1) ?? path) });
const size = (count: number): string => `${count} B`;

describe('prepareUpload and validateUpload', () => {
  test('a folder gives relative paths and the name', () => {
    const files = prepareUpload([item('loner/Submission.py'), item('loner/lib/odds.py'), item('loner/.git/config'), item('loner/__pycache__/x.pyc')]);
    expect(files.items.map((one) => one.path)).toEqual(['Submission.py', 'lib/odds.py']);
    expect([files.name, files.source]).toEqual(['loner', 'loner/']);
    expect(files.ignored).toHaveLength(2);
  });

  test('files without a common folder keep their paths', () => {
    expect(prepareUpload([item('a/x.py'), item('y.py')]).items.map((one) => one.path)).toEqual(['a/x.py', 'y.py']);
  });

  test('a single file gives the name', () => {
    const files = prepareUpload([item('Loner.v2.zip')]);
    expect([files.name, files.source]).toEqual(['Loner.v2', 'Loner.v2.zip']);
  });

  test('isIgnored ignores case and nothing else', () => {
    for (const path of ['.git/HEAD', 'a/__MACOSX/x', 'a/.DS_Store', 'Thumbs.db', 'a/b.PYC', '.venv/bin/python']) expect(isIgnored(path), path).toBe(true);
    for (const path of ['git/HEAD', 'a/pyc', 'data/x.json', 'agon.toml', 'bot.pyx']) expect(isIgnored(path), path).toBe(false);
  });

  test('valid files have no errors', () => {
    expect(validateUpload([item('Submission.py'), item('lib/odds.py')], 100, size)).toEqual([]);
    expect(validateUpload([item('Loner.zip')], 100, size)).toEqual([]);
  });

  test.each<[string, UploadFile[], RegExp]>([
    ['no files', [], /Choose/],
    ['too many bytes', [item('a.py', 60), item('b.py', 60)], /120 B.*100 B/],
    ['a zip and other files', [item('a.zip'), item('b.py')], /a\.zip.*alone/],
    ['an empty file', [item('a.py', 0)], /empty/],
    ['names that differ only in case', [item('Bot.py'), item('bot.py')], /Bot\.py and bot\.py/],
    ['a long path', [item(`${'x'.repeat(220)}.py`)], /too long/],
    ['too many files', Array.from({ length: MAX_FILES + 1 }, (_, i) => item(`${i}.py`, 0)), /1001 files/],
  ])('%s is an error', (_, items, message) => {
    expect(validateUpload(items, 100, size).join(' ')).toMatch(message);
  });
});

describe('filesFromDrop', () => {
  /** File system entries as in a browser: a folder's reader returns some entries per call, and none at the end. */
  const file = (name: string, readable = true): FileSystemEntry =>
    ({ isFile: true, isDirectory: false, name, file: (yes: (file: File) => void, no: () => void) => (readable ? yes(new File(['x'], name)) : no()) }) as unknown as FileSystemEntry;
  const folder = (name: string, inside: FileSystemEntry[]): FileSystemEntry =>
    ({
      isFile: false, isDirectory: true, name,
      createReader: () => {
        const left = [...inside];
        return { readEntries: (yes: (some: FileSystemEntry[]) => void) => yes(left.splice(0, 2)) };
      },
    }) as unknown as FileSystemEntry;
  const dropped = (...entries: FileSystemEntry[]): DataTransfer =>
    ({ items: entries.map((entry) => ({ kind: 'file', webkitGetAsEntry: () => entry })), files: [] }) as unknown as DataTransfer;

  test('a folder is read recursively without ignored folders', async () => {
    const closed = { ...folder('.git', []), createReader: () => { throw new Error('ignored folder was read'); } } as unknown as FileSystemEntry;
    const found = await filesFromDrop(dropped(folder('loner', [file('a.py'), file('b.py'), file('c.py'), folder('lib', [file('d.py')]), closed])));
    const files = prepareUpload(found);
    expect(files.items.map((one) => one.path)).toEqual(['a.py', 'b.py', 'c.py', 'lib/d.py']);
    expect(files.ignored).toEqual(['loner/.git/']);
  });

  test('an unreadable file is named in the error', async () => {
    await expect(filesFromDrop(dropped(folder('loner', [file('secret.py', false)])))).rejects.toThrow('loner/secret.py');
  });
});

describe('configErrorsOf', () => {
  test('structured errors are sorted by line', () => {
    const error = parseError(422, JSON.stringify({
      error: { code: 'bad-file', message: '2 mistakes', mistakes: [{ line: 23, column: 1, what: 'b', hint: '' }, { line: 17, column: 10, what: 'a', hint: 'h' }] },
    }), null);
    expect(configErrorsOf(error).map((one) => [one.line, one.what])).toEqual([[17, 'a'], [23, 'b']]);
  });

  test('other errors give an empty list', () => {
    expect(configErrorsOf(new RequestError(409, 'taken', 'There is a competition of this address already.'))).toEqual([]);
  });

  test('lineSpan returns the offsets of a line', () => {
    const text = 'one\ntwo\n\nfour';
    expect([1, 2, 3, 4, 9].map((line) => text.slice(...lineSpan(text, line)))).toEqual(['one', 'two', '', 'four', '']);
  });
});

describe('preset', () => {
  const FILE = 'game = "x"\n\n[[phase]]\nformat = "groups"\n\n# Who takes part.\n[[entrant]]\nbot = "house:random"\n\n[[entrant]]\nbot = "house:greedy"\n\n# [[entrant]]\n# bot = "mine"\n';

  test('withoutEntrants removes entrants, houseBots lists them', () => {
    expect(withoutEntrants(FILE)).toBe('game = "x"\n\n[[phase]]\nformat = "groups"\n');
    expect(houseBots(FILE)).toEqual(['random', 'greedy']);
  });

  test('a file in another order is not changed', () => {
    const other = `${FILE}\n[settings]\nturns = 3\n`;
    expect(withoutEntrants(other)).toBe(other);
    expect(withoutEntrants('game = "x"\n')).toBe('game = "x"\n');
  });
});

describe('organiser actions', () => {
  const STATES: CompetitionState[] = ['draft', 'open', 'closed', 'running', 'paused', 'waiting', 'over', 'failed'];

  test.each(STATES)('state %s has texts for all its actions', (state) => {
    for (const accepts of [true, false]) {
      const actions = availableActions(state, accepts);
      expect(actions.length === 0).toBe(state === 'over');
      for (const action of actions) expect(admin.action(action, 'Cup').label).not.toBe('');
      expect(admin.stateAbout(state, accepts)).not.toBe('');
    }
  });

  test('irreversible actions need a confirmation', () => {
    for (const action of ['start', 'next', 'delete', 'close'] as const) expect(admin.action(action, 'Cup').confirm, action).toBeDefined();
  });

  test('slug makes an id from a name', () => {
    expect(slug('  Spring Cup 2026! ')).toBe('spring-cup-2026');
    expect(slug('Öffentliche Übung')).toBe('offentliche-ubung');
    expect(slug('x'.repeat(47) + ' yes')).toBe('x'.repeat(47));
    for (const good of ['a', 'a-b', '26', slug('Ünder — the Sea')]) expect(isSlug(good), good).toBe(true);
    for (const bad of ['', '-a', 'a-', 'A', 'a b', 'x'.repeat(49)]) expect(isSlug(bad), bad).toBe(false);
  });
});

describe('Form', () => {
  afterEach(() => vi.unstubAllGlobals());

  test('run does nothing while a field has an error', async () => {
    const form = new Form(['name']);
    let done = 0;
    expect(await form.run({ name: 'no' }, async () => (done += 1))).toBe(false);
    expect([done, form.errorOf('name'), form.busy]).toEqual([0, 'no', false]);
    expect(await form.run({ name: '' }, async () => (done += 1))).toBe(true);
    expect([done, form.errorOf('name')]).toEqual([1, '']);
  });

  test('an error is shown at its field, or for the whole form', async () => {
    const form = new Form(['name']);
    await form.run({}, () => Promise.reject(new RequestError(409, 'taken', 'Taken.', { field: 'name', hint: 'Choose another.' })));
    expect([form.errorOf('name'), form.error]).toEqual(['Taken. Choose another.', undefined]);
    const other = new RequestError(409, 'taken', 'Taken.', { field: 'shoe' });
    await form.run({}, () => Promise.reject(other));
    expect([form.errorOf('name'), form.error]).toEqual(['', other]);
  });

  test('an expired CSRF token is replaced and the request is repeated once', async () => {
    const fetched = vi.fn(async () => new Response(JSON.stringify({ name: 'Agon', version: '1', signup: 'open', private: false, me: null, csrf: 'fresh' })));
    vi.stubGlobal('fetch', fetched);
    const form = new Form([]);
    let tries = 0;
    const old = (): Promise<never> => Promise.reject(new RequestError(403, 'csrf', 'Old.'));
    expect(await form.run({}, () => ((tries += 1) === 1 ? old() : Promise.resolve()))).toBe(true);
    expect([tries, fetched.mock.calls.length]).toEqual([2, 1]);
    tries = 0;
    expect(await form.run({}, () => ((tries += 1), old()))).toBe(false);
    expect(tries).toBe(2);
    tries = 0;
    await form.run({}, () => ((tries += 1), Promise.reject(new RequestError(403, 'not-allowed', 'No.'))));
    expect(tries).toBe(1);
  });

  test('a second run is refused while the first is busy', async () => {
    const form = new Form([]);
    let go: () => void = () => undefined;
    const first = form.run({}, () => new Promise<void>((yes) => (go = yes)));
    expect(await form.run({}, async () => undefined)).toBe(false);
    go();
    expect(await first).toBe(true);
  });
});

describe('validation and formatting', () => {
  test('names and passwords', () => {
    for (const good of ['Ada', 'Ada Lovelace', 'Łucja', '李雷', 'x'.repeat(40)]) expect(nameError(good), good).toBe('');
    for (const bad of ['', '  ', ' Ada', 'Ada ', 'x'.repeat(41), 'A\u202eda', 'A\u0000da', 'A\u200bda']) expect(nameError(bad), JSON.stringify(bad)).not.toBe('');
    expect(passwordError('nine char', 'Ada')).toMatch(/has 9/);
    expect(passwordError('ada lovelace', 'Ada Lovelace')).not.toBe('');
    expect(passwordError('long enough for all', 'Ada')).toBe('');
  });

  test('submitCommand quotes its arguments', () => {
    expect(shellQuote('my-bot/')).toBe('my-bot/');
    expect(shellQuote("it's; rm -rf")).toBe(`'it'\\''s; rm -rf'`);
    expect(submitCommand('https://a.example', 'cup', 'loner', { name: 'The Loner', role: 'seeker' })).toBe("agon submit https://a.example/c/cup loner --name 'The Loner' --role seeker");
    expect(submitCommand('https://a.example', 'cup', '', { versionOf: 'Loner' })).toBe('agon submit https://a.example/c/cup my-bot/ --version-of Loner');
  });

  test('itemsOf accepts an array or a page', () => {
    expect(itemsOf<number>(undefined)).toEqual([]);
    expect(itemsOf([1])).toEqual([1]);
    expect(itemsOf({ items: [1], next: null })).toEqual([1]);
  });
});
