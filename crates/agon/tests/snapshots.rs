//! Complete output of each command: exit code, stdout, stderr. `make golden` writes the snapshots again.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::whole;

macro_rules! snapshots {
    ($($name:ident: $words:expr;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(whole($words));
        })*
    };
}

snapshots! {
    help: "--help";
    help_new: "new --help";
    help_play: "play --help";
    help_check: "check --help";
    help_replay: "replay --help";
    help_trial: "trial --help";
    help_debug: "debug --help";
    help_init: "init --help";
    help_update: "update --help";
    version: "--version";
    games: "games";
    games_solitude_scramble: "games solitude-scramble";
    games_colour_battle: "games colour-battle";
    games_connect_five: "games connect-five";
    games_hide_and_seek: "games hide-and-seek";
    games_word_racer: "games word-racer";
    bots_solitude_scramble: "bots solitude-scramble";
    bots_colour_battle: "bots colour-battle";
    bots_connect_five: "bots connect-five";
    bots_hide_and_seek: "bots hide-and-seek";
    bots_word_racer: "bots word-racer";
    show_solitude_scramble: "show solitude-scramble --seed 7";
    show_colour_battle: "show colour-battle --seed 7";
    show_connect_five: "show connect-five --seed 7";
    show_hide_and_seek: "show hide-and-seek --seed 42";
    show_word_racer: "show word-racer --seed 7";
    show_json: "show connect-five --seed 7 --json";
    watch_as_text: "play connect-five house:random house:random --seed 7 --watch";
}

// Bad input: problem, place, hint; exit code 2 (3 for I/O).
snapshots! {
    bad_command: "plya";
    bad_option: "play connect-five house:random house:random --record-to x";
    bad_missing_bots: "play connect-five";
    bad_value: "play connect-five house:random house:random --games many";
    bad_combination: "play connect-five house:random house:random --json --watch";
    bad_new_folder: "new connect-five src";
    bad_new_game: "new connect-fife bot";
    bad_new_language: "new connect-five bot --lang pyhton";
    bad_init_game: "init conect-five cup.toml";
    bad_init_file: "init connect-five Cargo.toml";
    bad_update_file: "update no-such-file.toml";
    bad_game: "play connect-fife house:random house:random";
    bad_game_without_likeness: "show zzz";
    bad_bot: "play connect-five house:randm house:random";
    bad_bot_without_house: "play connect-five random house:random";
    bad_bot_for_the_role: "play hide-and-seek house:random-hider house:random-seeker";
    bad_number_of_seats: "play solitude-scramble house:random house:random";
    bad_too_many_seats: "play connect-five house:random house:random house:random";
    bad_setting: "play colour-battle house:random house:random --set round=5";
    bad_setting_value: "play colour-battle house:random house:random --set rounds=0";
    bad_settings_all_at_once: "show connect-five --set p=2 --set colums=3 --set special=1";
    bad_settings_together: "show connect-five --set p=0.7 --set q=0.7";
    bad_setting_form: "show connect-five --set p";
    bad_seed: "play connect-five house:random house:random --seed seven";
    bad_seed_negative: "show connect-five --seed=-1";
    bad_jobs: "play connect-five house:random house:random --jobs 0";
    bad_games: "play connect-five house:random house:random --games 0";
    bad_match: "play word-racer house:random house:random --match-games 3";
    bad_seats_of_show: "show solitude-scramble --seats 5";
    bad_word_list: "show word-racer --set words=no-such-file";
    bad_record_path: "play connect-five house:random house:random --record no-such-folder/a.agon";
    bad_record_missing: "replay no-such-file.agon";
    bad_record_other_file: "replay Cargo.toml";
}
