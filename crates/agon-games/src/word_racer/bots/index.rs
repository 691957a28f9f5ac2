//! Index of words by pattern: for each length, place and letter, the set of words with that letter there.

use agon_core::FastRng;

use crate::word_racer::WordList;
use crate::word_racer::board::SIDE;

/// Index of a word list by pattern, built once per list and shared.
pub(in crate::word_racer) struct WordIndex {
    groups: Vec<WordsOfLength>,
    /// Relative frequency of each letter in the words; all word lengths have the same weight.
    pub(super) frequency: [f32; 26],
}

/// The words of one length.
#[derive(Default)]
struct WordsOfLength {
    words: Vec<[u8; SIDE]>,
    /// Number of machine words in a set of these words.
    blocks: usize,
    /// The set of words with letter `c` at place `p` starts at `(p * 26 + c) * blocks`.
    sets: Vec<u64>,
}

impl WordIndex {
    /// Builds the index of a list.
    pub(in crate::word_racer) fn new(list: &WordList) -> Self {
        let mut groups: Vec<WordsOfLength> = (0..=SIDE).map(|_| WordsOfLength::default()).collect();
        list.for_each_word(|word| {
            let mut codes = [0; SIDE];
            for (code, &letter) in codes.iter_mut().zip(word) {
                *code = letter;
            }
            if let Some(group) = groups.get_mut(word.len()) {
                group.words.push(codes);
            }
        });
        for (length, group) in groups.iter_mut().enumerate() {
            group.blocks = group.words.len().div_ceil(64);
            group.sets = vec![0; length * 26 * group.blocks];
            for (i, word) in group.words.iter().enumerate() {
                for (place, &code) in word[..length].iter().enumerate() {
                    group.sets[(place * 26 + usize::from(code)) * group.blocks + i / 64] |= 1 << (i % 64);
                }
            }
        }
        let frequency = frequency(&groups);
        Self { groups, frequency }
    }

    /// Draws up to `wanted` words that match a pattern (codes above `Z` match every letter), approximately uniformly.
    pub(super) fn draw(&self, pattern: &[u8], wanted: usize, rng: &mut FastRng, out: &mut Vec<[u8; SIDE]>) {
        out.clear();
        let Some(group) = self.groups.get(pattern.len()).filter(|group| group.blocks > 0) else { return };
        let sets: Vec<&[u64]> = pattern
            .iter()
            .enumerate()
            .filter(|(_, code)| **code < 26)
            .map(|(place, &code)| {
                &group.sets[(place * 26 + usize::from(code)) * group.blocks..][..group.blocks]
            })
            .collect();
        if sets.is_empty() {
            out.extend((0..wanted).filter_map(|_| rng.pick(&group.words)));
            return;
        }
        // Start at a random block and go around once.
        let from = rng.below(group.blocks as u32) as usize;
        for block in (from..group.blocks).chain(0..from) {
            let mut fits = sets.iter().fold(u64::MAX, |fits, set| fits & set[block]);
            while fits != 0 {
                out.push(group.words[block * 64 + fits.trailing_zeros() as usize]);
                fits &= fits - 1;
                if out.len() >= wanted {
                    return;
                }
            }
        }
    }
}

fn frequency(groups: &[WordsOfLength]) -> [f32; 26] {
    let mut frequency = [0.0f32; 26];
    for (length, group) in groups.iter().enumerate() {
        let weight = 1.0 / (length * group.words.len()).max(1) as f32;
        for word in &group.words {
            for &code in &word[..length] {
                frequency[usize::from(code)] += weight;
            }
        }
    }
    let total: f32 = frequency.iter().sum();
    frequency.map(|f| if total > 0.0 { f / total } else { 1.0 / 26.0 })
}
