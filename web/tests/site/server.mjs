// A real `agon serve` with a temporary folder, and API clients.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { program } from '../agon.mjs';
import { WAIT_TIMEOUT } from '../timeouts.mjs';

export const PASSWORD = 'a long sentence that is hard to guess';
const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

/** Environment with a Python that has NumPy: `AGON_PYTHON`, else the virtual environment of the project. */
export function environment() {
  const own = join(ROOT, '.venv/bin/python');
  return { ...process.env, AGON_PYTHON: process.env.AGON_PYTHON ?? (existsSync(own) ? own : 'python3') };
}

export class SiteServer {
  /** @type {string} */
  url = '';
  /** @type {string} Sign-up link of the first organiser. */
  invitation = '';
  folder = mkdtempSync(join(tmpdir(), 'agon-site-'));
  agon = program();
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #process;
  #output = '';

  /**
   * Starts a server and waits until it prints its address. `files` are competition files by name, which the server also shows.
   * @param {string[]} options
   * @param {{ [name: string]: string }} files
   */
  static async start(options = [], files = {}) {
    const server = new SiteServer();
    const folder = server.writeFiles('cups', Object.fromEntries(Object.entries(files).map(([name, text]) => [`${name}.toml`, text])));
    await server.#start([...options, ...Object.keys(files).map((name) => join(folder, `${name}.toml`))]);
    return server;
  }

  /** @param {string[]} options */
  #start(options) {
    // Ladder games would use half of the cores of all other tests.
    const practice = options.includes('--practice') ? [] : ['--practice', 'challenges'];
    const args = ['serve', '--listen', '127.0.0.1:0', '--data', join(this.folder, 'data'), ...practice, ...options];
    const server = spawn(this.agon, args, { stdio: ['ignore', 'ignore', 'pipe'], env: environment() });
    this.#process = server;
    return new Promise((done, failed) => {
      server.once('exit', (code) => failed(new Error(`agon serve ended with ${code}: ${this.#output}`)));
      server.stderr?.setEncoding('utf8').on('data', (text) => {
        this.#output += text;
        const [, url] = /Agon is at (\S+)\n/.exec(this.#output) ?? [];
        const [, invitation] = /\n {2}(http\S+)\n/.exec(this.#output) ?? [];
        if (url === undefined || invitation === undefined) return;
        [this.url, this.invitation] = [url, invitation];
        done(undefined);
      });
    });
  }

  /** Output of the server so far. */
  get output() {
    return this.#output;
  }

  async stop() {
    const server = this.#process;
    if (server && server.exitCode === null) {
      const ended = new Promise((done) => server.once('exit', done));
      server.kill('SIGTERM');
      // Do not wait for games in progress.
      const late = setTimeout(() => server.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(late);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * Writes files into a folder and returns its path.
   * @param {string} name
   * @param {{ [path: string]: string | Buffer }} files
   */
  writeFiles(name, files) {
    const folder = join(this.folder, name);
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    return folder;
  }

  /** Signs up the first organiser. */
  signUpOrganiser() {
    return ApiUser.signUp(this.url, 'Olga', new URL(this.invitation).searchParams.get('invite') ?? '');
  }
}

/** An API client with an account. */
export class ApiUser {
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
    const user = new ApiUser(url, name);
    await user.ask('POST', '/accounts', { name, password: PASSWORD, invitation });
    return user;
  }

  /**
   * Creates an invitation and returns its code.
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
    const answered = text === '' ? undefined : JSON.parse(text);
    if (typeof answered?.csrf === 'string') this.#csrf = answered.csrf;
    return answered;
  }

  /** @param {string} path */
  get(path) {
    return this.ask('GET', path);
  }

  /**
   * Creates a competition. `file` has no name, no game and no entrants.
   * @param {string} game
   * @param {string} id
   * @param {string} file
   * @param {string[]} house
   */
  async createCompetition(game, id, file, house, name = `The ${id}`) {
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
   * Submits a bot that must be accepted.
   * @param {string} id
   * @param {string} name
   * @param {{ [path: string]: string }} files
   * @param {string} [role]
   */
  async submitBot(id, name, files, role) {
    const answer = await this.submitAndCheck(id, name, files, role);
    if (answer.state !== 'accepted') throw new Error(`${name} is ${answer.state}: ${JSON.stringify(answer.report)}`);
    return answer;
  }

  /**
   * Submits a bot and waits for the result of its check.
   * @param {string} id
   * @param {string} name
   * @param {{ [path: string]: string }} files
   * @param {string} [role]
   */
  async submitAndCheck(id, name, files, role) {
    const form = new FormData();
    form.append('name', name);
    if (role !== undefined) form.append('role', role);
    for (const [path, content] of Object.entries(files)) form.append('file', new Blob([content]), path);
    const { id: number } = await this.ask('POST', `/competitions/${id}/bots`, form);
    return until(() => this.get(`/submissions/${number}`), (submission) => submission.state !== 'queued' && submission.state !== 'checking');
  }

  /**
   * Waits until a competition is in this state.
   * @param {string} id
   * @param {string} state
   */
  async waitForState(id, state) {
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
 * Polls until the answer is as expected.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {(answer: T) => boolean} good
 */
export async function until(ask, good, timeout = WAIT_TIMEOUT) {
  const end = Date.now() + timeout;
  for (;;) {
    const answer = await ask();
    if (good(answer)) return answer;
    if (Date.now() > end) throw new Error(`waited ${timeout / 1000} s; the last answer: ${JSON.stringify(answer)}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}
