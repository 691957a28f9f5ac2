//! A match as the competition publishes it: the JSON of the rule document, with the bots' names.

use agon_core::Seat;
use serde::Serialize;
use serde::ser::{SerializeSeq, SerializeStruct, Serializer};

use super::board::move_name;
use super::state::{SEATS, State, Turn};

/// History of a match as JSON text: `players`, `final_scores` and `turn_data`. Each turn has `turn`, `platform_scores`,
/// `player_move`, `scores_awarded` (only bots that scored) and `players_map`.
pub fn history_json(state: &State, names: &[String]) -> String {
    serde_json::to_string(&MatchHistory { state, names }).unwrap_or_default()
}

/// History of a match in the shape of [`history_json`], for a larger document.
#[derive(Clone, Copy, Debug)]
pub struct MatchHistory<'a> {
    /// The match.
    pub state: &'a State,
    /// The bots' names in seat order.
    pub names: &'a [String],
}

impl Serialize for MatchHistory<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = four_names(self.names);
        let mut fields = serializer.serialize_struct("MatchHistory", 3)?;
        fields.serialize_field("players", &names)?;
        fields.serialize_field("final_scores", &Pairs(names.iter().zip(self.state.totals())))?;
        fields.serialize_field("turn_data", &TurnData { turns: self.state.history(), names: &names })?;
        fields.end()
    }
}

/// Turns with names, as in `match_history` and `turn_data`.
#[derive(Clone, Copy, Debug)]
pub struct TurnData<'a> {
    /// The turns.
    pub turns: &'a [Turn],
    /// The bots' names in seat order.
    pub names: &'a [String; SEATS],
}

impl Serialize for TurnData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.turns.len()))?;
        for turn in self.turns {
            list.serialize_element(&NamedTurn { turn, names: self.names })?;
        }
        list.end()
    }
}

struct NamedTurn<'a> {
    turn: &'a Turn,
    names: &'a [String; SEATS],
}

impl Serialize for NamedTurn<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { turn, names } = self;
        let moves = names.iter().zip(turn.moves.map(move_name));
        let scored = names.iter().zip(turn.awards).filter(|(_, award)| *award > 0);
        let sides = turn.deal.sides().iter().zip(names.iter());
        let mut fields = serializer.serialize_struct("Turn", 5)?;
        fields.serialize_field("turn", &turn.number)?;
        fields.serialize_field("platform_scores", &turn.deal.scores())?;
        fields.serialize_field("player_move", &Pairs(moves))?;
        fields.serialize_field("scores_awarded", &Pairs(scored))?;
        fields.serialize_field("players_map", &Pairs(sides))?;
        fields.end()
    }
}

/// Serialises an iterator of pairs as a JSON object, in its order.
struct Pairs<I>(I);

impl<K: Serialize, V: Serialize, I: Iterator<Item = (K, V)> + Clone> Serialize for Pairs<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

/// A name for each seat, even if fewer are given.
pub(super) fn four_names(names: &[String]) -> [String; SEATS] {
    std::array::from_fn(|i| names.get(i).cloned().unwrap_or_else(|| format!("seat {}", Seat(i as u8))))
}
