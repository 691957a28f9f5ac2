// Findings of a check at the lines of the files of a draft.

import type { CheckReport } from '../types';

export interface Finding {
  path: string;
  /** From 1. */
  line: number;
  severity: 'error' | 'warning';
  text: string;
}

/** The file of a draft that a report names. The report may name it with a folder before it. */
export function fileOf(name: string, paths: readonly string[]): string | undefined {
  return paths.find((path) => path === name) ?? paths.find((path) => name.endsWith(`/${path}`) || path.endsWith(`/${name}`));
}

const FRAME = /File "([^"]+)", line (\d+)/g;

/** The innermost line of a traceback that is in one of the files. */
export function tracebackPlace(trace: string, paths: readonly string[]): { path: string; line: number } | undefined {
  let place: { path: string; line: number } | undefined;
  for (const [, file, line] of trace.matchAll(FRAME)) {
    const path = fileOf(file ?? '', paths);
    if (path !== undefined) place = { path, line: Number(line) };
  }
  return place;
}

/** All findings of a report that are at a line of one of the files. */
export function findingsOf(report: CheckReport | null, paths: readonly string[]): Finding[] {
  const found: Finding[] = [];
  for (const step of report?.steps ?? []) {
    const lists = [
      { list: step.bad, severity: 'error' as const },
      { list: step.advice, severity: 'warning' as const },
    ];
    for (const { list, severity } of lists) {
      for (const one of list) {
        const named = fileOf(one.file ?? '', paths);
        const place = named !== undefined && one.line ? { path: named, line: one.line } : tracebackPlace(one.trace ?? '', paths);
        if (place) found.push({ ...place, severity, text: one.hint ? `${one.what}\n${one.hint}` : one.what });
      }
    }
  }
  return found;
}
