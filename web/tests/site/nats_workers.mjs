// A nats-server and workers for tests of a server whose games are played by workers.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../agon.mjs';
import { NATS } from '../needs.mjs';
import { environment, until } from './server.mjs';

export const hasNats = NATS !== undefined;

/** A free port. */
const freePort = () =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' ? address?.port : 0));
    });
  });

export class NatsWorkers {
  url = '';
  folder = mkdtempSync(join(tmpdir(), 'agon-machines-'));
  /** @type {Map<string, import('node:child_process').ChildProcess>} */
  #running = new Map();

  static async start() {
    const workers = new NatsWorkers();
    const port = await freePort();
    workers.url = `nats://127.0.0.1:${port}`;
    workers.#run('nats', NATS ?? 'nats-server', ['-js', '-a', '127.0.0.1', '-p', String(port), '-sd', join(workers.folder, 'nats')]);
    await until(() => listens(Number(port)), (there) => there);
    return workers;
  }

  /**
   * @param {string} name
   * @param {string} command
   * @param {string[]} args
   */
  #run(name, command, args) {
    const child = spawn(command, args, { stdio: 'ignore', env: environment() });
    this.#running.set(name, child);
    return child;
  }

  /**
   * Starts a worker.
   * @param {string} name
   */
  worker(name, jobs = 1) {
    return this.#run(name, program(), ['worker', '--nats', this.url, '--name', name, '--jobs', String(jobs), '--cache', join(this.folder, name)]);
  }

  /**
   * Waits until a worker has exited and returns its exit code.
   * @param {string} name
   */
  async waitForExit(name) {
    const child = this.#running.get(name);
    return until(async () => child?.exitCode ?? null, (code) => code !== null);
  }

  /** Stops all workers with SIGTERM, so that they remove their folders. The server must still run to receive their last reports. */
  async stopWorkers() {
    const workers = [...this.#running].filter(([name, child]) => name !== 'nats' && child.exitCode === null);
    for (const [, child] of workers) child.kill('SIGTERM');
    for (const [name] of workers) await this.waitForExit(name);
  }

  async stop() {
    for (const child of [...this.#running.values()].reverse()) {
      if (child.exitCode !== null) continue;
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
const listens = (port) =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
