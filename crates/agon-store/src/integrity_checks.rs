//! Does what a ledger says add up? In words that every database understands.

/// Each of these finds nothing in a ledger that is whole; what it says goes before the number of rows it finds.
pub const INTEGRITY_QUERIES: [(&str, &str); 7] = [
    (
        "phases whose sums are not those of their matches",
        "SELECT count(*) FROM phase p WHERE
            p.matches <> (SELECT count(*) FROM match m WHERE m.phase = p.phase) OR
            p.faults <> (SELECT coalesce(sum(faults), 0) FROM match m WHERE m.phase = p.phase) OR
            p.games <> (SELECT count(*) FROM match m JOIN game g ON g.match = m.id WHERE m.phase = p.phase)",
    ),
    (
        "phases whose last match is not the last of their matches",
        // It stays where it was when the last one was taken back.
        "SELECT count(*) FROM phase p WHERE p.last_match <>
            (SELECT coalesce(max(id), 0) FROM match m WHERE m.phase = p.phase) AND
            p.last_match <> coalesce((SELECT max(match) FROM withdrawn w WHERE w.phase = p.phase), 0)",
    ),
    (
        "matches whose games are not numbered from 0 without a gap",
        "SELECT count(*) FROM (SELECT max(game) + 1 <> count(*) AS gap FROM game GROUP BY match) AS one WHERE gap",
    ),
    (
        "matches with more or fewer entries in the fault list than they say",
        "SELECT count(*) FROM match m WHERE m.faults <> 0 AND
            m.faults <> (SELECT count(*) FROM fault f WHERE f.match = m.id)",
    ),
    (
        "entries in the fault list beyond those of the matches",
        "SELECT count(*) FROM fault f JOIN match m ON m.id = f.match WHERE m.faults = 0",
    ),
    (
        "sums of logs that are not those of the logs",
        "SELECT count(*) FROM log_size WHERE bytes <> (SELECT coalesce(sum(length(bytes)), 0) FROM log)",
    ),
    (
        "snapshots of more than was played",
        "SELECT count(*) FROM snapshot s JOIN phase p USING (phase) WHERE s.last_match > p.last_match",
    ),
];
