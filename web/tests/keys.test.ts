// Which key presses belong to a viewer.

import { describe, expect, test } from 'vitest';
import { focusOf, isShortcut, mostVisible } from '../src/keys';

/** An element that is found by the selectors which contain one of its own names. */
const element = (tagName: string, type?: string, roles: string[] = []): Parameters<typeof focusOf>[0] => ({
  tagName,
  getAttribute: (name) => (name === 'type' ? (type ?? null) : null),
  closest: (selector) => {
    const own = [...roles.map((role) => `[role="${role}"]`), tagName.toLowerCase() === 'input' ? `input[type="${type}"]` : tagName.toLowerCase()];
    const parts = selector.split(', ');
    return parts.some((part) => own.includes(part) || (part === 'a[href]' && tagName === 'A') || (part === 'input' && tagName === 'INPUT')) || null;
  },
});

describe('focusOf', () => {
  test('fields in which one types', () => {
    for (const one of [element('TEXTAREA'), element('SELECT'), element('INPUT'), element('INPUT', 'search'), element('DIV', undefined, ['textbox'])])
      expect(focusOf(one)).toBe('text');
  });

  test('buttons, choices and the rest of the page', () => {
    expect(focusOf(element('BUTTON'))).toBe('button');
    expect(focusOf(element('A'))).toBe('button');
    expect(focusOf(element('INPUT', 'checkbox'))).toBe('button');
    expect(focusOf(element('INPUT', 'range'))).toBe('choice');
    expect(focusOf(element('A', undefined, ['tab']))).toBe('choice');
    expect(focusOf(element('BODY'))).toBe('page');
    expect(focusOf(element('H1'))).toBe('page');
  });
});

describe('isShortcut', () => {
  test('nothing is taken from a reader who types', () => {
    for (const key of [' ', 'f', 'ArrowRight', '+']) for (const inside of [true, false]) expect(isShortcut(key, 'text', inside)).toBe(false);
  });

  test('Space presses a focused button, other keys go to the viewer', () => {
    expect(isShortcut(' ', 'button', true)).toBe(false);
    expect(isShortcut(' ', 'button', false)).toBe(false);
    for (const key of ['ArrowRight', 'f', 'n', '+', 'Home']) for (const inside of [true, false]) expect(isShortcut(key, 'button', inside), key).toBe(true);
  });

  test('tabs and sliders of the page keep their keys, the slider of the viewer does not', () => {
    for (const key of ['ArrowRight', 'Home', 'End', ' ']) {
      expect(isShortcut(key, 'choice', false), key).toBe(false);
      expect(isShortcut(key, 'choice', true), key).toBe(true);
    }
    expect(isShortcut('n', 'choice', false)).toBe(true);
  });

  test('everything else on the page goes to the viewer', () => {
    for (const key of [' ', 'Enter', 'ArrowLeft', 'End', 'm']) expect(isShortcut(key, 'page', false)).toBe(true);
  });
});

test('mostVisible is the viewer of which most is seen', () => {
  expect(mostVisible([10, 400, 30])).toBe(1);
  expect(mostVisible([5, 5]), 'the first of equals').toBe(0);
  expect(mostVisible([0, 0])).toBeUndefined();
  expect(mostVisible([])).toBeUndefined();
});
