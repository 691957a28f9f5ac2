// The turn in the hash of the page, `#t=123`. Other parts of the hash stay unchanged.

/** Turn in a hash. */
export function turnFromHash(hash: string): number | undefined {
  const found = /(?:^#?|&)t=(\d{1,9})(?=&|$)/.exec(hash);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

/** Hash with the turn set. */
export function hashWithTurn(hash: string, turn: number): string {
  const parts = hash.replace(/^#/, '').split('&').filter((part) => part !== '');
  const index = parts.findIndex((part) => /^t=\d*$/.test(part));
  if (index < 0) parts.push(`t=${turn}`);
  else parts[index] = `t=${turn}`;
  return `#${parts.join('&')}`;
}
