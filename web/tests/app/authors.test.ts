// What the authors' and organisers' pages decide by themselves, before and after the server is asked.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { Refusal, refusalOf } from '../../src/app/api';
import { deeds, isSlug, slug } from '../../src/app/deeds';
import { Form } from '../../src/app/form.svelte';
import { itemsOf, wayBack } from '../../src/app/lists';
import { lineSpan, mistakesOf } from '../../src/app/mistakes';
import { badName, badPassword } from '../../src/app/names';
import { isLitter, MOST_FILES, objections, ofDrop, pack, type Item } from '../../src/app/parcel';
import { houseBots, withoutEntrants } from '../../src/app/preset';
import { quoted, shellCommand } from '../../src/app/shell';
import { desk } from '../../src/app/texts/desk';
import type { State } from '../../src/app/types';

const item = (path: string, size = 10): Item => ({ path, file: new File([new Uint8Array(size)], path.split('/').at(-1) ?? path) });
const size = (count: number): string => `${count} B`;

describe('a parcel', () => {
  test('of a folder has the paths within it and the name of it', () => {
    const packed = pack([item('loner/Submission.py'), item('loner/lib/odds.py'), item('loner/.git/config'), item('loner/__pycache__/x.pyc')]);
    expect(packed.items.map((one) => one.path)).toEqual(['Submission.py', 'lib/odds.py']);
    expect([packed.name, packed.source]).toEqual(['loner', 'loner/']);
    expect(packed.litter).toHaveLength(2);
  });

  test('of files keeps folders that not all lie in', () => {
    expect(pack([item('a/x.py'), item('y.py')]).items.map((one) => one.path)).toEqual(['a/x.py', 'y.py']);
  });

  test('of one file is called like it', () => {
    const packed = pack([item('Loner.v2.zip')]);
    expect([packed.name, packed.source]).toEqual(['Loner.v2', 'Loner.v2.zip']);
  });

  test('leaves out litter whatever its case, and nothing else', () => {
    for (const path of ['.git/HEAD', 'a/__MACOSX/x', 'a/.DS_Store', 'Thumbs.db', 'a/b.PYC', '.venv/bin/python']) expect(isLitter(path), path).toBe(true);
    for (const path of ['git/HEAD', 'a/pyc', 'data/x.json', 'agon.toml', 'bot.pyx']) expect(isLitter(path), path).toBe(false);
  });

  test('can be sent when nothing is wrong with it', () => {
    expect(objections([item('Submission.py'), item('lib/odds.py')], 100, size)).toEqual([]);
    expect(objections([item('Loner.zip')], 100, size)).toEqual([]);
  });

  test.each<[string, Item[], RegExp]>([
    ['nothing', [], /Choose/],
    ['too much', [item('a.py', 60), item('b.py', 60)], /120 B.*100 B/],
    ['a zip with others', [item('a.zip'), item('b.py')], /a\.zip.*alone/],
    ['an empty file', [item('a.py', 0)], /empty/],
    ['names that are the same elsewhere', [item('Bot.py'), item('bot.py')], /Bot\.py and bot\.py/],
    ['a path that is too long', [item(`${'x'.repeat(220)}.py`)], /too long/],
    ['too many', Array.from({ length: MOST_FILES + 1 }, (_, i) => item(`${i}.py`, 0)), /1001 files/],
  ])('with %s is not sent', (_, items, words) => {
    expect(objections(items, 100, size).join(' ')).toMatch(words);
  });
});

describe('what is dropped', () => {
  /** As a browser gives them: a folder's reader tells some at a time, and nothing at its end. */
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

  test('a folder comes with everything in it, and no folder of litter is gone into', async () => {
    const closed = { ...folder('.git', []), createReader: () => { throw new Error('gone into'); } } as unknown as FileSystemEntry;
    const found = await ofDrop(dropped(folder('loner', [file('a.py'), file('b.py'), file('c.py'), folder('lib', [file('d.py')]), closed])));
    const packed = pack(found);
    expect(packed.items.map((one) => one.path)).toEqual(['a.py', 'b.py', 'c.py', 'lib/d.py']);
    expect(packed.litter).toEqual(['loner/.git/']);
  });

  test('a file that cannot be read is named', async () => {
    await expect(ofDrop(dropped(folder('loner', [file('secret.py', false)])))).rejects.toThrow('loner/secret.py');
  });
});

describe('mistakes in a file', () => {
  test('come by line as the server tells them', () => {
    const refusal = refusalOf(422, JSON.stringify({
      error: { code: 'bad-file', message: '2 mistakes', mistakes: [{ line: 23, column: 1, what: 'b', hint: '' }, { line: 17, column: 10, what: 'a', hint: 'h' }] },
    }), null);
    expect(mistakesOf(refusal).map((one) => [one.line, one.what])).toEqual([[17, 'a'], [23, 'b']]);
  });

  test('are read out of its words', () => {
    const refusal = new Refusal(422, 'bad-file', 'cup.toml: 2 mistakes', {
      details: ['error: cup.toml:17:10: there is no format "group"\n  17 | format = "group"\nhint: did you mean "groups"?', '18:1: there is no key `foo` here', 'line 3 is fine: 12:30 is a time'],
    });
    expect(mistakesOf(refusal)).toEqual([
      { line: 17, column: 10, what: 'there is no format "group"', hint: 'did you mean "groups"?' },
      { line: 18, column: 1, what: 'there is no key `foo` here', hint: '' },
    ]);
  });

  test('are none where something else is wrong', () => {
    expect(mistakesOf(new Refusal(409, 'taken', 'There is a competition of this address already.'))).toEqual([]);
  });

  test('a line is found in its text', () => {
    const text = 'one\ntwo\n\nfour';
    expect([1, 2, 3, 4, 9].map((line) => text.slice(...lineSpan(text, line)))).toEqual(['one', 'two', '', 'four', '']);
  });
});

describe('a preset', () => {
  const FILE = 'game = "x"\n\n[[phase]]\nformat = "groups"\n\n# Who takes part.\n[[entrant]]\nbot = "house:random"\n\n[[entrant]]\nbot = "house:greedy"\n\n# [[entrant]]\n# bot = "mine"\n';

  test('is shown without its entrants, whose house bots are known', () => {
    expect(withoutEntrants(FILE)).toBe('game = "x"\n\n[[phase]]\nformat = "groups"\n');
    expect(houseBots(FILE)).toEqual(['random', 'greedy']);
  });

  test('in another order is left as it is', () => {
    const other = `${FILE}\n[settings]\nturns = 3\n`;
    expect(withoutEntrants(other)).toBe(other);
    expect(withoutEntrants('game = "x"\n')).toBe('game = "x"\n');
  });
});

describe('the desk', () => {
  const STATES: State[] = ['draft', 'open', 'closed', 'running', 'paused', 'waiting', 'over', 'failed'];

  test.each(STATES)('knows what can be done when it is %s, in words', (state) => {
    for (const accepts of [true, false]) {
      const offered = deeds(state, accepts);
      expect(offered.length === 0).toBe(state === 'over');
      for (const deed of offered) expect(desk.deed(deed, 'Cup').label).not.toBe('');
      expect(desk.stateAbout(state, accepts)).not.toBe('');
    }
  });

  test('asks before what cannot be undone', () => {
    for (const deed of ['start', 'next', 'delete', 'close'] as const) expect(desk.deed(deed, 'Cup').ask, deed).toBeDefined();
  });

  test('makes an address of a name', () => {
    expect(slug('  Spring Cup 2026! ')).toBe('spring-cup-2026');
    expect(slug('Öffentliche Übung')).toBe('offentliche-ubung');
    expect(slug('x'.repeat(47) + ' yes')).toBe('x'.repeat(47));
    for (const good of ['a', 'a-b', '26', slug('Ünder — the Sea')]) expect(isSlug(good), good).toBe(true);
    for (const bad of ['', '-a', 'a-', 'A', 'a b', 'x'.repeat(49)]) expect(isSlug(bad), bad).toBe(false);
  });
});

describe('a form', () => {
  afterEach(() => vi.unstubAllGlobals());

  test('does nothing while a field is wrong', async () => {
    const form = new Form(['name']);
    let done = 0;
    expect(await form.run({ name: 'no' }, async () => (done += 1))).toBe(false);
    expect([done, form.of('name'), form.busy]).toEqual([0, 'no', false]);
    expect(await form.run({ name: '' }, async () => (done += 1))).toBe(true);
    expect([done, form.of('name')]).toEqual([1, '']);
  });

  test('tells a refusal at its field, and elsewhere if it has none', async () => {
    const form = new Form(['name']);
    await form.run({}, () => Promise.reject(new Refusal(409, 'taken', 'Taken.', { field: 'name', hint: 'Choose another.' })));
    expect([form.of('name'), form.error]).toEqual(['Taken. Choose another.', undefined]);
    const other = new Refusal(409, 'taken', 'Taken.', { field: 'shoe' });
    await form.run({}, () => Promise.reject(other));
    expect([form.of('name'), form.error]).toEqual(['', other]);
  });

  test('with an old word against forgery gets a fresh one and is sent once more, but only once', async () => {
    const fetched = vi.fn(async () => new Response(JSON.stringify({ name: 'Agon', version: '1', signup: 'open', private: false, me: null, csrf: 'fresh' })));
    vi.stubGlobal('fetch', fetched);
    const form = new Form([]);
    let tries = 0;
    const old = (): Promise<never> => Promise.reject(new Refusal(403, 'csrf', 'Old.'));
    expect(await form.run({}, () => ((tries += 1) === 1 ? old() : Promise.resolve()))).toBe(true);
    expect([tries, fetched.mock.calls.length]).toEqual([2, 1]);
    tries = 0;
    expect(await form.run({}, () => ((tries += 1), old()))).toBe(false);
    expect(tries).toBe(2);
    tries = 0;
    await form.run({}, () => ((tries += 1), Promise.reject(new Refusal(403, 'not-allowed', 'No.'))));
    expect(tries).toBe(1);
  });

  test('does one thing at a time', async () => {
    const form = new Form([]);
    let go: () => void = () => undefined;
    const first = form.run({}, () => new Promise<void>((yes) => (go = yes)));
    expect(await form.run({}, async () => undefined)).toBe(false);
    go();
    expect(await first).toBe(true);
  });
});

describe('words', () => {
  test('the way back stays on this site', () => {
    expect(wayBack('/c/cup?phase=2')).toBe('/c/cup?phase=2');
    for (const bad of [null, '', 'c/cup', '//evil.example', '/\\evil.example', 'https://evil.example', '/x\\y', '/a\nb', '/signin', '/signup?invite=x']) expect(wayBack(bad), String(bad)).toBe('/me');
    expect(wayBack('/signing-rules')).toBe('/signing-rules');
  });

  test('names and passwords', () => {
    for (const good of ['Ada', 'Ada Lovelace', 'Łucja', '李雷', 'x'.repeat(40)]) expect(badName(good), good).toBe('');
    for (const bad of ['', '  ', ' Ada', 'Ada ', 'x'.repeat(41), 'A\u202eda', 'A\u0000da', 'A\u200bda']) expect(badName(bad), JSON.stringify(bad)).not.toBe('');
    expect(badPassword('nine char', 'Ada')).toMatch(/has 9/);
    expect(badPassword('ada lovelace', 'Ada Lovelace')).not.toBe('');
    expect(badPassword('long enough for all', 'Ada')).toBe('');
  });

  test('the shell’s command is quoted', () => {
    expect(quoted('my-bot/')).toBe('my-bot/');
    expect(quoted("it's; rm -rf")).toBe(`'it'\\''s; rm -rf'`);
    expect(shellCommand('https://a.example', 'cup', 'loner', { name: 'The Loner', role: 'seeker' })).toBe("agon submit https://a.example/c/cup loner --name 'The Loner' --role seeker");
    expect(shellCommand('https://a.example', 'cup', '', { versionOf: 'Loner' })).toBe('agon submit https://a.example/c/cup my-bot/ --version-of Loner');
  });

  test('short lists come with or without an envelope', () => {
    expect(itemsOf<number>(undefined)).toEqual([]);
    expect(itemsOf([1])).toEqual([1]);
    expect(itemsOf({ items: [1], next: null })).toEqual([1]);
  });
});
