// A link to this very moment: `#t=123`. Whatever else stands after the `#` is left alone.

/** The turn a hash names. */
export function turnOf(hash: string): number | undefined {
  const found = /(?:^#?|&)t=(\d{1,9})(?=&|$)/.exec(hash);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

/** The hash with this turn in it. */
export function withTurn(hash: string, turn: number): string {
  const parts = hash.replace(/^#/, '').split('&').filter((part) => part !== '');
  const place = parts.findIndex((part) => /^t=\d*$/.test(part));
  if (place < 0) parts.push(`t=${turn}`);
  else parts[place] = `t=${turn}`;
  return `#${parts.join('&')}`;
}
