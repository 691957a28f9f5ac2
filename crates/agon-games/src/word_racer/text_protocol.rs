//! Word Racer's own line protocol: what a program reads on its stdin. What it writes, [`super::Answer`] reads.

use super::{CENTRE, Observation};

/// Writes what a program has to read before it answers: at the start the first letter and whether it calls first
/// (`1` or `0`), then each letter the other calls. Nothing when it is to call again after it placed a letter.
pub fn write_request(seen: &Observation<'_>, out: &mut Vec<u8>) {
    if seen.places.is_empty() {
        let letter = seen.board.to_string().as_bytes().get(CENTRE).copied().unwrap_or(b'A');
        out.extend([letter, b'\n', if seen.first { b'1' } else { b'0' }, b'\n']);
    }
    if let Some(letter) = seen.letter {
        out.extend([b'A' + letter.code(), b'\n']);
    }
}

#[cfg(test)]
mod tests {
    use agon_core::{Assets, Game, Reply, Seat, Settings};

    use super::super::{Answer, Letter, WordRacer};
    use super::*;

    #[test]
    fn both_programs_read_what_the_rule_book_says() {
        let settings = Settings::parse(WordRacer::info().settings, [("letter", "E")]).unwrap();
        let game = WordRacer::new(&settings, 2, &Assets::none()).unwrap();
        let mut state = game.start(0);
        let mut read = [Vec::new(), Vec::new()];
        let call = |letter| Letter::read(letter).unwrap();
        for answer in [
            Answer::Call { letter: call('Q'), position: 0 },
            Answer::Place { position: 48 },
            Answer::Call { letter: call('U'), position: 47 },
            Answer::Place { position: 1 },
            Answer::Call { letter: call('I'), position: 2 },
            Answer::Place { position: 3 },
        ] {
            let seat = game.to_move(&state).next().unwrap();
            write_request(&game.observe(&state, seat), &mut read[seat.index()]);
            game.apply(&mut state, &[Reply::Answer(answer)]);
        }
        assert_eq!(read.map(|bytes| String::from_utf8(bytes).unwrap()), ["E\n1\nU\n", "E\n0\nQ\nI\n"]);
        assert_eq!(game.to_move(&state), agon_core::SeatSet::one(Seat(1)));
    }
}
