// Logic of profiles and comments, and the new addresses.

import { describe, expect, test } from 'vitest';
import { linkParts, ratingPath, threads } from '../../src/app/people';
import { safeRedirect, signPath } from '../../src/app/path_pattern';
import { findRoute } from '../../src/app/routes';
import type { CommentItem } from '../../src/app/types';

const comment = (id: number, parent: number | null = null, more: Partial<CommentItem> = {}): CommentItem => ({
  id, parent, competition: 'cup', subject: '', author: 'ada', mine: false, text: `text ${id}`, at: id, edited: null, deleted: false, hidden: null, ...more,
});

describe('linkParts', () => {
  test('makes links of web addresses only', () => {
    expect(linkParts('see https://a.org/x?y=1, and more')).toEqual([{ text: 'see ' }, { text: 'https://a.org/x?y=1', href: 'https://a.org/x?y=1' }, { text: ', and more' }]);
    expect(linkParts('(http://a.org).')).toEqual([{ text: '(' }, { text: 'http://a.org', href: 'http://a.org/' }, { text: ').' }]);
    for (const plain of ['', 'no link', 'javascript:alert(1)', 'ftp://a.org', 'https://', 'https://user:pw@a.org', '//a.org', 'data:text/html,x']) {
      expect(linkParts(plain).some((part) => part.href !== undefined), plain).toBe(false);
      expect(linkParts(plain).map((part) => part.text).join('')).toBe(plain);
    }
  });

  test('keeps every character of the text', () => {
    const text = 'a https://a.org/<b> "https://b.org" \n https://c.org/ü end';
    expect(linkParts(text).map((part) => part.text).join('')).toBe(text);
  });
});

describe('ratingPath', () => {
  test('has no line for fewer than two ratings', () => {
    expect(ratingPath([])).toBeUndefined();
    expect(ratingPath([{ rating: 1500 }])).toBeUndefined();
  });

  test('rises with the rating and stays in its box', () => {
    expect(ratingPath([{ rating: 1400 }, { rating: 1500 }, { rating: 1600 }])).toBe('M0.0 18.0L50.0 10.0L100.0 2.0');
    expect(ratingPath([{ rating: 1500 }, { rating: 1500 }])).toBe('M0.0 10.0L100.0 10.0');
  });
});

describe('threads', () => {
  test('answers are under their comment, oldest first', () => {
    const all = threads([comment(5, 1), comment(4), comment(3, 1), comment(1)]);
    expect(all.map((thread) => [thread.comment.id, thread.answers.map((answer) => answer.id)])).toEqual([[4, []], [1, [3, 5]]]);
  });

  test('an answer whose comment is not loaded stands alone', () => {
    expect(threads([comment(5, 1)]).map((thread) => thread.comment.id)).toEqual([5]);
  });

  test('a deleted comment is shown only for its answers', () => {
    expect(threads([comment(1, null, { deleted: true })])).toEqual([]);
    expect(threads([comment(2, 1), comment(1, null, { deleted: true })])).toHaveLength(1);
    expect(threads([comment(2, 1, { deleted: true }), comment(1, null, { deleted: true })])).toEqual([]);
  });
});

describe('addresses', () => {
  test.each(['/u/ada', '/t/3', '/search', '/me/notifications', '/me/teams', '/join-team/x', '/forgot-password', '/reset-password/x', '/verify-mail/x', '/unsubscribe/x', '/admin/comments'])('%s has a page', (address) => {
    expect(findRoute(address)).toBeDefined();
  });

  test('a visitor returns to an invitation link of a team after signing up', () => {
    const to = signPath('signup', '/join-team/abc', '');
    expect(to).toBe('/signup?to=%2Fjoin-team%2Fabc');
    expect(safeRedirect(new URLSearchParams(to.split('?')[1]).get('to'))).toBe('/join-team/abc');
  });
});
