//! Word Racer's text protocol: the lines that a program reads from stdin. [`super::Answer`] parses what it writes.

use super::{CENTRE, Observation};

/// Writes the lines for the next request. At the start: the first letter, and `1` if the program calls first, else `0`. Later:
/// each letter that the other player calls. Nothing if the program calls again after placing a letter.
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
    fn both_programs_read_the_lines_of_the_rule_book() {
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
