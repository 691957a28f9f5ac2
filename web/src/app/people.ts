// Logic of profiles and comments, without Svelte.

import type { CommentItem } from './types';

/** Line of ratings for `Trend` (100 x 20), or undefined for fewer than two. */
export function ratingPath(ratings: readonly { rating: number }[]): string | undefined {
  if (ratings.length < 2) return undefined;
  const values = ratings.map((one) => one.rating);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const height = (value: number): number => (high === low ? 10 : 18 - (16 * (value - low)) / (high - low));
  return values.map((value, i) => `${i === 0 ? 'M' : 'L'}${((100 * i) / (values.length - 1)).toFixed(1)} ${height(value).toFixed(1)}`).join('');
}

/** A part of a plain text: text, or a link. */
export interface TextPart {
  text: string;
  href?: string;
}

/** Splits a plain text at web addresses. Only `http` and `https` become links; a full stop or bracket at the end is not part of one. */
export function linkParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(/https?:\/\/[^\s<>"'`]+/gi)) {
    const address = match[0].replace(/[.,;:!?)\]}]+$/, '');
    let href: string;
    try {
      const url = new URL(address);
      if (url.hostname === '' || url.username !== '' || url.password !== '') continue;
      href = url.href;
    } catch {
      continue;
    }
    if (match.index > from) parts.push({ text: text.slice(from, match.index) });
    parts.push({ text: address, href });
    from = match.index + address.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from) });
  return parts;
}

export interface CommentThread {
  comment: CommentItem;
  /** Answers, oldest first. */
  answers: CommentItem[];
}

/** Comments (newest first) as threads, newest first. An answer whose comment is not loaded yet stands alone. */
export function threads(items: readonly CommentItem[]): CommentThread[] {
  const known = new Set(items.map((item) => item.id));
  const all = items.filter((item) => item.parent === null || !known.has(item.parent)).map((comment): CommentThread => ({ comment, answers: [] }));
  for (const item of [...items].reverse()) all.find((thread) => thread.comment.id === item.parent)?.answers.push(item);
  // A deleted comment without answers says nothing.
  return all.filter((thread) => !thread.comment.deleted || thread.answers.some((answer) => !answer.deleted));
}
