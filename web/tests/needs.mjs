// What some tests need and not every machine has.

import { existsSync } from 'node:fs';
import { CHROMIUM } from './agon.mjs';

const places = ['/usr/sbin', '/usr/bin', '/usr/local/bin', ...(process.env.PATH ?? '').split(':').filter((folder) => folder !== '')];

/** @type {string | undefined} The nats-server of this machine. */
export const NATS = places.map((folder) => `${folder}/nats-server`).find((path) => existsSync(path));

/** Whether there is a browser. */
export const hasBrowser = existsSync(CHROMIUM);

/** What is not there. */
export const missing = () => [...(hasBrowser ? [] : ['Chromium']), ...(NATS === undefined ? ['nats-server'] : [])];
