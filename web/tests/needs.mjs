// Programs that some tests need: a browser and nats-server.

import { existsSync } from 'node:fs';
import { CHROMIUM } from './agon.mjs';

const folders = ['/usr/sbin', '/usr/bin', '/usr/local/bin', ...(process.env.PATH ?? '').split(':').filter((folder) => folder !== '')];

/** @type {string | undefined} Path of the nats-server program. */
export const NATS = folders.map((folder) => `${folder}/nats-server`).find((path) => existsSync(path));

/** Whether Chromium is installed. */
export const hasBrowser = existsSync(CHROMIUM);

/** Names of the missing programs. */
export const missing = () => [...(hasBrowser ? [] : ['Chromium']), ...(NATS === undefined ? ['nats-server'] : [])];
