//! Readable JSON layout: a value that fits on a line stays on one line, so that a board looks like a board. Works on the
//! text, so that fields keep the order in which a bot receives them.

/// Maximum width of a line.
const WIDTH: usize = 100;

/// Formats a JSON text. Text that is not JSON is returned unchanged.
pub fn pretty(json: &str) -> String {
    lay_out(json.trim(), 0)
}

fn lay_out(value: &str, indent: usize) -> String {
    let flat = spaced(value);
    let (open, close) = match value.as_bytes() {
        [b'[', .., b']'] => ('[', ']'),
        [b'{', .., b'}'] => ('{', '}'),
        _ => return flat,
    };
    if indent + flat.chars().count() <= WIDTH {
        return flat;
    }
    let deeper = indent + 2;
    let parts: Vec<String> = parts(&value[1..value.len() - 1], b',')
        .into_iter()
        .map(|part| match parts(part, b':').as_slice() {
            [key, _] if open == '{' => {
                format!("{}{}: {}", " ".repeat(deeper), key, lay_out(&part[key.len() + 1..], deeper))
            }
            _ => " ".repeat(deeper) + &lay_out(part, deeper),
        })
        .collect();
    format!("{open}\n{}\n{}{close}", parts.join(",\n"), " ".repeat(indent))
}

/// Splits at each `mark` outside strings and nested values.
fn parts(text: &str, mark: u8) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0i32);
    for (at, byte) in outside_strings(text) {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ if byte == mark && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Adds a space after each comma and colon.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 16);
    let mut start = 0;
    for (at, byte) in outside_strings(text) {
        if matches!(byte, b',' | b':') {
            spaced += &text[start..=at];
            spaced.push(' ');
            start = at + 1;
        }
    }
    spaced + &text[start..]
}

/// Bytes outside strings, with their positions.
fn outside_strings(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let (mut inside, mut escaped) = (false, false);
    text.bytes().enumerate().filter(move |(_, byte)| {
        let was_inside = inside;
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            _ => {}
        }
        !was_inside && *byte != b'"'
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_values_stay_on_one_line_and_fields_keep_their_order() {
        assert_eq!(pretty(r#"{"b":[1,2],"a":"x,y:\"z"}"#), r#"{"b": [1, 2], "a": "x,y:\"z"}"#);
        let row = format!("[{}]", vec!["0"; 20].join(","));
        let board = format!(r#"{{"player":1,"board":[{row},{row}],"empty":[],"none":{{}}}}"#);
        let shown_row = row.replace(',', ", ");
        let expected = format!(
            "{{\n  \"player\": 1,\n  \"board\": [\n    {shown_row},\n    {shown_row}\n  ],\n  \"empty\": [],\n  \"none\": {{}}\n}}"
        );
        assert_eq!(pretty(&board), expected);
    }

    #[test]
    fn any_text_keeps_its_content_and_does_not_panic() {
        let long =
            format!(r#"{{"a":{:?},"b":[{}]}}"#, "ä,\\\"[".repeat(40), vec!["{\"c\":null}"; 30].join(","));
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&pretty(&long)), read(&long));
        for broken in ["", "[", "]", "{", "[}", "\"", "{]:,", "[[[[", &"[,".repeat(200)] {
            pretty(broken);
        }
    }
}
