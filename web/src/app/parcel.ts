// A bot's files on their way to the server: what was chosen or dropped, without what no bot needs, and whether it can be sent.

import { submit as texts } from './texts/submit';

/** A file, and where it lies in the bot's folder. */
export interface Item {
  path: string;
  file: File;
}

export interface Parcel {
  items: Item[];
  /** The name of the folder, file or zip, for a bot that has no name yet. */
  name: string;
  /** What the shell would call it: `loner/`, `Loner.zip`; empty for files that lie about. */
  source: string;
  /** Paths of what was left out. */
  litter: string[];
}

export const MOST_FILES = 1000;
const LONGEST_PATH = 200;

const LITTER_FOLDERS = new Set([
  '.git', '.hg', '.svn', '.idea', '.vscode', '.venv', '__pycache__', '__macosx', '.mypy_cache', '.pytest_cache', '.ruff_cache',
]);
const LITTER_FILES = new Set(['.ds_store', 'thumbs.db', 'desktop.ini', '.gitignore', '.gitattributes']);

/** Whether this is what editors, systems and Python leave lying about. */
export function isLitter(path: string): boolean {
  const parts = path.toLowerCase().split('/');
  const name = parts.pop() ?? '';
  return parts.some((part) => LITTER_FOLDERS.has(part)) || LITTER_FILES.has(name) || /\.py[co]$/.test(name);
}

export const isZip = (path: string): boolean => /\.zip$/i.test(path);

/** Packs what was chosen: litter out, and the folder that holds everything off, for paths are those in the bot's folder. */
export function pack(chosen: Item[]): Parcel {
  const litter = chosen.filter((item) => isLitter(item.path)).map((item) => item.path);
  let items = chosen.filter((item) => !isLitter(item.path));
  let [name, source] = ['', ''];
  const top = commonTop(items);
  if (top !== null) {
    [name, source] = [top, `${top}/`];
    items = items.map((item) => ({ ...item, path: item.path.slice(top.length + 1) }));
  } else if (items.length === 1) {
    source = (items[0] as Item).path;
    name = source.replace(/\.[^.]+$/, '');
  }
  items.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { items, name, source, litter };
}

/** The folder that all lie in. */
function commonTop(items: Item[]): string | null {
  const top = items[0]?.path.split('/')[0];
  if (top === undefined || items.some((item) => !item.path.startsWith(`${top}/`))) return null;
  return top;
}

export const total = (items: Item[]): number => items.reduce((sum, item) => sum + item.file.size, 0);

/** Everything that would be refused anyway, told before it is sent. */
export function objections(items: Item[], most: number, size: (bytes: number) => string): string[] {
  if (items.length === 0) return [texts.noFiles];
  const wrong: string[] = [];
  const zip = items.find((item) => isZip(item.path));
  if (zip && items.length > 1) wrong.push(texts.zipAlone(zip.path));
  const bytes = total(items);
  if (bytes > most) wrong.push(texts.tooLarge(size(bytes), size(most)));
  if (items.length > MOST_FILES) wrong.push(texts.tooMany(items.length, MOST_FILES));
  const seen = new Map<string, string>();
  for (const { path } of items) {
    const known = seen.get(path.toLowerCase());
    if (known !== undefined) wrong.push(texts.twice(known, path));
    seen.set(path.toLowerCase(), path);
    if (path.length > LONGEST_PATH) wrong.push(texts.longPath(path));
  }
  const only = items[0];
  if (items.length === 1 && only && only.file.size === 0) wrong.push(texts.emptyFile(only.path));
  return wrong;
}

/** What an <input type="file"> holds; with `webkitdirectory` each file knows its path. */
export function ofInput(files: Iterable<File>): Item[] {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** What was dropped, folders with everything in them. The entries must be asked for before anything is waited for. */
export async function ofDrop(transfer: DataTransfer): Promise<Item[]> {
  const entries = [...transfer.items].filter((item) => item.kind === 'file').map((item) => item.webkitGetAsEntry());
  const files = [...transfer.files];
  if (entries.some((entry) => entry === null)) return ofInput(files);
  const found: Item[] = [];
  for (const entry of entries) if (entry) await walk(entry, '', found);
  return found;
}

async function walk(entry: FileSystemEntry, above: string, found: Item[]): Promise<void> {
  const path = above === '' ? entry.name : `${above}/${entry.name}`;
  // What will be left out anyway need not be read: it can be very much.
  if (entry.isDirectory && isLitter(`${path}/x`)) {
    found.push({ path: `${path}/`, file: new File([], entry.name) });
    return;
  }
  if (found.length > 4 * MOST_FILES) return;
  if (entry.isFile) {
    const file = await new Promise<File>((yes, no) => (entry as FileSystemFileEntry).file(yes, () => no(new Error(texts.unreadable(path)))));
    found.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader gives a hundred at a time, and nothing when it is through.
    const some = await new Promise<FileSystemEntry[]>((yes, no) => reader.readEntries(yes, () => no(new Error(texts.unreadable(path)))));
    if (some.length === 0) return;
    for (const one of some) await walk(one, path, found);
  }
}
