//! Invalid values as users, programs and attackers send them.

use serde_json::{Map, Value, json};

use super::chance::Chance;
use super::common::PASSWORD;

/// Invalid path parts, percent-encoded where needed.
pub const ODD_PARTS: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "x",
    "1-1",
    "1-0",
    "0-1",
    "1-4294967296",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999999",
    "-9223372036854775809",
    "1.0",
    "1e3",
    "+1",
    "%201",
    "01",
    "%00",
    "a%00b",
    "%0A",
    "%0D%0Ax:y",
    "%ff",
    "%c3%28",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e",
    "..%5c..",
    "%2fetc%2fpasswd",
    "%25",
    "%F0%9F%98%80",
    "%E2%80%AE",
    "%D9%A1",
    "null",
    "true",
    "{}",
    "table-1.csv",
    "games.csv",
    "history.json",
    "records.zip",
    "table-0.json",
    "table-99.md",
    "python",
    "'",
    "%22",
    "1%20or%201=1",
    "%3Cscript%3E",
    "CON",
    "~",
    "*",
    "0x10",
    "1_000",
    "NaN",
    "inf",
];

/// Texts that often cause problems.
fn odd_texts(chance: &mut Chance) -> String {
    const ODD: &[&str] = &[
        "",
        " ",
        "\0",
        "a\0b",
        "\n",
        "\r\nSet-Cookie: x=y",
        "\u{202e}evil",
        "\u{feff}",
        "😀",
        "e\u{301}",
        "İ",
        "ß",
        "\u{fffd}",
        "\u{10ffff}",
        "../../etc/passwd",
        "/etc/passwd",
        "C:\\con",
        "'; DROP TABLE accounts; --",
        "<script>alert(1)</script>",
        "${jndi:x}",
        "%s%n",
        "{{7*7}}",
        "house:random",
        "json:sh -c id",
        "sh -c id",
        "a.zip",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "null",
        "-1",
        "0",
    ];
    match chance.below(8) {
        0 => "x".repeat(1 + chance.below(70)),
        1 => "ä".repeat(5_000),
        2 => "\u{1}".repeat(100),
        _ => (*chance.pick(ODD)).to_owned(),
    }
}

/// An arbitrary value.
pub fn anything(chance: &mut Chance) -> Value {
    match chance.below(12) {
        0 => Value::Null,
        1 => json!(chance.percent(50)),
        2 => json!(-1),
        3 => json!(0),
        4 => json!(u64::MAX),
        5 => json!(i64::MIN),
        6 => json!(1.5),
        7 => json!(u32::MAX),
        8 => json!([]),
        9 => json!({}),
        10 => json!([[1, {"a": [null]}]]),
        _ => json!(odd_texts(chance)),
    }
}

/// A valid competition file.
pub const COMPETITION: &str = "name = \"Edited\"\ngame = \"connect-five\"\n\n[[phase]]\nname = \"First\"\nformat = \"round-robin\"\n\
    parts = [{ games = 1, seconds = 1 }]\n\n[[entrant]]\nbot = \"house:random\"\n\n[[entrant]]\nbot = \"house:stacker\"\n";
/// A valid word list.
pub const WORDS: &[u8] = b"ZZ\nZEBRA\n";

/// Valid bodies that cannot be derived from a schema.
pub fn known_body(operation: &str, chance: &mut Chance) -> Option<Value> {
    let name = format!("1-{}", 1 + chance.below(4));
    match operation {
        "make_ruling" => Some(json!({"kind": "void", "phase": 1, "match": name, "reason": "it was dark"})),
        "edit_file" => Some(json!({"file": COMPETITION})),
        "sign_in" => Some(json!({"name": "signer", "password": PASSWORD})),
        "change_password" => Some(json!({"old": PASSWORD, "new": PASSWORD})),
        _ => None,
    }
}

/// Changes a part of a valid value.
pub fn nearly(mut value: Value, chance: &mut Chance) -> Value {
    match &mut value {
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            match chance.below(5) {
                0 if !names.is_empty() => {
                    fields.remove(chance.pick(&names));
                }
                1 => {
                    fields.insert(odd_texts(chance), anything(chance));
                }
                2 if chance.percent(50) => return anything(chance),
                // Only the values, in their order.
                2 => return Value::Array(fields.values().cloned().collect()),
                _ if !names.is_empty() => {
                    let name = chance.pick(&names).clone();
                    let new = if chance.percent(60) { json!(odd_texts(chance)) } else { anything(chance) };
                    fields.insert(name, new);
                }
                _ => {}
            }
        }
        other => *other = anything(chance),
    }
    value
}

/// Bytes that are not JSON, or nearly.
pub fn no_json(good: &Value, chance: &mut Chance) -> Vec<u8> {
    let text = good.to_string();
    match chance.below(12) {
        0 => Vec::new(),
        1 => text.as_bytes()[..chance.below(text.len().max(1))].to_vec(),
        2 => format!("{text}{text}").into_bytes(),
        3 => "[".repeat(20_000).into_bytes(),
        4 => format!("{}1{}", "{\"a\":".repeat(5_000), "}".repeat(5_000)).into_bytes(),
        5 => b"\xff\xfe{\x00}\x00".to_vec(),
        6 => b"{\"name\": \"\xc3\x28\"}".to_vec(),
        7 => b"{\"name\": \"\\ud800\", \"label\": \"\\ud800\"}".to_vec(),
        8 => b"{\"name\": 1e999, \"uses\": 1e999, \"limit\": -1e999}".to_vec(),
        9 => format!("{text}{}", " ".repeat(70_000)).into_bytes(),
        10 => twice(good),
        _ => b"NaN".to_vec(),
    }
}

/// Every field twice.
fn twice(good: &Value) -> Vec<u8> {
    let empty = Map::new();
    let fields = good.as_object().unwrap_or(&empty);
    let lines: Vec<String> = fields.iter().map(|(name, value)| format!("{}: {value}", json!(name))).collect();
    format!("{{{}, {}}}", lines.join(", "), lines.join(", ")).into_bytes()
}

/// A query string.
pub fn odd_query(name: &str, chance: &mut Chance) -> String {
    let value = *chance.pick(&[
        "",
        "0",
        "-1",
        "1",
        "200",
        "201",
        "4294967296",
        "99999999999999999999",
        "x",
        "true",
        "%00",
        "%ff",
        "%",
        "1&limit=2",
        "a%26b",
        "%F0%9F%98%80",
        "'",
        "%2e%2e%2f",
        "9223372036854775807",
        "18446744073709551615",
        "1-1",
        "null",
        "[]",
        "01",
    ]);
    format!("{name}={value}")
}

/// A valid submission form, and its content type.
pub fn good_form(name: &str, named: bool) -> (String, Vec<u8>) {
    let name = format!("--XoX\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\n{name}\r\n");
    let name = if named { name.as_str() } else { "" };
    let body = format!(
        "{name}--XoX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"bot.py\"\r\n\r\nclass Bot: pass\r\n--XoX--\r\n"
    );
    ("multipart/form-data; boundary=XoX".to_owned(), body.into_bytes())
}

/// A form, and its content type.
pub fn form(chance: &mut Chance, name: &str) -> (String, Vec<u8>) {
    let boundary = "XoX";
    let mut kind = format!("multipart/form-data; boundary={boundary}");
    let mut body = Vec::new();
    let mut part = |head: &str, content: &[u8]| {
        body.extend_from_slice(
            format!("--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n").as_bytes(),
        );
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    };
    let python = b"class Bot:\n    def play(self, *a):\n        return 0\n";
    let spoilt = chance.percent(60);
    let what = if spoilt { chance.below(16) } else { 99 };
    if what != 0 {
        part("name=\"name\"", name.as_bytes());
    }
    match what {
        1 => part("name=\"name\"", odd_texts(chance).as_bytes()),
        2 => part("name=\"role\"", odd_texts(chance).as_bytes()),
        3 => part("name=\"class\"", odd_texts(chance).as_bytes()),
        4 => part("name=\"unknown\"", b"1"),
        5 => part("name=\"file\"; filename=\"../../evil.py\"", python),
        6 => part("name=\"file\"; filename=\"a.zip\"", b"PK\x03\x04 broken"),
        7 => part("name=\"file\"; filename=\"a.py\"", b""),
        8 => part("name=\"file\"", python),
        9 => part("filename=\"a.py\"", python),
        10 => part("name=\"name\"", b"\xff\xfe"),
        11 => part("name=\"file\"; filename=\"big.py\"", &vec![b'#'; 200_000]),
        12 => {}
        _ => part("name=\"file\"; filename=\"bot.py\"", python),
    }
    match what {
        13 => body.truncate(chance.below(body.len())),
        14 => "multipart/form-data".clone_into(&mut kind),
        15 => "multipart/form-data; boundary=other".clone_into(&mut kind),
        _ => body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes()),
    }
    (kind, body)
}

/// Content types.
pub const ODD_KINDS: &[&str] = &[
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/json; charset=utf-16",
    "application/json5",
    "\u{7e}",
];
