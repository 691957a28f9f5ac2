// The `agon submit` command for a submission.

/** Quotes a word for the shell if necessary. */
export const shellQuote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

export function submitCommand(origin: string, competition: string, bot: string, target: { name: string; role: string } | { versionOf: string }): string {
  const words = ['agon', 'submit', `${origin}/c/${competition}`, bot === '' ? 'my-bot/' : shellQuote(bot)];
  if ('versionOf' in target) words.push('--version-of', shellQuote(target.versionOf));
  else {
    words.push('--name', shellQuote(target.name.trim() === '' ? 'my-bot' : target.name.trim()));
    if (target.role !== '') words.push('--role', shellQuote(target.role));
  }
  return words.join(' ');
}
