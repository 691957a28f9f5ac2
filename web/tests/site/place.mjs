// A real `agon serve` with a folder of its own, and people who use its API.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { program } from '../agon.mjs';
import { WAIT_TIMEOUT } from '../patience.mjs';

export const PASSWORD = 'a long sentence nobody guesses';
const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

/** A Python with NumPy: `AGON_PYTHON`, else the project's own. */
export function environment() {
  const own = join(ROOT, '.venv/bin/python');
  return { ...process.env, AGON_PYTHON: process.env.AGON_PYTHON ?? (existsSync(own) ? own : 'python3') };
}

export class Place {
  /** @type {string} */
  url = '';
  /** @type {string} By this link the first organiser comes. */
  invitation = '';
  folder = mkdtempSync(join(tmpdir(), 'agon-site-'));
  agon = program();
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #process;
  #said = '';

  /**
   * Starts a server and waits until it says where it is. `files` are competitions (their names, what stands in them) that it shows, too.
   * @param {string[]} options
   * @param {{ [name: string]: string }} files
   */
  static async start(options = [], files = {}) {
    const place = new Place();
    const folder = place.lay('cups', Object.fromEntries(Object.entries(files).map(([name, text]) => [`${name}.toml`, text])));
    await place.#start([...options, ...Object.keys(files).map((name) => join(folder, `${name}.toml`))]);
    return place;
  }

  /** @param {string[]} options */
  #start(options) {
    const args = ['serve', '--listen', '127.0.0.1:0', '--data', join(this.folder, 'data'), ...options];
    const server = spawn(this.agon, args, { stdio: ['ignore', 'ignore', 'pipe'], env: environment() });
    this.#process = server;
    return new Promise((done, failed) => {
      server.once('exit', (code) => failed(new Error(`agon serve ended with ${code}: ${this.#said}`)));
      server.stderr?.setEncoding('utf8').on('data', (text) => {
        this.#said += text;
        const [, url] = /Agon is at (\S+)\n/.exec(this.#said) ?? [];
        const [, invitation] = /\n {2}(http\S+)\n/.exec(this.#said) ?? [];
        if (url === undefined || invitation === undefined) return;
        [this.url, this.invitation] = [url, invitation];
        done(undefined);
      });
    });
  }

  /** What the server has said so far. */
  get said() {
    return this.#said;
  }

  async stop() {
    const server = this.#process;
    if (server && server.exitCode === null) {
      const ended = new Promise((done) => server.once('exit', done));
      server.kill('SIGTERM');
      // Games in progress are given up: nobody waits for them.
      const late = setTimeout(() => server.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(late);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * Writes a bot's files into a folder of that name, and gives back its path.
   * @param {string} name
   * @param {{ [path: string]: string | Buffer }} files
   */
  lay(name, files) {
    const folder = join(this.folder, name);
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    return folder;
  }

  /** The first organiser, by the link. */
  organiser() {
    return Person.signUp(this.url, 'Olga', new URL(this.invitation).searchParams.get('invite') ?? '');
  }
}

/** Somebody with an account, by the API. */
export class Person {
  #url;
  #cookie = '';
  #csrf = '';
  name;

  /**
   * @param {string} url
   * @param {string} name
   */
  constructor(url, name) {
    this.#url = url;
    this.name = name;
  }

  /**
   * @param {string} url
   * @param {string} name
   * @param {string} invitation
   */
  static async signUp(url, name, invitation) {
    const person = new Person(url, name);
    await person.ask('POST', '/accounts', { name, password: PASSWORD, invitation });
    return person;
  }

  /**
   * The code of an invitation for so many.
   * @param {string} role
   */
  async invite(role, uses = 1) {
    return (await this.ask('POST', '/invitations', { role, note: '', uses, days: 1 })).code;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body] JSON, or a form.
   * @returns {Promise<any>}
   */
  async ask(method, path, body) {
    const form = body instanceof FormData;
    /** @type {{ [name: string]: string }} */
    const headers = { ...(body !== undefined && !form ? { 'Content-Type': 'application/json' } : {}) };
    if (this.#cookie !== '') headers.Cookie = this.#cookie;
    if (this.#csrf !== '') headers['X-CSRF-Token'] = this.#csrf;
    const answer = await fetch(`${this.#url}/api/v1${path}`, { method, headers, body: form ? body : body === undefined ? undefined : JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    const cookie = answer.headers.getSetCookie()[0];
    if (cookie !== undefined) this.#cookie = cookie.split(';')[0] ?? '';
    const said = text === '' ? undefined : JSON.parse(text);
    if (typeof said?.csrf === 'string') this.#csrf = said.csrf;
    return said;
  }

  /** @param {string} path */
  get(path) {
    return this.ask('GET', path);
  }

  /**
   * Makes a competition. `file` has no name, no game and no entrants.
   * @param {string} game
   * @param {string} id
   * @param {string} file
   * @param {string[]} house
   */
  async compete(game, id, file, house, name = `The ${id}`) {
    const text = `name = "${name}"\ngame = "${game}"\n\n${file}\n`;
    return this.ask('POST', '/competitions', { game, name, id, file: text, house, per_contributor: 10, max_bytes: 65_536 });
  }

  /**
   * @param {string} id
   * @param {string} action
   */
  act(id, action) {
    return this.ask('POST', `/competitions/${id}/actions`, { action });
  }

  /**
   * Hands in a bot that is good.
   * @param {string} id
   * @param {string} name
   * @param {{ [path: string]: string }} files
   * @param {string} [role]
   */
  async handIn(id, name, files, role) {
    const answer = await this.judged(id, name, files, role);
    if (answer.state !== 'accepted') throw new Error(`${name} is ${answer.state}: ${JSON.stringify(answer.report)}`);
    return answer;
  }

  /**
   * Hands in a bot and waits for the answer.
   * @param {string} id
   * @param {string} name
   * @param {{ [path: string]: string }} files
   * @param {string} [role]
   */
  async judged(id, name, files, role) {
    const form = new FormData();
    form.append('name', name);
    if (role !== undefined) form.append('role', role);
    for (const [path, content] of Object.entries(files)) form.append('file', new Blob([content]), path);
    const { id: number } = await this.ask('POST', `/competitions/${id}/bots`, form);
    return until(() => this.get(`/submissions/${number}`), (said) => said.state !== 'queued' && said.state !== 'checking');
  }

  /**
   * Waits until a competition is in this state.
   * @param {string} id
   * @param {string} state
   */
  async reaches(id, state) {
    return until(
      () => this.get(`/competitions/${id}`),
      (it) => {
        if (it.state === 'failed' && state !== 'failed') throw new Error(`${id} failed: ${it.message}`);
        return it.state === state;
      },
    );
  }
}

/**
 * Asks again and again until the answer is the one that is waited for, for at most so many milliseconds.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {(answer: T) => boolean} good
 */
export async function until(ask, good, patience = WAIT_TIMEOUT) {
  const end = Date.now() + patience;
  for (;;) {
    const answer = await ask();
    if (good(answer)) return answer;
    if (Date.now() > end) throw new Error(`waited ${patience / 1000} s in vain; the last answer: ${JSON.stringify(answer)}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}
