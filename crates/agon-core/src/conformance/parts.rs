//! Parts that a game must have besides its rules. Each missing part is named.

use crate::assets::Assets;
use crate::game::{Game, HouseBots, View};
use crate::game_texts::STARTER_LANGUAGES;
use crate::info::GameInfo;
use crate::seat::Seat;
use crate::settings::{SettingKind, Settings};
use crate::standings_rules::{ColumnValue, RankCriterion, TieBreak};

/// Marks a place that the author of a new game has to fill in.
pub const PLACEHOLDER: &str = "FILL IN";

/// All parts that the game lacks, one sentence each. Empty if the game is complete.
pub fn missing_parts<G: Game + View + HouseBots>() -> Vec<String> {
    let info = G::info();
    let mut missing = Missing(Vec::new());
    missing.description(info);
    missing.texts(info);
    missing.starters::<G>();
    missing.competition(info);
    missing.standings(info);
    missing.bots::<G>();
    missing.view::<G>();
    missing.0
}

struct Missing(Vec<String>);

impl Missing {
    fn unless(&mut self, is_there: bool, part: &str, hint: impl std::fmt::Display) {
        if !is_there {
            self.0.push(format!("{part}: {hint}"));
        }
    }

    fn text(&mut self, text: &str, part: &str) {
        let is_there = !text.trim().is_empty() && !text.contains(PLACEHOLDER);
        self.unless(is_there, part, "the text is empty or has a place to fill in");
    }

    fn description(&mut self, info: &GameInfo) {
        let is_id = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        self.unless(info.id.chars().all(is_id), "id", "use lower-case words with dashes");
        self.text(info.title, "title");
        self.text(info.summary, "summary");
        self.text(info.clock, "clock");
        for request in info.requests {
            self.text(request.asks, &format!("request `{}`", request.name));
            self.text(request.example, &format!("example of request `{}`", request.name));
        }
    }

    fn texts(&mut self, info: &GameInfo) {
        self.text(info.texts.rules, "texts/rules.md");
        self.text(info.texts.api, "texts/api.md");
        let command = format!("agon check {}", info.id);
        self.unless(info.texts.api.contains(&command), "texts/api.md", format!("mention `{command}`"));
        let section = "## The competition";
        self.unless(info.texts.rules.contains(section), "texts/rules.md", format!("add `{section}`"));
        self.unless(!info.bots.requirements.is_empty(), "requirements", "say what a submission must contain");
        for line in info.bots.requirements {
            self.text(line, "requirements");
        }
    }

    fn starters<G: HouseBots>(&mut self) {
        let info = G::info();
        let starters = &info.starters;
        self.text(starters.about, "starters/about.md");
        self.text(starters.asked_lines, "starters/asked-lines.md");
        self.text(starters.next, "starters/next.md");
        match (starters.asked_python, info.bots.python) {
            (Some(text), Some(_)) => self.text(text, "starters/asked-python.md"),
            (None, None) => {}
            _ => {
                self.unless(false, "starters/asked-python.md", "needed if and only if there is a Python API");
            }
        }
        for language in STARTER_LANGUAGES {
            let part = format!("starters/{language}");
            match starters.bots.iter().find(|bot| bot.language == language) {
                None => self.unless(false, &part, "write a bot that plays legally, and list it in `bots`"),
                Some(bot) => {
                    self.text(bot.text, &part);
                    let place = "Your idea goes here";
                    self.unless(
                        bot.text.contains(place),
                        &part,
                        format!("mark the author's place: `{place}`"),
                    );
                }
            }
        }
        self.unless(!starters.opponents.is_empty(), "opponents of the starters", "list at least one");
        let named = starters.opponents.iter().flat_map(|words| words.split(' '));
        for name in named.filter_map(|word| word.strip_prefix("house:")) {
            let known = G::bots().iter().any(|bot| bot.name == name);
            self.unless(known, "opponents of the starters", format!("there is no house bot `{name}`"));
        }
    }

    fn competition(&mut self, info: &GameInfo) {
        self.text(info.competition.preset, "competition/preset.toml");
        self.text(info.competition.demo, "competition/demo.toml");
        self.text(info.competition.short, "competition/short.toml");
        self.unless(info.competition.demo.contains("SEED"), "competition/demo.toml", "write seed = \"SEED\"");
        let own_game = format!("game = \"{}\"", info.id);
        for (text, part) in [
            (info.competition.preset, "competition/preset.toml"),
            (info.competition.demo, "competition/demo.toml"),
            (info.competition.short, "competition/short.toml"),
        ] {
            self.unless(text.contains(&own_game), part, format!("write {own_game}"));
        }
    }

    fn standings(&mut self, info: &GameInfo) {
        let rules = &info.standings;
        self.unless(!rules.order.is_empty(), "standings.order", "name a criterion");
        let before_last = &rules.order[..rules.order.len().saturating_sub(1)];
        let last_only = !before_last.contains(&RankCriterion::HeadToHead);
        self.unless(last_only, "standings.order", "HeadToHead can only be the last criterion");
        let has_stat = |index: usize| index < info.stats.len();
        let is_known = |criterion: &RankCriterion| match criterion {
            RankCriterion::TotalStat(index) => has_stat(*index),
            _ => true,
        };
        self.unless(rules.order.iter().all(is_known), "standings.order", "there is no such statistic");
        if let TieBreak::Stat(index) = rules.tie_break {
            self.unless(has_stat(index), "standings.tie_break", "there is no such statistic");
        }
        let pairs = rules.head_to_head.is_some() == (info.seats.max == 2);
        self.unless(pairs, "standings.head_to_head", "needed if and only if a game has two seats");
        for role in info.roles {
            let is_own = |table: &crate::standings_rules::TableInfo| match table.role {
                Some(name) => name == role.name,
                None => info.roles.len() == 1,
            };
            let hint = format!("add a table for the role `{}`", role.name);
            self.unless(rules.tables.iter().any(is_own), "standings.tables", hint);
        }
        for (at, table) in rules.tables.iter().enumerate() {
            let part = format!("table `{}`", table.id);
            self.text(table.title, &part);
            let unique = !rules.tables[..at].iter().any(|other| other.id == table.id);
            self.unless(unique, &part, "use each id once");
            let has = |value| table.columns.iter().any(|column| column.value == value);
            self.unless(has(ColumnValue::Rank) && has(ColumnValue::Name), &part, "add rank and name");
            let known = table.columns.iter().all(|column| match column.value {
                ColumnValue::TotalStat(index) => has_stat(index),
                _ => true,
            });
            self.unless(known, &part, "there is no such statistic");
        }
    }

    fn bots<G: HouseBots>(&mut self) {
        let info = G::info();
        let rules = &info.bots;
        for role in info.roles {
            let own = G::bots().iter().filter(|bot| bot.roles.is_empty() || bot.roles.contains(&role.name));
            let count = own.count();
            let hint = format!("the role `{}` has {count}, needs five", role.name);
            self.unless(count >= 5, "house bots", hint);
        }
        let short = Settings::parse(info.settings, rules.check_settings.iter().copied());
        self.unless(short.is_ok(), "bots.check_settings", "use settings of the game");
        let same = rules.text_protocol.is_some() == G::text_protocol().is_some();
        self.unless(same, "bots.text_protocol", "needs `Game::text_protocol`, and the other way round");
        let can_be_submitted = rules.python.is_some() || rules.text_protocol.is_some();
        self.unless(can_be_submitted, "bots.python", "offer a Python API or a text protocol");
        if let Some(file) = rules.file {
            let is_asset =
                |spec: &crate::SettingSpec| spec.name == file.setting && spec.kind == SettingKind::Asset;
            self.unless(info.settings.iter().any(is_asset), "bots.file", "name a setting of kind Asset");
            self.unless((file.content)(None).is_some(), "bots.file", "there is no built-in content");
        }
    }

    /// What a finished game shows and publishes.
    fn view<G: View>(&mut self) {
        let info = G::info();
        let Ok(game) = G::new(&Settings::defaults(info.settings), info.seats.min, &Assets::none()) else {
            return self.unless(false, "settings", "the defaults are not valid with the fewest seats");
        };
        let state = game.start(1);
        let names: Vec<String> = (0..game.seats()).map(|seat| format!("bot-{seat}")).collect();
        self.unless(!game.frame(&state).is_null(), "View::frame", "return what a viewer draws");
        self.text(&game.show(&state), "View::picture");
        self.unless(
            game.write_log_entry(&state, Some(Seat(0)), &mut String::new()) == info.bots.keeps_data,
            "View::write_log_entry",
            "needed if and only if bots.keeps_data",
        );
        self.unless(
            game.published_json(&state, &names).is_some() == info.competition.publishes_history,
            "View::published_json",
            "needed if and only if competition.publishes_history",
        );
    }
}
