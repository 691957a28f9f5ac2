//! A bot for all five games: any legal answer, drawn with the seed it is given.
//!
//! It speaks the JSON-lines protocol of docs/protocol.md: one JSON object a line on stdin, one on stdout. Print what you
//! want to know with `eprintln!`, never with `println!`. Build it with `rustc --edition 2021 -O bot.rs`.

use std::collections::HashMap;
use std::io::{BufRead, Write};

fn main() {
    let mut output = std::io::stdout();
    let (mut game, mut rng) = (String::new(), Random::new("1"));
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("stdin can be read");
        let message = Reader { bytes: line.as_bytes(), at: 0 }.value();
        let mut answer = String::new();
        match message.get("type").text() {
            "hello" => game = message.get("game").text().to_owned(),
            "start" => rng = Random::new(message.get("seed").text()),
            "turn" => answer = format!(",\"answer\":{}", play(&game, message.get("observation"), &mut rng)),
            "bye" => break,
            _ => {}
        }
        writeln!(output, "{{\"id\":{}{answer}}}", message.get("id").whole()).expect("stdout can be written");
        output.flush().expect("stdout can be written");
    }
}

fn play(game: &str, seen: &Json, rng: &mut Random) -> String {
    match game {
        "solitude-scramble" => format!("{:?}", rng.choice(&["LEFT", "RIGHT", "CENTER"])),
        "colour-battle" => format!("{:?}", rng.choice(&["UP", "DOWN", "LEFT", "RIGHT"])),
        "connect-five" => {
            let top_row = seen.get("board").list()[0].list();
            let columns: Vec<usize> = (0..top_row.len()).filter(|&column| top_row[column].whole() == 0).collect();
            rng.choice(&columns).to_string()
        }
        "hide-and-seek" => format!("{:?}", hide_and_seek(seen, rng)),
        _ => word_racer(seen, rng),
    }
}

fn hide_and_seek(seen: &Json, rng: &mut Random) -> &'static str {
    let (map, pos) = (seen.get("game_map").list(), seen.get("pos").list());
    let is_empty = |x: i64, y: i64| {
        let column = usize::try_from(x).ok().and_then(|x| map.get(x));
        let cell = column.and_then(|column| usize::try_from(y).ok().and_then(|y| column.list().get(y)));
        cell.is_some_and(|cell| cell.whole() == 0)
    };
    let (x, y) = (pos[0].whole(), pos[1].whole());
    let steps = [("LEFT", x - 1, y), ("RIGHT", x + 1, y), ("UP", x, y - 1), ("DOWN", x, y + 1)];
    let legal: Vec<&str> = steps.iter().filter(|(_, x, y)| is_empty(*x, *y)).map(|(word, ..)| *word).collect();
    if legal.is_empty() { "STAY" } else { rng.choice(&legal) }
}

fn word_racer(seen: &Json, rng: &mut Random) -> String {
    let free: Vec<usize> = seen.get("board").text().match_indices('.').map(|(position, _)| position).collect();
    let position = rng.choice(&free);
    match seen.get("letter") {
        Json::Null => format!("\"{} {position}\"", char::from(rng.choice(b"ETAOINSHRDLU"))),
        _ => position.to_string(),
    }
}

/// xorshift32: tiny, and the same in every language.
struct Random(u32);

impl Random {
    fn new(seed: &str) -> Self {
        let seed: u64 = seed.parse().expect("a seed is a number");
        Self((seed as u32).max(1))
    }

    fn choice<T: Copy>(&mut self, options: &[T]) -> T {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        options[self.0 as usize % options.len()]
    }
}

/// A value the engine wrote.
enum Json {
    Null,
    Bool,
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(HashMap<String, Json>),
}

impl Json {
    fn get(&self, name: &str) -> &Json {
        match self {
            Json::Object(fields) => fields.get(name).unwrap_or(&Json::Null),
            _ => &Json::Null,
        }
    }

    fn list(&self) -> &[Json] {
        if let Json::List(list) = self { list } else { &[] }
    }

    fn text(&self) -> &str {
        if let Json::Text(text) = self { text } else { "" }
    }

    fn whole(&self) -> i64 {
        if let Json::Number(number) = self { *number as i64 } else { 0 }
    }
}

/// Just enough JSON to read what the engine writes.
struct Reader<'l> {
    bytes: &'l [u8],
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Json {
        match self.peek() {
            b'{' => {
                let mut fields = HashMap::new();
                self.at += 1;
                while self.peek() != b'}' {
                    let name = self.string();
                    self.take(b':');
                    fields.insert(name, self.value());
                    self.skip_comma();
                }
                self.at += 1;
                Json::Object(fields)
            }
            b'[' => {
                let mut list = Vec::new();
                self.at += 1;
                while self.peek() != b']' {
                    list.push(self.value());
                    self.skip_comma();
                }
                self.at += 1;
                Json::List(list)
            }
            b'"' => Json::Text(self.string()),
            b'n' => self.word(4, Json::Null),
            b't' => self.word(4, Json::Bool),
            b'f' => self.word(5, Json::Bool),
            _ => {
                let from = self.at;
                while self.bytes.get(self.at).is_some_and(|byte| b"+-.eE0123456789".contains(byte)) {
                    self.at += 1;
                }
                let text = std::str::from_utf8(&self.bytes[from..self.at]).unwrap_or_default();
                Json::Number(text.parse().expect("a number"))
            }
        }
    }

    fn peek(&mut self) -> u8 {
        while self.bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        self.bytes[self.at]
    }

    fn word(&mut self, length: usize, value: Json) -> Json {
        self.at += length;
        value
    }

    fn skip_comma(&mut self) {
        if self.peek() == b',' {
            self.at += 1;
        }
    }

    fn take(&mut self, wanted: u8) {
        assert_eq!(self.peek(), wanted, "this is JSON");
        self.at += 1;
    }

    /// Of an escape only the escaped character is kept: nothing we look at has any.
    fn string(&mut self) -> String {
        let mut bytes = Vec::new();
        self.take(b'"');
        while self.bytes[self.at] != b'"' {
            if self.bytes[self.at] == b'\\' {
                self.at += 1;
            }
            bytes.push(self.bytes[self.at]);
            self.at += 1;
        }
        self.at += 1;
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
