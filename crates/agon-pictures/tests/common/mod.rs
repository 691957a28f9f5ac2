//! Games of house bots, and all kinds of pictures of them.
#![allow(dead_code, reason = "each user needs only some items")]

use agon_core::record::{Recorder, read_all};
use agon_core::settings::Settings;
use agon_core::{Assets, GameInfo, Seat, Viewpoint};
use agon_engine::film::Film;
use agon_engine::referee::GameHooks;
use agon_engine::{AnyGame, MatchSetup, PlayerSpec};
use agon_pictures::card::{self, BotCard, CardRow, TableCard};
use agon_pictures::clip::{ClipLimits, ClipOptions, turn_time};
use agon_pictures::{GamePictures, Theme};

/// Number of seats of a game with a variable number.
const MANY: usize = 6;

/// A game of house bots, by the id of its rules.
pub fn film(id: &str) -> (&'static GameInfo, Box<dyn Film>) {
    let game = agon_engine::any_game(id).unwrap();
    let info = game.info();
    let count = MANY.clamp(info.seats.min, info.seats.max);
    let seats: Vec<PlayerSpec> =
        Seat::all(count).map(|seat| PlayerSpec::House(bot_for(game.as_ref(), seat))).collect();
    let settings = Settings::defaults(info.settings);
    let assets = Assets::none();
    let setup = MatchSetup { settings: &settings, seed: 5, seats: &seats, assets: &assets };
    let mut recorder = Recorder::new();
    let mut hooks =
        GameHooks { reporter: None, console: None, persons: None, recorder: Some(&mut recorder), log: None };
    let mut record = None;
    game.play(&setup, 0..1, &mut hooks, &mut |played| record = played.record).unwrap();
    let (bytes, _) = record.unwrap();
    let record = read_all(&bytes).unwrap().remove(0);
    (info, game.film(record, &assets).unwrap())
}

/// The second weakest house bot for a seat, so that games do not end at once.
fn bot_for(game: &dyn AnyGame, seat: Seat) -> String {
    let role = game.info().role(seat).name;
    let bots = game.house_bots();
    let mut playing = bots.iter().filter(|bot| bot.roles.is_empty() || bot.roles.contains(&role));
    let first = playing.next().unwrap().name;
    playing.next().map_or(first, |bot| bot.name).to_owned()
}

/// All kinds of pictures of a game, each with a name.
pub fn pictures(id: &str) -> Vec<(String, Vec<u8>)> {
    let (info, film) = film(id);
    let pictures = GamePictures::new(film.as_ref(), info).titled("A competition");
    let last = pictures.last_turn();
    let mut made = Vec::new();
    for theme in [Theme::Light, Theme::Dark] {
        for (name, turn) in [("start", 0), ("middle", last / 2), ("end", last)] {
            let picture = pictures.picture(turn, 640, theme).unwrap().png().unwrap();
            made.push((format!("{id}-{name}-{}.png", theme.name()), picture));
        }
        let subtitle = format!("{} · First phase", info.title);
        let card = pictures.card(last, &subtitle, "Agon", theme).unwrap().png().unwrap();
        made.push((format!("{id}-card-{}.png", theme.name()), card));
    }
    let seat = GamePictures::new(film.as_ref(), info).seen_from(Viewpoint::Seat(Seat(0)));
    made.push((format!("{id}-seat-0.png"), seat.picture(last / 2, 640, Theme::Dark).unwrap().png().unwrap()));
    made.push((format!("{id}.gif"), clip(&pictures, last.saturating_sub(8), last, 320)));
    made
}

/// A GIF of some turns.
pub fn clip(pictures: &GamePictures<'_>, from: usize, to: usize, width: u32) -> Vec<u8> {
    let limits = ClipLimits::default();
    let options = ClipOptions { from, to, turn_time: turn_time(4.0), width, theme: Theme::Dark, limits };
    pictures.gif(&options).unwrap()
}

/// Cards of tables and bots.
pub fn cards() -> Vec<(String, Vec<u8>)> {
    let names = [
        "alpha",
        "Ωmega Бот",
        "a name that is so long that it does not fit into any row of any card at all",
        "delta",
        "echo",
    ];
    let rows = (1..).zip(names).map(|(rank, name): (u16, &str)| CardRow {
        rank: rank.to_string(),
        name: name.to_owned(),
        color: rank - 1,
        value: format!("{}.5", 40 - rank),
    });
    let table = TableCard {
        title: "The autumn cup of the university, with a long name".to_owned(),
        subtitle: "A game · Running · First phase".to_owned(),
        rows: rows.collect(),
        lines: Vec::new(),
        site: "Agon".to_owned(),
    };
    let before = TableCard { rows: Vec::new(), lines: vec!["12 bots".to_owned()], ..table.clone() };
    let bot = BotCard {
        name: "alpha".to_owned(),
        color: 3,
        subtitle: "The autumn cup · A game".to_owned(),
        facts: vec![("Rank".to_owned(), "1 of 12".to_owned()), ("Author".to_owned(), "Ada".to_owned())],
        site: "Agon".to_owned(),
    };
    let mut made = Vec::new();
    for theme in [Theme::Light, Theme::Dark] {
        let name = |kind: &str| format!("card-{kind}-{}.png", theme.name());
        made.push((name("table"), card::table_card(&table, theme).unwrap().png().unwrap()));
        made.push((name("before"), card::table_card(&before, theme).unwrap().png().unwrap()));
        made.push((name("bot"), card::bot_card(&bot, theme).unwrap().png().unwrap()));
    }
    made
}
