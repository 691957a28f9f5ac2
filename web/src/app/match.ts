// Addresses: a pattern such as `/c/:id/bots/:bot`, and what an address says by it.

export type Params = { [name: string]: string };

/** The values of a pattern's names in a path, or nothing when it does not fit. */
export function matchPath(pattern: string, path: string): Params | undefined {
  const wanted = pattern.split('/').filter(Boolean);
  const given = path.split('/').filter(Boolean);
  if (wanted.length !== given.length) return undefined;
  const params: Params = {};
  for (const [i, part] of wanted.entries()) {
    const value = given[i] ?? '';
    if (!part.startsWith(':')) {
      if (part !== value) return undefined;
      continue;
    }
    try {
      params[part.slice(1)] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return params;
}

/** A path made of parts that may hold anything. */
export function path(...parts: (string | number)[]): string {
  return `/${parts.map((part) => encodeURIComponent(String(part))).join('/')}`;
}

/** A path with a query; what is undefined, null or empty is left out. */
export function withQuery(to: string, query: { [name: string]: string | number | boolean | null | undefined }): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false);
  if (pairs.length === 0) return to;
  return `${to}?${pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`).join('&')}`;
}

/** Where to go after signing in: only an address of this very site. */
export function safeReturn(to: string | null): string {
  if (!to || !/^\/(?![/\\])/.test(to) || /[\u0000-\u001f\\]/.test(to)) return '/';
  return to;
}
