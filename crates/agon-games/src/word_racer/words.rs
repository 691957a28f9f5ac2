//! The word list, stored as a trie for fast look-up along a line.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use agon_core::LockIgnoringPoison as _;
use agon_core::assets::content_hash;

use super::board::SIDE;
use super::bots::WordIndex;

/// The built-in list (see `data/WORDS-LICENCE.txt`).
const BUILT_IN_WORDS: &str = include_str!("../../data/words.dat");

/// The words that give points: a trie whose nodes hold the set of their children.
pub struct WordList {
    name: String,
    count: usize,
    nodes: Vec<Node>,
    /// Node of each pair of first letters, 0 for none: most look-ups along a line end here.
    pairs: Vec<u32>,
    /// Created when a bot first uses it.
    index: OnceLock<WordIndex>,
}

/// A prefix of some words, or several prefixes with the same endings.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    /// Bit `c`: the letter `c` can follow. Bit 31: the prefix is a word.
    mask: u32,
    /// Node of the lowest letter that can follow; the others are stored after it in order.
    first: u32,
}

const WORD_BIT: u32 = 1 << 31;

/// Number of pairs of codes, including the code of an empty cell.
const PAIRS: usize = 27 * 27;

#[inline]
const fn pair(first: u8, second: u8) -> usize {
    first as usize * 27 + second as usize
}

/// A node of the trie during a look-up along a line.
#[derive(Clone, Copy)]
pub(super) struct Prefix(u32);

impl WordList {
    /// The built-in list.
    pub fn built_in() -> Arc<Self> {
        static LIST: OnceLock<Arc<WordList>> = OnceLock::new();
        // A test checks that the shipped file has no invalid line; with one, no word would count.
        Arc::clone(
            LIST.get_or_init(|| {
                Arc::new(Self::read("built-in", BUILT_IN_WORDS.as_bytes()).unwrap_or_default())
            }),
        )
    }

    /// Text of the built-in list, as bots get it in `words.dat`.
    pub const fn built_in_text() -> &'static str {
        BUILT_IN_WORDS
    }

    /// A list from an organiser's file. The last list is cached, because every game of a competition uses it.
    pub fn from_bytes(content: &[u8]) -> Result<Arc<Self>, WordListError> {
        static LAST: Mutex<Option<Arc<WordList>>> = Mutex::new(None);
        let name = content_hash(content);
        let mut last = LAST.lock_ignoring_poison();
        if let Some(list) = last.as_ref().filter(|list| list.name == name) {
            return Ok(Arc::clone(list));
        }
        let list = Arc::new(Self::read(&name, content)?);
        *last = Some(Arc::clone(&list));
        Ok(list)
    }

    /// Reads one word per line. Lower case, CRLF, surrounding blanks, empty lines, any order and duplicates are allowed; other
    /// lines must have 2 to 7 letters A to Z.
    pub fn read(name: &str, content: &[u8]) -> Result<Self, WordListError> {
        let mut words: Vec<Vec<u8>> = Vec::new();
        for (i, line) in content.split(|&byte| byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            if !(2..=SIDE).contains(&line.len()) || !line.iter().all(u8::is_ascii_alphabetic) {
                let mut text = String::from_utf8_lossy(line).into_owned();
                text = text.chars().take(40).flat_map(char::escape_debug).collect();
                return Err(WordListError { line_number: i + 1, text });
            }
            words.push(line.iter().map(|byte| byte.to_ascii_uppercase() - b'A').collect());
        }
        words.sort_unstable();
        words.dedup();
        Ok(Self::from_sorted(name, &words))
    }

    fn from_sorted(name: &str, words: &[Vec<u8>]) -> Self {
        let mut list = Self {
            name: name.to_owned(),
            count: words.len(),
            nodes: pack(words),
            pairs: vec![0; PAIRS],
            index: OnceLock::new(),
        };
        for first in 0..26 {
            for second in 0..26 {
                let prefix = list.follow(Self::start(), first).and_then(|prefix| list.follow(prefix, second));
                list.pairs[pair(first, second)] = prefix.map_or(0, |prefix| prefix.0);
            }
        }
        list
    }

    /// `built-in`, or the hash of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of words.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether the list has no words.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether a word is in the list, in upper or lower case.
    pub fn contains(&self, word: &str) -> bool {
        let mut prefix = Self::start();
        for byte in word.bytes() {
            if !byte.is_ascii_alphabetic() {
                return false;
            }
            let Some(longer) = self.follow(prefix, byte.to_ascii_uppercase() - b'A') else { return false };
            prefix = longer;
        }
        self.is_word(prefix)
    }

    /// Calls `visit` with all words in alphabetical order, as letter codes.
    pub fn for_each_word(&self, mut visit: impl FnMut(&[u8])) {
        self.descend(Self::start(), &mut Vec::with_capacity(SIDE), &mut visit);
    }

    fn descend(&self, prefix: Prefix, word: &mut Vec<u8>, visit: &mut impl FnMut(&[u8])) {
        if self.is_word(prefix) {
            visit(word);
        }
        for code in 0..26 {
            if let Some(longer) = self.follow(prefix, code) {
                word.push(code);
                self.descend(longer, word, visit);
                word.pop();
            }
        }
    }

    /// Index of the words by pattern, for bots.
    pub(super) fn index(&self) -> &WordIndex {
        self.index.get_or_init(|| WordIndex::new(self))
    }

    /// The empty prefix.
    #[inline]
    pub(super) const fn start() -> Prefix {
        Prefix(0)
    }

    /// Prefix of these two letters, if any word starts with it.
    #[inline]
    pub(super) fn prefix_of_pair(&self, first: u8, second: u8) -> Option<Prefix> {
        let node = *self.pairs.get(pair(first, second))?;
        (node != 0).then_some(Prefix(node))
    }

    /// Prefix extended by one letter, if any word starts with it. Codes above `Z` are in no word.
    #[inline]
    pub(super) fn follow(&self, prefix: Prefix, code: u8) -> Option<Prefix> {
        let node = self.nodes.get(prefix.0 as usize)?;
        let bit = 1u32 << (code & 31);
        if node.mask & bit & !WORD_BIT == 0 {
            return None;
        }
        Some(Prefix(node.first + (node.mask & (bit - 1)).count_ones()))
    }

    /// Whether this prefix is a word.
    #[inline]
    pub(super) fn is_word(&self, prefix: Prefix) -> bool {
        self.nodes.get(prefix.0 as usize).is_some_and(|node| node.mask & WORD_BIT != 0)
    }
}

impl Default for WordList {
    /// An empty list.
    fn default() -> Self {
        Self::from_sorted("empty", &[])
    }
}

impl std::fmt::Debug for WordList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WordList({}, {} words)", self.name, self.count)
    }
}

/// An invalid line of a word list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WordListError {
    /// Line number, from 1.
    pub line_number: usize,
    /// Start of the line.
    pub text: String,
}

/// Builds the trie of sorted words. The root is the first node. Prefixes with the same endings share their nodes, which keeps the
/// trie small enough for the CPU cache.
fn pack(words: &[Vec<u8>]) -> Vec<Node> {
    let mut nodes = vec![Node { mask: 0, first: 0 }];
    let mut known = HashMap::new();
    nodes[0] = pack_from(words, 0, &mut nodes, &mut known);
    nodes
}

/// Builds the node of the words that share their first `depth` letters.
fn pack_from(
    words: &[Vec<u8>],
    depth: usize,
    nodes: &mut Vec<Node>,
    known: &mut HashMap<Vec<Node>, u32>,
) -> Node {
    let mut mask = 0;
    let mut rest = words;
    if let Some((word, longer)) = rest.split_first()
        && word.len() == depth
    {
        mask |= WORD_BIT;
        rest = longer;
    }
    let mut children = Vec::new();
    while let Some(code) = rest.first().map(|word| word[depth]) {
        let (same, others) = rest.split_at(rest.partition_point(|word| word[depth] == code));
        mask |= 1 << code;
        children.push(pack_from(same, depth + 1, nodes, known));
        rest = others;
    }
    if children.is_empty() {
        return Node { mask, first: 0 };
    }
    let first = *known.entry(children).or_insert_with_key(|children| {
        nodes.extend_from_slice(children);
        (nodes.len() - children.len()) as u32
    });
    Node { mask, first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_list_is_valid_and_large() {
        let list = WordList::built_in();
        assert_eq!(list.len(), BUILT_IN_WORDS.lines().count());
        assert!(list.len() >= 40_000);
        assert!(
            BUILT_IN_WORDS.lines().is_sorted_by(|a, b| a < b),
            "the list must be sorted without duplicates"
        );
        assert!(BUILT_IN_WORDS.lines().all(|w| w.bytes().all(|b| b.is_ascii_uppercase())));
        assert!(BUILT_IN_WORDS.lines().all(|word| list.contains(word)));
    }

    #[test]
    fn trie_contains_exactly_the_words() {
        let list = WordList::read("few", b"at\ncat\ncats\nzoo\n").unwrap();
        let mut words = Vec::new();
        list.for_each_word(|word| words.push(word.iter().map(|c| (b'A' + c) as char).collect::<String>()));
        assert_eq!(words, ["AT", "CAT", "CATS", "ZOO"]);
        for no in ["", "A", "CA", "CATSS", "ZO", "TA", "C T", "\u{c9}"] {
            assert!(!list.contains(no), "{no:?}");
        }
        assert!(WordList::read("none", b"\n\n").unwrap().is_empty());
    }
}
