//! The word list: which words give points, packed for quick look-up along a line.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agon_core::assets::content_hash;

use super::board::SIDE;
use super::bots::WordIndex;

/// The list the project ships (see `data/WORDS-LICENCE.txt`).
const BUILT_IN_WORDS: &str = include_str!("../../data/words.dat");

/// The words for which points are given: a trie whose nodes carry the set of their children.
pub struct WordList {
    name: String,
    count: usize,
    nodes: Vec<Node>,
    /// Where two letters lead, 0 for nowhere: most walks along a line end here.
    pairs: Vec<u32>,
    /// Made when a bot first asks for it.
    index: OnceLock<WordIndex>,
}

/// A prefix of some words, or several with the same endings.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    /// Bit `c`: the letter `c` can follow. Bit 31: the prefix is a word.
    mask: u32,
    /// The node of the lowest letter that can follow; the others stand behind it in order.
    first: u32,
}

const WORD_BIT: u32 = 1 << 31;

/// Pairs of codes, that of an empty cell included.
const PAIRS: usize = 27 * 27;

#[inline]
const fn pair(first: u8, second: u8) -> usize {
    first as usize * 27 + second as usize
}

/// A place in the trie while a line is walked.
#[derive(Clone, Copy)]
pub(super) struct Prefix(u32);

impl WordList {
    /// The project's own list.
    pub fn built_in() -> Arc<Self> {
        static LIST: OnceLock<Arc<WordList>> = OnceLock::new();
        // The shipped file is tested to have no bad line; were there one, no word would count.
        Arc::clone(
            LIST.get_or_init(|| {
                Arc::new(Self::read("built-in", BUILT_IN_WORDS.as_bytes()).unwrap_or_default())
            }),
        )
    }

    /// The project's own list as it is handed to bots: `words.dat`.
    pub const fn built_in_text() -> &'static str {
        BUILT_IN_WORDS
    }

    /// A list given by an organiser. The last one is kept, as every game of a competition asks for it anew.
    pub fn from_bytes(content: &[u8]) -> Result<Arc<Self>, WordListError> {
        static LAST: Mutex<Option<Arc<WordList>>> = Mutex::new(None);
        let name = content_hash(content);
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = last.as_ref().filter(|list| list.name == name) {
            return Ok(Arc::clone(list));
        }
        let list = Arc::new(Self::read(&name, content)?);
        *last = Some(Arc::clone(&list));
        Ok(list)
    }

    /// Reads one word a line. Lower case, CRLF, blanks around a word, empty lines, any order and words given
    /// twice are all right; a line that is not 2 to 7 letters A to Z is not.
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
                return Err(WordListError { number: i + 1, text });
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

    /// How many words there are.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no word at all.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether a word is in the list, upper or lower case.
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

    /// All words in alphabetical order, as letter codes.
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

    /// The words by pattern, for bots.
    pub(super) fn index(&self) -> &WordIndex {
        self.index.get_or_init(|| WordIndex::new(self))
    }

    /// The empty prefix.
    #[inline]
    pub(super) const fn start() -> Prefix {
        Prefix(0)
    }

    /// The prefix of these two letters, if any word begins with it.
    #[inline]
    pub(super) fn prefix_of_pair(&self, first: u8, second: u8) -> Option<Prefix> {
        let node = *self.pairs.get(pair(first, second))?;
        (node != 0).then_some(Prefix(node))
    }

    /// The prefix one letter longer, if any word begins with it. Codes past `Z` are in no word.
    #[inline]
    pub(super) fn follow(&self, prefix: Prefix, code: u8) -> Option<Prefix> {
        let node = self.nodes.get(prefix.0 as usize)?;
        let bit = 1u32 << (code & 31);
        if node.mask & bit & !WORD_BIT == 0 {
            return None;
        }
        Some(Prefix(node.first + (node.mask & (bit - 1)).count_ones()))
    }

    /// Whether this prefix is a word itself.
    #[inline]
    pub(super) fn is_word(&self, prefix: Prefix) -> bool {
        self.nodes.get(prefix.0 as usize).is_some_and(|node| node.mask & WORD_BIT != 0)
    }
}

impl Default for WordList {
    /// Without words.
    fn default() -> Self {
        Self::from_sorted("empty", &[])
    }
}

impl std::fmt::Debug for WordList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WordList({}, {} words)", self.name, self.count)
    }
}

/// A line of a word list that is no word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WordListError {
    /// Counted from 1.
    pub number: usize,
    /// Its beginning.
    pub text: String,
}

/// Packs sorted words. The root comes first; wherever the same endings can follow, the nodes behind are the
/// same ones, which keeps the whole list small enough for a processor's cache.
fn pack(words: &[Vec<u8>]) -> Vec<Node> {
    let mut nodes = vec![Node { mask: 0, first: 0 }];
    let mut known = HashMap::new();
    nodes[0] = pack_from(words, 0, &mut nodes, &mut known);
    nodes
}

/// The node for the words that share their first `depth` letters.
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
    fn the_shipped_list_is_clean_and_large() {
        let list = WordList::built_in();
        assert_eq!(list.len(), BUILT_IN_WORDS.lines().count());
        assert!(list.len() >= 40_000);
        assert!(BUILT_IN_WORDS.lines().is_sorted_by(|a, b| a < b), "sorted, no word twice");
        assert!(BUILT_IN_WORDS.lines().all(|w| w.bytes().all(|b| b.is_ascii_uppercase())));
        assert!(BUILT_IN_WORDS.lines().all(|word| list.contains(word)));
    }

    #[test]
    fn the_trie_holds_the_words_and_no_others() {
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
