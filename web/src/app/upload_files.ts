// Files of a bot that are chosen or dropped for upload: collection, filtering and validation.

import { submit as texts } from './texts/submit';

/** A file and its path in the bot's folder. */
export interface UploadFile {
  path: string;
  file: File;
}

export interface UploadFiles {
  items: UploadFile[];
  /** Name of the folder, file or zip: the default name of the bot. */
  name: string;
  /** Path for the command line, such as `loner/` or `Loner.zip`; empty for several loose files. */
  source: string;
  /** Paths of ignored files. */
  ignored: string[];
}

export const MAX_FILES = 1000;
const MAX_PATH_LENGTH = 200;

const IGNORED_FOLDERS = new Set([
  '.git', '.hg', '.svn', '.idea', '.vscode', '.venv', '__pycache__', '__macosx', '.mypy_cache', '.pytest_cache', '.ruff_cache',
]);
const IGNORED_FILES = new Set(['.ds_store', 'thumbs.db', 'desktop.ini', '.gitignore', '.gitattributes']);

/** Whether a file is created by an editor, the system or Python and not needed by a bot. */
export function isIgnored(path: string): boolean {
  const parts = path.toLowerCase().split('/');
  const name = parts.pop() ?? '';
  return parts.some((part) => IGNORED_FOLDERS.has(part)) || IGNORED_FILES.has(name) || /\.py[co]$/.test(name);
}

export const isZip = (path: string): boolean => /\.zip$/i.test(path);

/** Prepares chosen files: drops ignored files, and removes the common folder so that paths are relative to the bot's folder. */
export function prepareUpload(chosen: UploadFile[]): UploadFiles {
  const ignored = chosen.filter((item) => isIgnored(item.path)).map((item) => item.path);
  let items = chosen.filter((item) => !isIgnored(item.path));
  let [name, source] = ['', ''];
  const top = commonFolder(items);
  if (top !== null) {
    [name, source] = [top, `${top}/`];
    items = items.map((item) => ({ ...item, path: item.path.slice(top.length + 1) }));
  } else if (items.length === 1) {
    source = (items[0] as UploadFile).path;
    name = source.replace(/\.[^.]+$/, '');
  }
  items.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { items, name, source, ignored };
}

/** Folder that contains all files. */
function commonFolder(items: UploadFile[]): string | null {
  const top = items[0]?.path.split('/')[0];
  if (top === undefined || items.some((item) => !item.path.startsWith(`${top}/`))) return null;
  return top;
}

export const totalBytes = (items: UploadFile[]): number => items.reduce((sum, item) => sum + item.file.size, 0);

/** Errors that the server would report, found before the upload. */
export function validateUpload(items: UploadFile[], maxBytes: number, formatSize: (bytes: number) => string): string[] {
  if (items.length === 0) return [texts.noFiles];
  const errors: string[] = [];
  const zip = items.find((item) => isZip(item.path));
  if (zip && items.length > 1) errors.push(texts.zipAlone(zip.path));
  const bytes = totalBytes(items);
  if (bytes > maxBytes) errors.push(texts.tooLarge(formatSize(bytes), formatSize(maxBytes)));
  if (items.length > MAX_FILES) errors.push(texts.tooMany(items.length, MAX_FILES));
  const seen = new Map<string, string>();
  for (const { path } of items) {
    const known = seen.get(path.toLowerCase());
    if (known !== undefined) errors.push(texts.duplicate(known, path));
    seen.set(path.toLowerCase(), path);
    if (path.length > MAX_PATH_LENGTH) errors.push(texts.longPath(path));
  }
  const only = items[0];
  if (items.length === 1 && only && only.file.size === 0) errors.push(texts.emptyFile(only.path));
  return errors;
}

/** Files of an <input type="file">. With `webkitdirectory` they have paths. */
export function filesFromInput(files: Iterable<File>): UploadFile[] {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** Dropped files, including the content of folders. The entries must be read before the first `await`. */
export async function filesFromDrop(transfer: DataTransfer): Promise<UploadFile[]> {
  const entries = [...transfer.items].filter((item) => item.kind === 'file').map((item) => item.webkitGetAsEntry());
  const files = [...transfer.files];
  if (entries.some((entry) => entry === null)) return filesFromInput(files);
  const found: UploadFile[] = [];
  for (const entry of entries) if (entry) await walk(entry, '', found);
  return found;
}

async function walk(entry: FileSystemEntry, above: string, found: UploadFile[]): Promise<void> {
  const path = above === '' ? entry.name : `${above}/${entry.name}`;
  // Ignored folders can be large and are not read.
  if (entry.isDirectory && isIgnored(`${path}/x`)) {
    found.push({ path: `${path}/`, file: new File([], entry.name) });
    return;
  }
  if (found.length > 4 * MAX_FILES) return;
  if (entry.isFile) {
    const file = await new Promise<File>((yes, no) => (entry as FileSystemFileEntry).file(yes, () => no(new Error(texts.unreadable(path)))));
    found.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader returns about a hundred entries per call, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((yes, no) => reader.readEntries(yes, () => no(new Error(texts.unreadable(path)))));
    if (some.length === 0) return;
    for (const one of some) await walk(one, path, found);
  }
}
