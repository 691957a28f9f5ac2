//! Consistency checks of a ledger, in SQL that every supported database accepts.

/// Description and query of each check. A query counts bad rows: 0 in an intact ledger. Reports show the description before that number.
pub const INTEGRITY_QUERIES: [(&str, &str); 7] = [
    (
        "phases with wrong totals",
        "SELECT count(*) FROM phase p WHERE
            p.matches <> (SELECT count(*) FROM match m WHERE m.phase = p.phase) OR
            p.faults <> (SELECT coalesce(sum(faults), 0) FROM match m WHERE m.phase = p.phase) OR
            p.games <> (SELECT count(*) FROM match m JOIN game g ON g.match = m.id WHERE m.phase = p.phase)",
    ),
    (
        "phases with a wrong last match",
        // `last_match` does not change when the last match is revoked.
        "SELECT count(*) FROM phase p WHERE p.last_match <>
            (SELECT coalesce(max(id), 0) FROM match m WHERE m.phase = p.phase) AND
            p.last_match <> coalesce((SELECT max(match) FROM withdrawn w WHERE w.phase = p.phase), 0)",
    ),
    (
        "matches with gaps in their game numbers",
        "SELECT count(*) FROM (SELECT max(game) + 1 <> count(*) AS gap FROM game GROUP BY match) AS one WHERE gap",
    ),
    (
        "matches with a wrong fault count",
        "SELECT count(*) FROM match m WHERE m.faults <> 0 AND
            m.faults <> (SELECT count(*) FROM fault f WHERE f.match = m.id)",
    ),
    (
        "faults of matches with a fault count of 0",
        "SELECT count(*) FROM fault f JOIN match m ON m.id = f.match WHERE m.faults = 0",
    ),
    (
        "wrong total size of bot output",
        "SELECT count(*) FROM log_size WHERE bytes <> (SELECT coalesce(sum(length(bytes)), 0) FROM log)",
    ),
    (
        "snapshots that cover more matches than were played",
        "SELECT count(*) FROM snapshot s JOIN phase p USING (phase) WHERE s.last_match > p.last_match",
    ),
];
