// Differences between the files of two versions.

export interface FileDifference {
  path: string;
  /** Undefined if there is no such file; null if it is not text. */
  before: string | null | undefined;
  after: string | null | undefined;
}

interface VersionFile {
  path: string;
  bytes: number;
  text: string | null;
}

/** Files that differ, by path. Files that are not text differ if their sizes do. */
export function differences(before: readonly VersionFile[], after: readonly VersionFile[]): FileDifference[] {
  const paths = [...new Set([...before, ...after].map((file) => file.path))].sort();
  return paths.flatMap((path) => {
    const [one, other] = [before, after].map((files) => files.find((file) => file.path === path));
    if (one && other && one.text === other.text && one.bytes === other.bytes) return [];
    if (one && other && one.text !== null && one.text === other.text) return [];
    return [{ path, before: one === undefined ? undefined : one.text, after: other === undefined ? undefined : other.text }];
  });
}
