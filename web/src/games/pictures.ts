// Pictures of all games, for the app. See parts.ts; the file `Picture.svelte` of a game draws in a box of 320 by 180 units.

import type { Component } from 'svelte';
import { byGame } from './parts';

const PICTURES = byGame(import.meta.glob<Component>('./*/Picture.svelte', { eager: true, import: 'default' }));

export const gamePicture = (id: string): Component | undefined => PICTURES.get(id);
