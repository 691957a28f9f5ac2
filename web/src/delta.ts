// Deltas between frames (docs/film.md). A delta that does not fit leaves the value unchanged: a stale cell is better than no
// picture. Values are never modified in place, so frames can be cached.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

type Fields = { [key: string]: Json };

function isObject(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Applies a delta to a value. */
export function patch(value: Json, delta: Json): Json {
  if (Array.isArray(delta)) return patchTagged(value, delta);
  if (!isObject(delta)) return delta;
  if (!isObject(value)) return value;
  const next: Fields = { ...value };
  for (const [key, change] of Object.entries(delta)) {
    if (Array.isArray(change) && change[0] === '-') delete next[key];
    else next[key] = patch(next[key] ?? null, change);
  }
  return next;
}

function patchTagged(value: Json, delta: Json[]): Json {
  const tag = delta[0];
  if (tag === '=') return delta[1] ?? null;
  if (!Array.isArray(value)) return value;
  if (tag === '+') {
    const keep = typeof delta[1] === 'number' ? delta[1] : 0;
    return [...value.slice(0, keep), ...delta.slice(2)];
  }
  if (tag !== '#') return value;
  const next = value.slice();
  for (let i = 1; i + 1 < delta.length; i += 2) {
    const index = delta[i];
    const change = delta[i + 1];
    if (typeof index !== 'number' || change === undefined) continue;
    const old = next[index];
    if (old !== undefined) next[index] = patch(old, change);
  }
  return next;
}
