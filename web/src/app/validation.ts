// Validation of account names and passwords before they are sent.

import { account } from './texts/account';

export const MAX_NAME_LENGTH = 40;
export const MIN_PASSWORD_LENGTH = 10;

/** Invisible control and formatting characters. With them two names could look the same. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/u;

/** Error text for an account name, or an empty string. */
export function nameError(name: string): string {
  const texts = account.signUp;
  if (name.trim() === '') return texts.noName;
  if (name !== name.trim()) return texts.edgeSpaces;
  if ([...name].length > MAX_NAME_LENGTH) return texts.longName(MAX_NAME_LENGTH);
  return INVISIBLE.test(name) ? texts.invisibleCharacters : '';
}

/** Error text for a new password, or an empty string. */
export function passwordError(password: string, name: string): string {
  const texts = account.signUp;
  const length = [...password].length;
  if (length < MIN_PASSWORD_LENGTH) return texts.shortPassword(MIN_PASSWORD_LENGTH, length);
  return password.toLowerCase() === name.toLowerCase() ? texts.samePassword : '';
}
