// What can be a name or a password here, told before the server is asked.

import { account } from './texts/account';

export const LONGEST_NAME = 40;
export const SHORTEST_PASSWORD = 10;

/** Control and formatting characters cannot be seen, so two names could look the same. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/u;

/** What is wrong with an account's name. */
export function badName(name: string): string {
  const texts = account.signUp;
  if (name.trim() === '') return texts.noName;
  if (name !== name.trim()) return texts.edgeSpaces;
  if ([...name].length > LONGEST_NAME) return texts.longName(LONGEST_NAME);
  return UNSEEN.test(name) ? texts.strangeName : '';
}

/** What is wrong with a new password. */
export function badPassword(password: string, name: string): string {
  const texts = account.signUp;
  const has = [...password].length;
  if (has < SHORTEST_PASSWORD) return texts.shortPassword(SHORTEST_PASSWORD, has);
  return password.toLowerCase() === name.toLowerCase() ? texts.samePassword : '';
}
