//! `agon report`: the pages of a tiny competition of each game, checked as a browser would read them.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;
#[path = "report/markup.rs"]
mod markup;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use common::place::{Place, reader};
use markup::Markup;

/// All files below a folder, as relative paths.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![PathBuf::new()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(folder.join(&at)).unwrap() {
            let path = at.join(entry.unwrap().file_name());
            if folder.join(&path).is_dir() {
                open.push(path);
            } else {
                found.insert(path.to_str().unwrap().to_owned());
            }
        }
    }
    found
}

fn is_page(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "html")
}

/// Checks every page: well-formed, with a title, a language and one heading. Every link leads to a file of the report (and to an existing
/// part of it), nothing leads elsewhere, and every page is reachable.
fn look_at(folder: &Path) -> BTreeSet<String> {
    let all = files(folder);
    let pages: Vec<&String> = all.iter().filter(|name| is_page(name)).collect();
    let mut reached = BTreeSet::from(["summary.html".to_owned()]);
    for page in &pages {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        let markup = Markup::read(&text).unwrap_or_else(|why| panic!("{page}: {why}"));
        assert_eq!(markup.first("html").and_then(|tag| tag.get("lang")), Some("en"), "{page}");
        assert_eq!((markup.count("title"), markup.count("h1"), markup.count("main")), (1, 1, 1), "{page}");
        assert_eq!(markup.count("table"), markup.count("caption"), "{page}: a table has no caption");
        assert!(text.contains("default-src 'none'"), "{page}");
        let scripts =
            markup.tags.iter().filter(|tag| tag.name == "script" && tag.get("type").is_none()).count();
        assert_eq!(
            scripts,
            usize::from(page.starts_with("games/")),
            "{page}: a script other than the viewer's"
        );
        let ids: Vec<&str> = markup.tags.iter().filter_map(|tag| tag.get("id")).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{page}: duplicate id");
        let links = markup.tags.iter().flat_map(|tag| [tag.get("href"), tag.get("src")]).flatten();
        for link in links.filter(|link| *link != "data:,") {
            let (file, part) = link.split_once('#').unwrap_or((link, ""));
            let from = Path::new(page).parent().unwrap();
            let to = if file.is_empty() { (*page).clone() } else { plain(&from.join(file)) };
            assert!(all.contains(&to), "{page}: the target of {link} does not exist");
            assert!(!file.is_empty() || ids.contains(&part), "{page}: the part {link} does not exist");
            reached.insert(to);
        }
    }
    assert!(pages.iter().all(|page| reached.contains(*page)), "{pages:?} {reached:?}");
    all
}

/// Path without `..`.
fn plain(path: &Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.to_str().unwrap().split('/') {
        if part == ".." {
            assert!(parts.pop().is_some(), "{} is outside the report", path.display());
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

fn entrants(bots: &[&str]) -> String {
    bots.iter().fold(String::new(), |text, bot| format!("{text}[[entrant]]\nbot = \"house:{bot}\"\n"))
}

/// A competition with these phases and house bots, one of which has a name with markup.
fn competition_text(game: &str, head: &str, phases: &str, bots: &[&str]) -> String {
    let hostile = "name = \"<script>alert(1)</script> & co\"\ncontributor = \"<b>Bobby</b>\"\nmarks = { AI = \"</pre><i>\" }\n";
    format!(
        "name = \"Cup <i>of</i> {game}\"\ngame = \"{game}\"\n{head}\n{phases}\n{}{hostile}",
        entrants(bots)
    )
}

fn read(place: &Place, path: &str) -> String {
    fs::read_to_string(place.path(path)).unwrap()
}

/// Runs a competition and writes its report.
fn report(game: &str, head: &str, phases: &str, bots: &[&str]) -> (Place, BTreeSet<String>) {
    let place = Place::new(&[("cup.toml", &competition_text(game, head, phases, bots))]);
    place.good(&["run", "cup.toml", "--jobs", "2"]);
    let told = place.good(&["report", "cup.toml", "out"]);
    assert!(told.starts_with("out/summary.html"), "{told}");
    let files = look_at(&place.path("out"));
    for page in files.iter().filter(|name| is_page(name)) {
        assert!(!read(&place, &format!("out/{page}")).contains("<script>alert"), "{page}");
    }
    let last = bots.len();
    assert!(files.contains(&format!("bots/{last:02}-script-alert-1-script-co.html")), "{files:?}");
    (place, files)
}

fn games(files: &BTreeSet<String>) -> usize {
    files.iter().filter(|name| name.starts_with("games/")).count()
}

const GROUPS: &str = "[[phase]]\nname = \"One\"\nformat = \"groups\"\nsize = 4\nmatches = 4\n[[phase]]\nname = \"Two\"\nformat = \"groups\"\nsize = 4\nmatches = 4\nresubmit = true\n";

#[test]
fn solitude_report_between_two_phases_hides_seeds() {
    let (place, files) =
        report("solitude-scramble", "", GROUPS, &["random", "greedy", "second-best", "counter", "left"]);
    assert!(files.contains("phase-1.html") && !files.contains("phase-2.html"));
    let summary = read(&place, "out/summary.html");
    assert!(summary.contains("APPM") && summary.contains(">waiting<"), "{summary}");
    assert!(summary.contains("The seed itself is published after the last game"), "{summary}");
    for game in files.iter().filter(|name| name.starts_with("games/")) {
        assert!(!read(&place, &format!("out/{game}")).contains("\"seed\":"), "{game} contains a secret seed");
    }
    // A second report replaces the first one and includes the new matches.
    place.good(&["run", "cup.toml", "--jobs", "2"]);
    let json: serde_json::Value =
        serde_json::from_str(&place.good(&["report", "cup.toml", "out", "--games", "2", "--json"])).unwrap();
    assert_eq!((&json["agon"], json["games"].as_u64()), (&"report".into(), Some(4)));
    let files = look_at(&place.path("out"));
    assert!(files.contains("phase-2.html"));
    assert_eq!(games(&files), 4, "files of the first report are left");
    assert!(read(&place, "out/summary.html").contains("sha256sum"));
}

#[test]
fn colour_battle_report_has_tables_and_histograms() {
    let phase = "[settings]\nrounds = 20\n[[phase]]\nname = \"Tournament\"\nformat = \"arena\"\ngames = 6\n";
    let (place, files) = report("colour-battle", "", phase, &["random", "sweeper", "seeker"]);
    assert_eq!(games(&files), 6);
    let page = read(&place, "out/phase-1.html");
    for part in
        ["score", "spread", "head-to-head", "scores", "ratings", "times", "balance", "faults", "games"]
    {
        assert!(page.contains(&format!("<section id=\"{part}\">")), "{part}");
    }
    assert!(!page.contains("<section id=\"efficiency\">"), "house bots are not ranked by efficiency");
    assert_eq!(page.matches("class=\"bar\"").count(), 3, "one histogram per entrant");
}

#[test]
fn connect_five_report_shows_each_game_of_a_match() {
    let phase = "[[phase]]\nname = \"League\"\nformat = \"round-robin\"\nlegs = 2\nparts = [{ games = 3, first_to = 2, seconds = 1 }, { games = 1, first_to = 1, seconds = 1 }]\n";
    let (place, files) = report("connect-five", "", phase, &["random", "tactician"]);
    assert!(games(&files) >= 4, "{files:?}");
    assert!(read(&place, "out/phase-1.html").contains("Won - lost"));
    assert!(
        files.iter().any(|name| name.starts_with("games/") && name.ends_with("-2.html")),
        "each game of a match has a page"
    );
}

#[test]
fn games_with_hidden_seeds_are_shown_after_the_seed_is_revealed() {
    let phases = "[settings]\nsteps = 200\n[[phase]]\nname = \"One\"\nformat = \"cross\"\nboards = 2\n[[phase]]\nname = \"Two\"\nformat = \"cross\"\nboards = 1\nresubmit = true\n";
    let (place, files) =
        report("hide-and-seek", "", phases, &["roaming-seeker", "still-hider", "running-hider"]);
    assert_eq!(games(&files), 0, "{files:?}");
    assert!(read(&place, "out/phase-1.html").contains("These games use hidden seeds"));
    place.good(&["run", "cup.toml", "--jobs", "2"]);
    place.good(&["report", "cup.toml", "out"]);
    let files = look_at(&place.path("out"));
    assert_eq!(games(&files), 6, "all games of both phases: {files:?}");
    assert!(read(&place, "out/summary.html").contains("medal gold"));
}

#[test]
fn word_racer_report_has_a_bracket() {
    let phases = "[[phase]]\nname = \"Round robin\"\nformat = \"round-robin\"\nletters = \"A\"\nswap = true\n[[phase]]\nname = \"Knockout\"\nformat = \"knockout\"\ntop = 4\npairs = 1\nthird = true\n";
    let (place, files) = report("word-racer", "", phases, &["random", "filler", "z-racer", "rows"]);
    assert!(files.contains("phase-2.html"));
    let summary = read(&place, "out/summary.html");
    assert!(
        summary.contains("class=\"bracket\"")
            && summary.contains(">final<")
            && summary.contains("third place"),
        "{summary}"
    );
    assert_eq!(summary.matches("class=\"join\"").count(), 2, "both semi-finals are linked to the final");
    // A report with another selection of games.
    place.good(&["report", "cup.toml", "all", "--games", "all"]);
    // A drawn pair of the knockout is replayed, which depends on the thinking times of the bots.
    let played = games(&look_at(&place.path("all")));
    assert!(played >= 12 + 8 && played.is_multiple_of(2), "{played}");
}

#[test]
fn folder_with_other_files_is_not_overwritten() {
    let phase = "[[phase]]\nformat = \"round-robin\"\nparts = [{ games = 1, first_to = 1, seconds = 1 }]\n";
    let place = Place::new(&[
        ("cup.toml", &competition_text("connect-five", "", phase, &["random", "tactician"])),
        ("mine/thesis.txt", "years of work"),
    ]);
    assert!(place.refused(&["report", "cup.toml", "out"]).contains("has not been run"));
    place.good(&["run", "cup.toml"]);
    let told = place.refused(&["report", "cup.toml", "mine"]);
    assert!(told.contains("such as thesis.txt") && told.contains("hint: name a new folder"), "{told}");
    assert_eq!(files(&place.path("mine")).len(), 1);
    assert!(
        place
            .refused(&["report", "cup.toml", "out", "--games", "many"])
            .contains("hint: give the number of games of each phase")
    );
    // Other files in a report's folder stay; outdated files of the report are removed.
    place.good(&["report", "cup.toml", "out"]);
    place.write("out/CNAME", "example.org");
    let before = games(&files(&place.path("out")));
    place.good(&["report", "cup.toml", "out", "--games", "0"]);
    assert_eq!(read(&place, "out/CNAME"), "example.org");
    assert_eq!((before, games(&files(&place.path("out")))), (1, 0));
    let beside: Vec<_> =
        fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(beside.iter().all(|name| !name.to_str().unwrap().contains(".part")), "{beside:?}");
}

#[test]
fn run_of_a_players_yml_writes_a_page_for_each_game() {
    let players = "players:\n  - {name: A, directory: a, command: python3 racer.py}\n  - {name: B, directory: b, command: python3 racer.py}\n";
    let bot = reader("True");
    let place =
        Place::new(&[("conf/players.yml", players), ("run/a/racer.py", &bot), ("run/b/racer.py", &bot)]);
    let run = || place.good(&["run", "conf/players.yml", "--base", "run"]);
    run();
    let results = place.path("run/results");
    assert_eq!(games(&look_at(&results)), 2);
    let summary = read(&place, "run/results/summary.html");
    assert!(summary.contains("games/1-1-1-1.html") && summary.contains("games/1-1-2-1.html"), "{summary}");
    // A second run is a new tournament in the same folder.
    run();
    assert_eq!(games(&look_at(&results)), 2);
}

/// A seeker that reveals its position in its error message.
const TALKER: &str = "class Seeker(Player):\n    def __init__(self, game_map, spawn_position, enemy_spawn_position):\n        self.pos = spawn_position\n\n    def move(self):\n        raise RuntimeError('the map tells me TELLTALE')\n";

#[test]
fn bot_output_with_hidden_seeds_is_withheld() {
    let Some(python) = common::python() else { return };
    let phases = "[settings]\nsteps = 10\n[[phase]]\nname = \"One\"\nformat = \"cross\"\nboards = 1\n[[phase]]\nname = \"Two\"\nformat = \"cross\"\nboards = 1\nresubmit = true\n";
    let file = competition_text("hide-and-seek", "", phases, &["roaming-seeker", "still-hider"]);
    let talker = "[[entrant]]\nname = \"Talker\"\nbot = \"talker.py\"\nrole = \"seeker\"\n";
    let place = Place::new(&[("cup.toml", &(file + talker)), ("talker.py", TALKER)]);
    let agon = |words: &[&str]| {
        common::good(&common::agon(&place.path(""), words).env("AGON_PYTHON", &python).output().unwrap())
    };
    let told = || {
        agon(&["run", "cup.toml"]);
        agon(&["report", "cup.toml", "out"]);
        look_at(&place.path("out"))
            .iter()
            .any(|name| read(&place, &format!("out/{name}")).contains("TELLTALE"))
    };
    assert!(!told(), "the first phase is finished, but its seeds are still secret");
    assert!(read(&place, "out/phase-1.html").contains("output of bots are held back"));
    assert!(told(), "the output is missing after the seed was revealed");
}
