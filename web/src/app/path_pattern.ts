// Addresses of the app: patterns such as `/c/:id/bots/:bot`, paths and queries.

export type Params = { [name: string]: string };

/** Parameters of a path that matches the pattern, else undefined. */
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

/** Builds a path from parts. Each part is escaped. */
export function path(...parts: (string | number)[]): string {
  return `/${parts.map((part) => encodeURIComponent(String(part))).join('/')}`;
}

/** Adds a query to a path. Values that are undefined, null, false or empty are omitted. */
export function withQuery(to: string, query: { [name: string]: string | number | boolean | null | undefined }): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false);
  if (pairs.length === 0) return to;
  return `${to}?${pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`).join('&')}`;
}

/** Target after sign-in: only a path of this site that is not a sign-in page, else `/me`. */
export function safeRedirect(to: string | null): string {
  if (to === null || !/^\/(?![/\\])/.test(to) || /[\u0000-\u001f\\]/.test(to) || /^\/sign(in|up)([/?#]|$)/.test(to)) return '/me';
  return to;
}

/** Address of the sign-in or sign-up page. Afterwards the visitor returns to the page where the link was; a link on such a page keeps its target. */
export function signPath(page: 'signin' | 'signup', currentPath: string, search: string): string {
  const onSignPage = /^\/sign(in|up)\/?$/.test(currentPath);
  return withQuery(`/${page}`, { to: onSignPage ? new URLSearchParams(search).get('to') : `${currentPath}${search}` });
}
