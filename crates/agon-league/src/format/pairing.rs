//! Pairs entrants without rematches if possible.
//!
//! 1. From the top, each takes the cheapest partner it has not met.
//! 2. Augmenting paths (Edmonds' blossom algorithm) add the unmatched ones. The result is a *maximum* matching, so the number of
//!    rematches is minimal.
//! 3. Pairs swap partners as long as that lowers the total cost.

use std::collections::VecDeque;

const UNMATCHED: usize = usize::MAX;

/// Cost of a rematch: more than all other costs. Each earlier meeting adds `MEETING_COST`, more than any pair cost.
const REMATCH_COST: u64 = 1 << 52;
const MEETING_COST: u64 = 1 << 40;

/// Pairs up `0..n` (n even) with as few rematches as possible, then at low `cost` (below 2^32 per pair).
pub(super) fn pair_up(
    n: usize,
    met: &dyn Fn(usize, usize) -> u32,
    cost: &dyn Fn(usize, usize) -> u64,
) -> Vec<(usize, usize)> {
    let mut mate = maximum_matching(n, &|i, j| met(i, j) == 0, cost);
    let price = |i: usize, j: usize| match met(i, j) {
        0 => cost(i, j),
        often => REMATCH_COST + u64::from(often.min(255)) * MEETING_COST + cost(i, j),
    };
    let mut left: Vec<usize> = (0..n).filter(|&i| mate[i] == UNMATCHED).collect();
    while let Some(i) = left.pop() {
        if let Some(at) = (0..left.len()).min_by_key(|&at| price(i, left[at])) {
            let j = left.remove(at);
            (mate[i], mate[j]) = (j, i);
        }
    }
    let mut pairs: Vec<(usize, usize)> =
        (0..n).filter(|&i| mate[i] != UNMATCHED && i < mate[i]).map(|i| (i, mate[i])).collect();
    swap_partners(&mut pairs, &price);
    for pair in &mut pairs {
        *pair = (pair.0.min(pair.1), pair.0.max(pair.1));
    }
    pairs.sort_unstable();
    pairs
}

/// Whether `0..n` can be paired up using allowed pairs only.
pub(super) fn can_pair(n: usize, allowed: &dyn Fn(usize, usize) -> bool) -> bool {
    maximum_matching(n, allowed, &|_, _| 0).iter().all(|&mate| mate != UNMATCHED)
}

fn swap_partners(pairs: &mut [(usize, usize)], price: &dyn Fn(usize, usize) -> u64) {
    // Every swap lowers the cost, so this ends; the limit bounds the time for thousands of entrants.
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

/// A maximum matching: the mate of each, or [`UNMATCHED`].
fn maximum_matching(
    n: usize,
    allowed: &dyn Fn(usize, usize) -> bool,
    cost: &dyn Fn(usize, usize) -> u64,
) -> Vec<usize> {
    let mut mate = vec![UNMATCHED; n];
    for i in 0..n {
        if mate[i] == UNMATCHED {
            let free = (i + 1..n).filter(|&j| mate[j] == UNMATCHED && allowed(i, j));
            if let Some(j) = free.min_by_key(|&j| cost(i, j)) {
                (mate[i], mate[j]) = (j, i);
            }
        }
    }
    for root in 0..n {
        if mate[root] == UNMATCHED {
            Forest::new(&mut mate, allowed).augment(root);
        }
    }
    mate
}

/// Search for an augmenting path from an unmatched node.
struct Forest<'m> {
    mate: &'m mut [usize],
    allowed: &'m dyn Fn(usize, usize) -> bool,
    /// Predecessor of nodes at odd distance.
    parent: Vec<usize>,
    /// Base of the blossom of each node; the node itself if it is in none.
    base: Vec<usize>,
    outer: Vec<bool>,
}

impl<'m> Forest<'m> {
    fn new(mate: &'m mut [usize], allowed: &'m dyn Fn(usize, usize) -> bool) -> Self {
        let n = mate.len();
        Self { mate, allowed, parent: vec![UNMATCHED; n], base: (0..n).collect(), outer: vec![false; n] }
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
                if to == root || (self.mate[to] != UNMATCHED && self.parent[self.mate[to]] != UNMATCHED) {
                    self.contract(from, to, &mut queue);
                } else if self.parent[to] == UNMATCHED {
                    self.parent[to] = from;
                    let next = self.mate[to];
                    if next == UNMATCHED {
                        self.flip_path(to);
                        return;
                    }
                    self.outer[next] = true;
                    queue.push_back(next);
                }
            }
        }
    }

    /// Swaps matched and unmatched edges along the path to the root.
    fn flip_path(&mut self, end: usize) {
        let mut at = end;
        while at != UNMATCHED {
            let before = self.parent[at];
            let next = self.mate[before];
            (self.mate[at], self.mate[before]) = (before, at);
            at = next;
        }
    }

    /// Contracts the odd cycle closed by an edge between two nodes at even distance.
    fn contract(&mut self, one: usize, other: usize, queue: &mut VecDeque<usize>) {
        let base = self.common_base(one, other);
        let mut inside = vec![false; self.mate.len()];
        self.mark_blossom(one, base, other, &mut inside);
        self.mark_blossom(other, base, one, &mut inside);
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

    /// Nearest common base on the paths to the root.
    fn common_base(&self, one: usize, other: usize) -> usize {
        let mut seen = vec![false; self.mate.len()];
        let mut at = one;
        loop {
            at = self.base[at];
            seen[at] = true;
            if self.mate[at] == UNMATCHED {
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

    fn mark_blossom(&mut self, mut at: usize, base: usize, mut child: usize, inside: &mut [bool]) {
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
    use agon_core::random::FastRng;

    use super::*;

    /// Brute force.
    fn largest_matching(left: &[usize], allowed: &dyn Fn(usize, usize) -> bool) -> usize {
        let Some((&first, rest)) = left.split_first() else { return 0 };
        let mut best = largest_matching(rest, allowed);
        for &other in rest {
            if allowed(first, other) {
                let others: Vec<usize> = rest.iter().copied().filter(|&i| i != other).collect();
                best = best.max(1 + largest_matching(&others, allowed));
            }
        }
        best
    }

    #[test]
    fn maximum_matching_on_random_graphs_equals_brute_force() {
        let mut rng = FastRng::new(5);
        for trial in 0..600 {
            let n = 2 + rng.below(9) as usize;
            let density = 1 + rng.below(7);
            let edges: Vec<bool> = (0..n * n).map(|_| rng.below(10) < density).collect();
            let allowed = |i: usize, j: usize| edges[i.min(j) * n + i.max(j)];
            let mate = maximum_matching(n, &allowed, &|i, j| ((i * 7 + j * 3) % 5) as u64);
            for i in (0..n).filter(|&i| mate[i] != UNMATCHED) {
                assert_eq!(mate[mate[i]], i, "trial {trial}");
                assert!(allowed(i, mate[i]), "trial {trial}");
            }
            let size = mate.iter().filter(|&&mate| mate != UNMATCHED).count() / 2;
            assert_eq!(size, largest_matching(&(0..n).collect::<Vec<_>>(), &allowed), "trial {trial}");
        }
    }

    #[test]
    fn pair_up_pairs_all_with_fewest_rematches() {
        let mut rng = FastRng::new(6);
        for trial in 0..300 {
            let n = 2 * (1 + rng.below(5) as usize);
            let met: Vec<u32> = (0..n * n).map(|_| rng.below(3)).collect();
            let met = |i: usize, j: usize| met[i.min(j) * n + i.max(j)];
            let pairs = pair_up(n, &met, &|i, j| i.abs_diff(j) as u64);
            let mut seen: Vec<usize> = pairs.iter().flat_map(|&(i, j)| [i, j]).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
            let rematches = pairs.iter().filter(|&&(i, j)| met(i, j) > 0).count();
            let fewest = n / 2 - largest_matching(&(0..n).collect::<Vec<_>>(), &|i, j| met(i, j) == 0);
            assert_eq!(rematches, fewest, "trial {trial}");
        }
    }
}
