// Formats of phases and their keys, as docs/competition-file.md describes them.

export interface FormatField {
  key: string;
  kind: 'whole' | 'flag' | 'names';
  /** Value if the file has none. */
  default?: number;
  /** Smallest and largest number. */
  min?: number;
  max?: number;
  required?: boolean;
}

const COUNT = { min: 1, max: 1_000_000_000 };
const TIES: FormatField[] = [
  { key: 'top', kind: 'whole', min: 2, max: 1_000_000 },
  { key: 'pairs', kind: 'whole', default: 1, min: 1, max: 10_000 },
  { key: 'extra', kind: 'whole', default: 3, min: 0, max: 10_000 },
];

export const FORMATS: { [format: string]: FormatField[] } = {
  'round-robin': [
    { key: 'legs', kind: 'whole', default: 1, min: 1, max: 10_000 },
    { key: 'swap', kind: 'flag' },
  ],
  groups: [
    { key: 'size', kind: 'whole', min: 2, max: 1000 },
    { key: 'matches', kind: 'whole', default: 100, ...COUNT },
  ],
  arena: [{ key: 'games', kind: 'whole', default: 1000, ...COUNT }],
  cross: [{ key: 'boards', kind: 'whole', default: 100, ...COUNT }],
  swiss: [
    { key: 'rounds', kind: 'whole', min: 1, max: 10_000, required: true },
    { key: 'swap', kind: 'flag' },
  ],
  knockout: [...TIES, { key: 'third', kind: 'flag' }],
  'double-elimination': TIES,
  gauntlet: [
    { key: 'challengers', kind: 'names', required: true },
    { key: 'games', kind: 'whole', default: 1, ...COUNT },
    { key: 'swap', kind: 'flag' },
  ],
};

/** Keys that belong to another format than the new one, and must be removed when the format changes. */
export function foreignKeys(phase: { [key: string]: unknown }, format: string): string[] {
  const own = new Set((FORMATS[format] ?? []).map((field) => field.key));
  const all = new Set(Object.values(FORMATS).flatMap((fields) => fields.map((field) => field.key)));
  return Object.keys(phase).filter((key) => all.has(key) && !own.has(key));
}
