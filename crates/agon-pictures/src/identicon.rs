//! The mark of a bot: a small pattern with mirror symmetry, made from its name, the same as on the pages (`web/src/identicon.ts`).

/// Cells per side of the pattern.
pub const SIDE: usize = 5;
/// Columns that the name decides; the others mirror them.
const OWN_COLUMNS: usize = 3;
const OWN_CELLS: usize = OWN_COLUMNS * SIDE;
/// A pattern with fewer or more filled cells looks like an empty or a full square.
const FILLED: std::ops::RangeInclusive<u32> = 5..=11;

/// 32 bits of a name (FNV-1a over UTF-16, then the final mixing of `MurmurHash3`, so that similar names differ in all bits).
fn hash(name: &str, salt: u32) -> u32 {
    let mut bits = 0x811c_9dc5 ^ salt;
    for unit in name.encode_utf16() {
        bits = (bits ^ u32::from(unit)).wrapping_mul(0x0100_0193);
    }
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    bits ^ (bits >> 16)
}

/// Whether each cell is filled, row by row.
pub fn cells(name: &str) -> [bool; SIDE * SIDE] {
    let mut salt = 0;
    let bits = loop {
        let bits = hash(name, salt) & ((1 << OWN_CELLS) - 1);
        if FILLED.contains(&bits.count_ones()) {
            break bits;
        }
        salt += 1;
    };
    std::array::from_fn(|cell| {
        let column = cell % SIDE;
        let own = column.min(SIDE - 1 - column);
        (bits >> (cell / SIDE * OWN_COLUMNS + own)) & 1 == 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_symmetric_and_neither_empty_nor_full() {
        for name in ["", "a", "house:random", "Ω", "a name with more than twenty characters"] {
            let cells = cells(name);
            for (row, cells) in cells.chunks_exact(SIDE).enumerate() {
                assert_eq!((cells[0], cells[1]), (cells[4], cells[3]), "{name}, row {row}");
            }
            let filled = cells.iter().filter(|filled| **filled).count();
            assert!((5..=22).contains(&filled), "{name}: {filled}");
        }
        assert_ne!(cells("alpha"), cells("alphb"));
    }
}
