//! Block designs: which entrants play together in balanced groups, for any number of entrants.
//!
//! **Construction.** Entrants are the elements of an abelian group of order n (the integers modulo n; if n has a square divisor, also
//! `Z_p x Z_(n/p)`). A *base block* is a set of s elements in seat order. Shifting it by every group element gives n matches, in which
//! every entrant plays s times, once on each seat. So matches and seats are balanced for any choice of blocks.
//!
//! Entrants x and y meet in the matches of a block as often as the difference x - y occurs in the block. Balancing the n(n-1)/2 pairs
//! therefore means balancing about n/2 *differences* (d and -d are one; an element that is its own negative counts double). Blocks are
//! drawn at random and then improved: the search takes a difference that occurs too often and moves one of its two elements so that
//! it forms a difference that is too rare. The sum over all differences is even, so parity never rules out floor and ceiling of the mean.
//!
//! **Numbers that are not a multiple of s.** A union of s/e cosets of a subgroup of order e has only n/e different shifts. In such a
//! *short* block every entrant plays s/e times, on different seats. One short block may be added if e divides n and s.

use agon_core::random::FastRng;

/// An abelian group: pairs modulo `a` and `b`, encoded as `x * b + y`.
#[derive(Clone, Debug)]
pub(super) struct AbelianGroup {
    n: u32,
    b: u32,
    negative: Vec<u32>,
    /// Class of each element, shared with its negative. The class of 0 is never used.
    class: Vec<u32>,
    /// One element of each class.
    element: Vec<u32>,
    /// Meetings that one pair in a base block adds to its class: 2 if the element is its own negative, else 1.
    weight: Vec<i64>,
}

impl AbelianGroup {
    pub fn new(a: u32, b: u32) -> Self {
        let n = a * b;
        let negative: Vec<u32> = (0..n).map(|g| (a - g / b) % a * b + (b - g % b) % b).collect();
        let (mut class, mut element, mut weight) = (vec![0; n as usize], Vec::new(), Vec::new());
        for g in 1..n {
            let minus = negative[g as usize];
            if g <= minus {
                class[g as usize] = element.len() as u32;
                class[minus as usize] = element.len() as u32;
                element.push(g);
                weight.push(1 + i64::from(g == minus));
            }
        }
        Self { n, b, negative, class, element, weight }
    }

    /// Groups of order `n` to try, the integers first.
    pub fn of_order(n: u32) -> Vec<Self> {
        let mut all = vec![Self::new(1, n)];
        all.extend(
            (2..=n)
                .take_while(|p| p * p <= n)
                .filter(|p| n.is_multiple_of(p * p) && is_prime(*p))
                .map(|p| Self::new(p, n / p)),
        );
        all
    }

    #[inline]
    pub fn add(&self, g: u32, h: u32) -> u32 {
        if self.b == self.n {
            let sum = g + h;
            return if sum >= self.n { sum - self.n } else { sum };
        }
        let (b, a) = (self.b, self.n / self.b);
        (g / b + h / b) % a * b + (g % b + h % b) % b
    }

    #[inline]
    fn class_between(&self, g: u32, h: u32) -> usize {
        self.class[self.add(g, self.negative[h as usize]) as usize] as usize
    }

    /// The subgroup of the multiples of `g`, 0 first, if it has this order.
    fn multiples(&self, g: u32, order: u32) -> Option<Vec<u32>> {
        let mut all = vec![0];
        let mut next = g;
        while next != 0 && all.len() < order as usize {
            all.push(next);
            next = self.add(next, g);
        }
        (next == 0 && all.len() == order as usize).then_some(all)
    }
}

fn is_prime(p: u32) -> bool {
    p >= 2 && (2..p).take_while(|d| d * d <= p).all(|d| !p.is_multiple_of(d))
}

/// A short block and the shifts that give its matches.
#[derive(Clone, Debug)]
pub(super) struct ShortBlock {
    pub members: Vec<u32>,
    pub shifts: Vec<u32>,
}

/// Base blocks and the meetings they give.
#[derive(Clone, Debug)]
pub(super) struct Design {
    pub group: AbelianGroup,
    pub size: usize,
    /// `size` elements per block, in seat order.
    pub blocks: Vec<u32>,
    pub short: Option<ShortBlock>,
    /// Meetings per class of pairs.
    meetings: Vec<i64>,
}

impl Design {
    /// A design without blocks.
    pub fn empty(group: AbelianGroup, size: usize) -> Self {
        let meetings = vec![0; group.element.len()];
        Self { group, size, blocks: Vec::new(), short: None, meetings }
    }

    /// Fewest and most meetings of a pair, each with the difference of such a pair.
    pub fn extremes(&self) -> ((u64, u32), (u64, u32)) {
        let by = |class: usize| (self.meetings[class] as u64, self.group.element[class]);
        let classes = 0..self.meetings.len();
        let least = classes.clone().min_by_key(|&class| self.meetings[class]).unwrap_or_default();
        let most = classes.max_by_key(|&class| self.meetings[class]).unwrap_or_default();
        (by(least), by(most))
    }

    /// Largest difference between the meetings of two pairs.
    pub fn spread(&self) -> u64 {
        let ((least, _), (most, _)) = self.extremes();
        most - least
    }
}

/// Search budget in visited numbers: some tens of milliseconds.
pub(super) const SEARCH_EFFORT: u64 = 20_000_000;

/// The most even design found over `group` in which every entrant plays `matches` times. `None` if no such design can be built.
pub(super) fn search(
    group: &AbelianGroup,
    size: u32,
    matches: u64,
    effort: u64,
    rng: &mut FastRng,
) -> Option<Design> {
    let (full, rest) = (matches / u64::from(size), (matches % u64::from(size)) as u32);
    let subgroups: Vec<Vec<u32>> = match rest {
        0 => Vec::new(),
        // A short block of `rest` cosets gives every entrant `rest` matches.
        _ if size.is_multiple_of(rest) => {
            (1..group.n).filter_map(|g| group.multiples(g, size / rest)).collect()
        }
        _ => return None,
    };
    if rest > 0 && subgroups.is_empty() {
        return None;
    }
    let mut best: Option<DesignSearch<'_>> = None;
    // With few blocks the start decides, so start often. With many or large blocks one long search is better.
    let trials = 4;
    let enough = 3_000 * step_effort(group, size as usize);
    let starts = (64 / full.max(1)).min(effort / trials / enough).clamp(2, 24);
    for start in 0..starts * trials {
        let subgroup = subgroups.get(rng.below(subgroups.len() as u32) as usize);
        let short = subgroup.map(|subgroup| short_block(group, size, subgroup, rng));
        let mut search = DesignSearch::new(group, size as usize, short);
        search.fill(full as usize, rng);
        // The second half of the starts accepts a wider window.
        if start >= starts * trials / 2 {
            search.widen(start % 2 == 0);
        }
        // One large block needs bolder steps than several blocks.
        search.caution = if start % 4 < 2 { 2 * u64::from(size) } else { 8 };
        search.improve(effort / (starts * trials), rng);
        if best.as_ref().is_none_or(|best| search.spread() < best.spread()) {
            best = Some(search);
        }
        if best.as_ref().is_some_and(|best| best.spread() <= 1) {
            break;
        }
    }
    best.map(DesignSearch::finish)
}

/// Approximate cost of one improvement step.
fn step_effort(group: &AbelianGroup, size: usize) -> u64 {
    (group.element.len() + 24 * size) as u64
}

/// A random union of cosets of a subgroup.
fn short_block(group: &AbelianGroup, size: u32, subgroup: &[u32], rng: &mut FastRng) -> ShortBlock {
    let mut seen = vec![false; group.n as usize];
    let mut shifts = Vec::new();
    for g in 0..group.n {
        if !seen[g as usize] {
            for &h in subgroup {
                seen[group.add(g, h) as usize] = true;
            }
            shifts.push(g);
        }
    }
    let mut chosen = shifts.clone();
    rng.shuffle(&mut chosen);
    chosen.truncate(size as usize / subgroup.len());
    let members = subgroup.iter().flat_map(|&h| chosen.iter().map(move |&g| group.add(g, h))).collect();
    ShortBlock { members, shifts }
}

/// A design being searched.
struct DesignSearch<'g> {
    group: &'g AbelianGroup,
    size: usize,
    blocks: Vec<u32>,
    short: Option<ShortBlock>,
    meetings: Vec<i64>,
    /// Meetings between `low` and `high` cost nothing.
    low: i64,
    high: i64,
    cost: i64,
    /// The larger, the rarer are steps that make the design worse.
    caution: u64,
}

impl<'g> DesignSearch<'g> {
    fn new(group: &'g AbelianGroup, size: usize, short: Option<ShortBlock>) -> Self {
        let meetings = vec![0; group.element.len()];
        let mut search = Self {
            group,
            size,
            blocks: Vec::new(),
            short: None,
            meetings,
            low: 0,
            high: 0,
            cost: 0,
            caution: 8,
        };
        if let Some(short) = &short {
            // Shifting by the subgroup repeats the match, so every difference was counted `order` times.
            let order = group.n as i64 / short.shifts.len() as i64;
            search.count_pairs(&short.members, 1);
            search.meetings.iter_mut().for_each(|meetings| *meetings /= order);
        }
        search.short = short;
        search
    }

    fn count_pairs(&mut self, block: &[u32], by: i64) {
        for (i, &g) in block.iter().enumerate() {
            for &h in &block[..i] {
                let class = self.group.class_between(g, h);
                self.meetings[class] += by * self.group.weight[class];
            }
        }
    }

    /// Adds random blocks. Each is the best of a few draws: the one whose differences are rarest so far.
    fn fill(&mut self, blocks: usize, rng: &mut FastRng) {
        let mut draw = Vec::with_capacity(self.size);
        for _ in 0..blocks {
            let mut best: Option<(i64, Vec<u32>)> = None;
            for _ in 0..4 {
                self.draw_block(&mut draw, rng);
                self.count_pairs(&draw, 1);
                let mut sum = 0;
                for (i, &g) in draw.iter().enumerate() {
                    sum +=
                        draw[..i].iter().map(|&h| self.meetings[self.group.class_between(g, h)]).sum::<i64>();
                }
                self.count_pairs(&draw, -1);
                if best.as_ref().is_none_or(|(least, _)| sum < *least) {
                    best = Some((sum, draw.clone()));
                }
            }
            if let Some((_, block)) = best {
                self.count_pairs(&block, 1);
                self.blocks.extend(block);
            }
        }
        let total: i64 = self
            .meetings
            .iter()
            .zip(&self.group.weight)
            .map(|(&meetings, &weight)| meetings * 2 / weight)
            .sum();
        let pairs = i64::from(self.group.n) - 1;
        self.low = total / pairs;
        self.high = (total + pairs - 1) / pairs;
        self.cost = self.total_penalty();
    }

    fn draw_block(&self, block: &mut Vec<u32>, rng: &mut FastRng) {
        block.clear();
        while block.len() < self.size {
            let g = rng.below(self.group.n);
            if !block.contains(&g) {
                block.push(g);
            }
        }
    }

    /// Widens the window so that meetings may differ by 2.
    fn widen(&mut self, up: bool) {
        if self.low == self.high {
            self.low -= 1;
            self.high += 1;
        } else if up || self.low == 0 {
            self.high += 1;
        } else {
            self.low -= 1;
        }
        self.cost = self.total_penalty();
    }

    fn penalty(&self, meetings: i64) -> i64 {
        let off = (meetings - self.high).max(self.low - meetings).max(0);
        off * off
    }

    fn total_penalty(&self) -> i64 {
        self.meetings.iter().map(|&meetings| self.penalty(meetings)).sum()
    }

    fn spread(&self) -> i64 {
        let least = self.meetings.iter().min().copied().unwrap_or_default();
        self.meetings.iter().max().copied().unwrap_or_default() - least
    }

    /// Moves block elements until all meetings are in the window or the effort is spent.
    fn improve(&mut self, mut effort: u64, rng: &mut FastRng) {
        let step = step_effort(self.group, self.size);
        while self.cost > 0 && effort > step && !self.blocks.is_empty() {
            effort = effort.saturating_sub(step + self.step(rng).unwrap_or_default());
        }
    }

    /// One improvement step; returns its search cost.
    fn step(&mut self, rng: &mut FastRng) -> Option<u64> {
        let often = self
            .pick_class(rng, |search, n| n > search.high)
            .or_else(|| self.pick_class(rng, |search, n| n == search.high))?;
        let rare = self
            .pick_class(rng, |search, n| n < search.low)
            .or_else(|| self.pick_class(rng, |search, n| n == search.low))?;
        let (block, pair, visited) = self.find_pair(often, rng)?;
        let place = if rng.below(2) == 0 { pair.0 } else { pair.1 };
        let other = (place + 1 + rng.below(self.size as u32 - 1) as usize) % self.size;
        let mut by = self.group.element[rare];
        if rng.below(2) == 0 {
            by = self.group.negative[by as usize];
        }
        let start = block * self.size;
        let target = self.group.add(self.blocks[start + other], by);
        if self.blocks[start..start + self.size].contains(&target) {
            return Some(visited);
        }
        let (old, before) = (self.blocks[start + place], self.cost);
        self.replace_element(start, place, target);
        // Sometimes accept a worse design to escape local minima.
        let worse = self.cost - before;
        if worse > 0
            && u64::from(rng.next_u64().leading_zeros()) < 3 + self.caution * worse as u64 / self.size as u64
        {
            self.replace_element(start, place, old);
        }
        Some(visited)
    }

    /// A class with wanted meetings, searched from a random start.
    fn pick_class(&self, rng: &mut FastRng, wanted: impl Fn(&Self, i64) -> bool) -> Option<usize> {
        let classes = self.meetings.len();
        let start = rng.below(classes as u32) as usize;
        (start..classes).chain(0..start).find(|&class| wanted(self, self.meetings[class]))
    }

    /// A block with a pair of this class, searched from a random start: block, positions of the pair, search cost.
    fn find_pair(&self, class: usize, rng: &mut FastRng) -> Option<(usize, (usize, usize), u64)> {
        let blocks = self.blocks.len() / self.size;
        let start = rng.below(blocks as u32) as usize;
        for (visited, block) in (start..blocks).chain(0..start).enumerate() {
            let members = &self.blocks[block * self.size..(block + 1) * self.size];
            for (i, &g) in members.iter().enumerate() {
                if let Some(j) = members[..i].iter().position(|&h| self.group.class_between(g, h) == class) {
                    return Some((block, (i, j), (visited * self.size * self.size) as u64));
                }
            }
        }
        None
    }

    /// Replaces an element of the block that begins at `start` and updates the counts.
    fn replace_element(&mut self, start: usize, place: usize, to: u32) {
        let from = self.blocks[start + place];
        for i in (start..start + self.size).filter(|&i| i != start + place) {
            for (g, by) in [(from, -1), (to, 1)] {
                let class = self.group.class_between(self.blocks[i], g);
                self.cost -= self.penalty(self.meetings[class]);
                self.meetings[class] += by * self.group.weight[class];
                self.cost += self.penalty(self.meetings[class]);
            }
        }
        self.blocks[start + place] = to;
    }

    fn finish(self) -> Design {
        Design {
            group: self.group.clone(),
            size: self.size,
            blocks: self.blocks,
            short: self.short,
            meetings: self.meetings,
        }
    }
}
