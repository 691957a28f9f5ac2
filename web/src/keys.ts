// Keyboard shortcuts. A viewer handles keys that are pressed inside it. Keys pressed elsewhere on the page go to the viewer of which most is
// visible, except keys that mean something to the focused control.

/** What the focused element does with keys. */
export type Focus = 'page' | 'text' | 'button' | 'choice';

/** Handlers by key, as in `KeyboardEvent.key`. */
export type Commands = { [key: string]: () => void };

interface ElementLike {
  tagName: string;
  getAttribute(name: string): string | null;
  closest(selector: string): unknown;
}

const TEXT_INPUTS = ['text', 'search', 'email', 'password', 'url', 'tel', 'number', 'date', 'datetime-local', 'month', 'time', 'week', 'color', 'file'];
/** Controls that use arrow keys, Home and End. */
const CHOICES = 'input[type="range"], input[type="radio"], [role="slider"], [role="tab"], [role="radio"], [role="menuitem"], [role="option"], [role="gridcell"], [role="treeitem"]';
const BUTTONS = 'button, a[href], summary, input, [role="button"], [role="link"], [role="checkbox"], [role="switch"]';

export function focusOf(target: ElementLike): Focus {
  const tag = target.tagName.toLowerCase();
  const type = target.getAttribute('type') ?? 'text';
  if (tag === 'textarea' || tag === 'select' || (tag === 'input' && TEXT_INPUTS.includes(type))) return 'text';
  if (target.closest('[contenteditable]:not([contenteditable="false"]), [role="textbox"], [role="combobox"], [role="listbox"]')) return 'text';
  if (target.closest(CHOICES)) return 'choice';
  return target.closest(BUTTONS) ? 'button' : 'page';
}

/** Whether a viewer may handle a key. `inside`: the focused element belongs to the viewer. */
export function isShortcut(key: string, focus: Focus, inside: boolean): boolean {
  if (focus === 'text') return false;
  // Space and Enter press a focused button. The slider of the viewer is no button, and Space plays there.
  if ((key === ' ' || key === 'Enter') && (focus === 'button' || (focus === 'choice' && !inside))) return false;
  return inside || focus !== 'choice' || !/^(Arrow|Home|End|Page)/.test(key);
}

/** Index of the viewer with the largest visible area; undefined if none is visible. */
export function mostVisible(areas: number[]): number | undefined {
  const best = areas.reduce((a, b) => Math.max(a, b), 0);
  return best > 0 ? areas.indexOf(best) : undefined;
}

const VIEWER = '.agon-replay[data-filled]';
/** A board without controls is a picture: keys on the page are not for it. */
const PREVIEW = '[data-show="board"]';

function visibleArea(element: Element): number {
  const box = element.getBoundingClientRect();
  const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
  const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
  return Math.max(0, width) * Math.max(0, height);
}

function isAddressed(root: HTMLElement, target: Element): boolean {
  const own = target.closest(VIEWER);
  if (own) return own === root;
  // Keys in a dialog belong to the dialog.
  if (target.closest('dialog, [role="dialog"]') || document.querySelector('dialog[open]:modal')) return false;
  const viewers = [...document.querySelectorAll(`${VIEWER}:not(${PREVIEW})`)];
  return viewers[mostVisible(viewers.map(visibleArea)) ?? -1] === root;
}

/** Runs the command of a key. Returns whether there was one. */
export function handleKey(event: KeyboardEvent, root: HTMLElement, commands: Commands): boolean {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return false;
  const command = Object.hasOwn(commands, event.key) ? commands[event.key] : undefined;
  if (!command) return false;
  const target = event.target instanceof Element ? event.target : document.body;
  if (!isShortcut(event.key, focusOf(target), root.contains(target)) || !isAddressed(root, target)) return false;
  event.preventDefault();
  command();
  return true;
}
