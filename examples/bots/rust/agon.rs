//! Talks to Agon for your bot: one JSON object per line on stdin and on stdout (the protocol is in docs/protocol.md of Agon).
//!
//! You need not change this file. Write debug output with `eprintln!`, never with `println!`: stdout is for answers
//! only.
#![allow(dead_code)] // not every bot uses everything

use std::collections::HashMap;
use std::io::{BufRead, Write};

/// A bot. Only `turn` is required.
pub trait Bot {
    /// Called once, first: the game, the role.
    fn hello(&mut self, _message: &Json) {}
    /// A game starts.
    fn start(&mut self, _message: &Json) {}
    /// Returns the answer of a turn. `seen` is the observation.
    fn turn(&mut self, seen: &Json, random: &mut Random) -> Answer;
    /// The game has ended.
    fn end(&mut self) {}
}

/// The answer of a turn. Strings and numbers can be converted: `"LEFT".into()`, `4.into()`.
pub struct Answer(String);

impl From<&str> for Answer {
    fn from(word: &str) -> Self {
        Self(format!("\"{word}\""))
    }
}

impl From<String> for Answer {
    fn from(word: String) -> Self {
        word.as_str().into()
    }
}

impl From<usize> for Answer {
    fn from(number: usize) -> Self {
        Self(number.to_string())
    }
}

/// Plays until the engine says bye or closes stdin.
pub fn run(bot: &mut dyn Bot) {
    let mut output = std::io::stdout();
    let mut random = Random::new("1");
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("read stdin");
        let message = Json::read(&line);
        let mut answer = String::new();
        match message.get("type").text() {
            "hello" => bot.hello(&message),
            "start" => {
                random = Random::new(message.get("seed").text());
                bot.start(&message);
            }
            "turn" => answer = format!(",\"answer\":{}", bot.turn(message.get("observation"), &mut random).0),
            "end" => bot.end(),
            "bye" => break,
            _ => {}
        }
        writeln!(output, "{{\"id\":{}{answer}}}", message.get("id").whole()).expect("write stdout");
        output.flush().expect("write stdout");
    }
}

/// Random choices that repeat with the seed. (xorshift32: small, and the same in every language.)
pub struct Random(u32);

impl Random {
    fn new(seed: &str) -> Self {
        let seed: u64 = seed.parse().expect("the seed is a number");
        Self((seed as u32).max(1))
    }

    /// A random element of the options.
    pub fn choice<T: Copy>(&mut self, options: &[T]) -> T {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        options[self.0 as usize % options.len()]
    }
}

/// A value from the engine: `seen.get("board").at(0).at(4).whole()` reads a number.
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(HashMap<String, Json>),
}

impl Json {
    /// Reads a line.
    pub fn read(line: &str) -> Self {
        Reader { bytes: line.as_bytes(), at: 0 }.value()
    }

    pub fn get(&self, name: &str) -> &Json {
        match self {
            Json::Object(fields) => fields.get(name).unwrap_or(&Json::Null),
            _ => &Json::Null,
        }
    }

    pub fn at(&self, index: usize) -> &Json {
        &self.list()[index]
    }

    pub fn list(&self) -> &[Json] {
        if let Json::List(list) = self { list } else { &[] }
    }

    pub fn text(&self) -> &str {
        if let Json::Text(text) = self { text } else { "" }
    }

    pub fn whole(&self) -> i64 {
        if let Json::Number(number) = self { *number as i64 } else { 0 }
    }

    pub fn yes(&self) -> bool {
        matches!(self, Json::Bool(true))
    }

    /// A list of lists of numbers, such as a board.
    pub fn grid(&self) -> Vec<Vec<i64>> {
        self.list().iter().map(|row| row.list().iter().map(Json::whole).collect()).collect()
    }
}

/// A JSON parser for what the engine writes.
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
            b't' => self.word(4, Json::Bool(true)),
            b'f' => self.word(5, Json::Bool(false)),
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
        assert_eq!(self.peek(), wanted, "not JSON");
        self.at += 1;
    }

    fn string(&mut self) -> String {
        let mut bytes = Vec::new();
        self.take(b'"');
        while self.bytes[self.at] != b'"' {
            let byte = if self.bytes[self.at] == b'\\' { self.escape() } else { self.bytes[self.at] };
            bytes.push(byte);
            self.at += 1;
        }
        self.at += 1;
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The engine writes `\u` only for control characters, which are below 128.
    fn escape(&mut self) -> u8 {
        self.at += 1;
        match self.bytes[self.at] {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'u' => {
                self.at += 4;
                let digits = std::str::from_utf8(&self.bytes[self.at - 3..=self.at]).unwrap_or_default();
                u8::from_str_radix(digits, 16).unwrap_or(b'?')
            }
            letter => letter,
        }
    }
}
