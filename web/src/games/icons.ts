// Icons of all games, for the app. See parts.ts.

import type { Component } from 'svelte';
import { byGame } from './parts';

const ICONS = byGame(import.meta.glob<Component>('./*/Icon.svelte', { eager: true, import: 'default' }));

export const gameIcon = (id: string): Component | undefined => ICONS.get(id);
