// The same by the shell: the command that hands in a bot.

/** In single quotes where a shell would read more than words. */
export const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

export function shellCommand(origin: string, competition: string, bot: string, what: { name: string; role: string } | { versionOf: string }): string {
  const words = ['agon', 'submit', `${origin}/c/${competition}`, bot === '' ? 'my-bot/' : quoted(bot)];
  if ('versionOf' in what) words.push('--version-of', quoted(what.versionOf));
  else {
    words.push('--name', quoted(what.name.trim() === '' ? 'my-bot' : what.name.trim()));
    if (what.role !== '') words.push('--role', quoted(what.role));
  }
  return words.join(' ');
}
