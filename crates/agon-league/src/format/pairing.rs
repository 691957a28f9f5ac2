//! Pairing everybody up without rematches, if that is possible at all.
//!
//! 1. From the top, each takes the cheapest it has not met.
//! 2. Who is left over is brought in by augmenting paths (Edmonds' blossom algorithm), which end in a *maximum* matching: there are as few
//!    rematches as there can be, none if none are needed.
//! 3. Two pairs exchange partners as long as that makes the whole cheaper.

use std::collections::VecDeque;

const NOBODY: usize = usize::MAX;

/// One rematch more costs more than everything else; which one, by how often they have met, more than any cost.
const REMATCH: u64 = 1 << 52;
const MEETING: u64 = 1 << 40;

/// Pairs up `0..n`, n even: as few who have `met` before as possible, then at a low `cost` (below 2^32 for each pair).
pub(super) fn pair_up(
    n: usize,
    met: &dyn Fn(usize, usize) -> u32,
    cost: &dyn Fn(usize, usize) -> u64,
) -> Vec<(usize, usize)> {
    let mut mate = maximum(n, &|i, j| met(i, j) == 0, cost);
    let price = |i: usize, j: usize| match met(i, j) {
        0 => cost(i, j),
        often => REMATCH + u64::from(often.min(255)) * MEETING + cost(i, j),
    };
    let mut left: Vec<usize> = (0..n).filter(|&i| mate[i] == NOBODY).collect();
    while let Some(i) = left.pop() {
        if let Some(at) = (0..left.len()).min_by_key(|&at| price(i, left[at])) {
            let j = left.remove(at);
            (mate[i], mate[j]) = (j, i);
        }
    }
    let mut pairs: Vec<(usize, usize)> =
        (0..n).filter(|&i| mate[i] != NOBODY && i < mate[i]).map(|i| (i, mate[i])).collect();
    exchange(&mut pairs, &price);
    for pair in &mut pairs {
        *pair = (pair.0.min(pair.1), pair.0.max(pair.1));
    }
    pairs.sort_unstable();
    pairs
}

/// Whether `0..n` can be paired up along allowed pairs.
pub(super) fn can_pair(n: usize, allowed: &dyn Fn(usize, usize) -> bool) -> bool {
    maximum(n, allowed, &|_, _| 0).iter().all(|&mate| mate != NOBODY)
}

fn exchange(pairs: &mut [(usize, usize)], price: &dyn Fn(usize, usize) -> u64) {
    // Each exchange makes it cheaper, so that it ends; the bound is for the patience of thousands.
    for _ in 0..20 {
        let mut changed = false;
        for one in 0..pairs.len() {
            for other in one + 1..pairs.len() {
                let ((a, b), (c, d)) = (pairs[one], pairs[other]);
                let now = price(a, b) + price(c, d);
                let straight = price(a, c) + price(b, d);
                let across = price(a, d) + price(b, c);
                if straight.min(across) < now {
                    (pairs[one], pairs[other]) =
                        if straight <= across { ((a, c), (b, d)) } else { ((a, d), (b, c)) };
                    changed = true;
                }
            }
        }
        if !changed {
            return;
        }
    }
}

/// A maximum matching: the mate of each, or [`NOBODY`].
fn maximum(
    n: usize,
    allowed: &dyn Fn(usize, usize) -> bool,
    cost: &dyn Fn(usize, usize) -> u64,
) -> Vec<usize> {
    let mut mate = vec![NOBODY; n];
    for i in 0..n {
        if mate[i] == NOBODY {
            let free = (i + 1..n).filter(|&j| mate[j] == NOBODY && allowed(i, j));
            if let Some(j) = free.min_by_key(|&j| cost(i, j)) {
                (mate[i], mate[j]) = (j, i);
            }
        }
    }
    for root in 0..n {
        if mate[root] == NOBODY {
            Forest::new(&mut mate, allowed).augment(root);
        }
    }
    mate
}

/// A search for an augmenting path from one who has no mate.
struct Forest<'m> {
    mate: &'m mut [usize],
    allowed: &'m dyn Fn(usize, usize) -> bool,
    /// By whom one at odd distance was reached.
    parent: Vec<usize>,
    /// The base of the blossom each is in; itself if in none.
    base: Vec<usize>,
    outer: Vec<bool>,
}

impl<'m> Forest<'m> {
    fn new(mate: &'m mut [usize], allowed: &'m dyn Fn(usize, usize) -> bool) -> Self {
        let n = mate.len();
        Self { mate, allowed, parent: vec![NOBODY; n], base: (0..n).collect(), outer: vec![false; n] }
    }

    fn augment(&mut self, root: usize) {
        let mut queue = VecDeque::from([root]);
        self.outer[root] = true;
        while let Some(from) = queue.pop_front() {
            for to in 0..self.mate.len() {
                if to == from
                    || self.base[from] == self.base[to]
                    || self.mate[from] == to
                    || !(self.allowed)(from, to)
                {
                    continue;
                }
                if to == root || (self.mate[to] != NOBODY && self.parent[self.mate[to]] != NOBODY) {
                    self.contract(from, to, &mut queue);
                } else if self.parent[to] == NOBODY {
                    self.parent[to] = from;
                    let next = self.mate[to];
                    if next == NOBODY {
                        self.turn(to);
                        return;
                    }
                    self.outer[next] = true;
                    queue.push_back(next);
                }
            }
        }
    }

    /// Along the path to the root, those without a mate and with one change places.
    fn turn(&mut self, end: usize) {
        let mut at = end;
        while at != NOBODY {
            let before = self.parent[at];
            let next = self.mate[before];
            (self.mate[at], self.mate[before]) = (before, at);
            at = next;
        }
    }

    /// Two at even distance are neighbours: the odd cycle they close becomes one.
    fn contract(&mut self, one: usize, other: usize, queue: &mut VecDeque<usize>) {
        let base = self.common(one, other);
        let mut inside = vec![false; self.mate.len()];
        self.mark(one, base, other, &mut inside);
        self.mark(other, base, one, &mut inside);
        for i in 0..self.mate.len() {
            if inside[self.base[i]] {
                self.base[i] = base;
                if !self.outer[i] {
                    self.outer[i] = true;
                    queue.push_back(i);
                }
            }
        }
    }

    /// The nearest base both have on their way to the root.
    fn common(&self, one: usize, other: usize) -> usize {
        let mut seen = vec![false; self.mate.len()];
        let mut at = one;
        loop {
            at = self.base[at];
            seen[at] = true;
            if self.mate[at] == NOBODY {
                break;
            }
            at = self.parent[self.mate[at]];
        }
        at = self.base[other];
        while !seen[at] {
            at = self.base[self.parent[self.mate[at]]];
        }
        at
    }

    fn mark(&mut self, mut at: usize, base: usize, mut child: usize, inside: &mut [bool]) {
        while self.base[at] != base {
            let mate = self.mate[at];
            inside[self.base[at]] = true;
            inside[self.base[mate]] = true;
            self.parent[at] = child;
            child = mate;
            at = self.parent[mate];
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_core::random::QuickRng;

    use super::*;

    /// By trying everything.
    fn largest(left: &[usize], allowed: &dyn Fn(usize, usize) -> bool) -> usize {
        let Some((&first, rest)) = left.split_first() else { return 0 };
        let mut best = largest(rest, allowed);
        for &other in rest {
            if allowed(first, other) {
                let others: Vec<usize> = rest.iter().copied().filter(|&i| i != other).collect();
                best = best.max(1 + largest(&others, allowed));
            }
        }
        best
    }

    #[test]
    fn a_maximum_matching_is_one() {
        let mut rng = QuickRng::new(5);
        for trial in 0..600 {
            let n = 2 + rng.below(9) as usize;
            let density = 1 + rng.below(7);
            let edges: Vec<bool> = (0..n * n).map(|_| rng.below(10) < density).collect();
            let allowed = |i: usize, j: usize| edges[i.min(j) * n + i.max(j)];
            let mate = maximum(n, &allowed, &|i, j| ((i * 7 + j * 3) % 5) as u64);
            for i in (0..n).filter(|&i| mate[i] != NOBODY) {
                assert_eq!(mate[mate[i]], i, "trial {trial}");
                assert!(allowed(i, mate[i]), "trial {trial}");
            }
            let size = mate.iter().filter(|&&mate| mate != NOBODY).count() / 2;
            assert_eq!(size, largest(&(0..n).collect::<Vec<_>>(), &allowed), "trial {trial}");
        }
    }

    #[test]
    fn everybody_is_paired_and_rematches_are_the_fewest() {
        let mut rng = QuickRng::new(6);
        for trial in 0..300 {
            let n = 2 * (1 + rng.below(5) as usize);
            let met: Vec<u32> = (0..n * n).map(|_| rng.below(3)).collect();
            let met = |i: usize, j: usize| met[i.min(j) * n + i.max(j)];
            let pairs = pair_up(n, &met, &|i, j| i.abs_diff(j) as u64);
            let mut seen: Vec<usize> = pairs.iter().flat_map(|&(i, j)| [i, j]).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
            let rematches = pairs.iter().filter(|&&(i, j)| met(i, j) > 0).count();
            let fewest = n / 2 - largest(&(0..n).collect::<Vec<_>>(), &|i, j| met(i, j) == 0);
            assert_eq!(rematches, fewest, "trial {trial}");
        }
    }
}
