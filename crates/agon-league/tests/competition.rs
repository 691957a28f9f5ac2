//! Competitions as people write them.

use agon_league::Competition;
use agon_league::competition::own;

#[test]
fn every_game_has_a_competition_that_reads_back() {
    for info in agon_games::infos() {
        let text = own(info.id).unwrap_or_else(|| panic!("{} has none", info.id));
        let competition = Competition::read(text).unwrap_or_else(|mistakes| {
            panic!("{}", mistakes.iter().map(|m| m.in_file(info.id)).collect::<Vec<_>>().join("\n"))
        });
        assert_eq!(competition.game, info.id);
        assert!(competition.entrants.len() >= 4);
    }
}
