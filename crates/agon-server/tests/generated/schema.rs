//! Schemas of the API description: validation, and generation of valid values.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::chance::Chance;

/// Supported schema keywords. Any other keyword fails the test, because its meaning is unknown here.
const KNOWN: &[&str] = &[
    "$ref",
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "oneOf",
    "allOf",
    "anyOf",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "pattern",
    "additionalProperties",
    "propertyNames",
    "description",
    "title",
    "example",
    "examples",
    "default",
    "contentMediaType",
    "prefixItems",
    "const",
    "deprecated",
];

/// An API description.
pub struct Schemas<'a>(pub &'a Value);

impl<'a> Schemas<'a> {
    /// Resolves references.
    pub fn at(&self, mut schema: &'a Value) -> &'a Value {
        while let Some(target) = schema["$ref"].as_str() {
            schema =
                self.0.pointer(target.trim_start_matches('#')).expect("the target of a reference exists");
        }
        schema
    }

    /// Violations of the schema with their places, including unknown fields.
    pub fn violations(&self, schema: &'a Value, value: &Value, place: &str, found: &mut Vec<String>) {
        if let (Some(fields), Some(known)) = (value.as_object(), self.all_fields(schema)) {
            for name in fields.keys().filter(|name| !known.contains(name.as_str())) {
                found.push(format!("{place}.{name}: unknown field"));
            }
        }
        self.partial_violations(schema, value, place, found);
    }

    /// Names of all fields of an object of this schema; `None` if it may have any.
    fn all_fields(&self, schema: &'a Value) -> Option<BTreeSet<&'a str>> {
        let schema = self.at(schema);
        let rest = &schema["additionalProperties"];
        if rest.is_object() || rest == true || schema.get("oneOf").is_some() || schema.get("anyOf").is_some()
        {
            return None;
        }
        let mut all = BTreeSet::new();
        for part in schema["allOf"].as_array().into_iter().flatten() {
            all.extend(self.all_fields(part)?);
        }
        let own = schema["properties"].as_object();
        all.extend(own.into_iter().flatten().map(|(name, _)| name.as_str()));
        (own.is_some() || !all.is_empty()).then_some(all)
    }

    /// Violations without unknown fields, because a partial schema knows only some fields.
    fn partial_violations(&self, schema: &'a Value, value: &Value, place: &str, found: &mut Vec<String>) {
        let schema = self.at(schema);
        let Some(words) = schema.as_object() else { return };
        for word in words.keys() {
            if !KNOWN.contains(&word.as_str()) && !word.starts_with("x-") {
                found.push(format!("{place}: the schema keyword `{word}` is not supported by this test"));
            }
        }
        self.choices(schema, value, place, found);
        if let Some(allowed) = schema["enum"].as_array()
            && !allowed.contains(value)
        {
            found.push(format!("{place}: {value} is not one of {allowed:?}"));
        }
        if schema.get("const").is_some_and(|one| one != value) {
            found.push(format!("{place}: {value} is not {}", schema["const"]));
        }
        if !of_type(&schema["type"], value) {
            found.push(format!("{place}: {} is not of type {}", short(value), schema["type"]));
            return;
        }
        match value {
            Value::Object(fields) => self.fields(schema, fields, place, found),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.violations(&schema["items"], item, &format!("{place}[{at}]"), found);
                }
                let count = items.len() as u64;
                if schema["minItems"].as_u64().is_some_and(|least| count < least)
                    || schema["maxItems"].as_u64().is_some_and(|most| count > most)
                {
                    found.push(format!("{place}: {count} items"));
                }
            }
            Value::Number(number) => numbers(schema, number.as_f64().unwrap(), place, found),
            Value::String(text) => {
                let count = text.chars().count() as u64;
                if schema["minLength"].as_u64().is_some_and(|least| count < least)
                    || schema["maxLength"].as_u64().is_some_and(|most| count > most)
                {
                    found.push(format!("{place}: {count} characters"));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn choices(&self, schema: &'a Value, value: &Value, place: &str, found: &mut Vec<String>) {
        for all in schema["allOf"].as_array().into_iter().flatten() {
            self.partial_violations(all, value, place, found);
        }
        for word in ["oneOf", "anyOf"] {
            let Some(list) = schema[word].as_array() else { continue };
            let mut nearest: Option<Vec<String>> = None;
            let mut fitting = 0;
            for one in list {
                let mut wrong = Vec::new();
                self.violations(one, value, place, &mut wrong);
                if wrong.is_empty() {
                    fitting += 1;
                } else if nearest.as_ref().is_none_or(|least| wrong.len() < least.len()) {
                    nearest = Some(wrong);
                }
            }
            match fitting {
                0 => found.extend(nearest.unwrap_or_default()),
                1 => {}
                _ if word == "anyOf" => {}
                _ => found.push(format!("{place}: {fitting} of `oneOf` fit {}", short(value))),
            }
        }
    }

    fn fields(&self, schema: &'a Value, fields: &Map<String, Value>, place: &str, found: &mut Vec<String>) {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                found.push(format!("{place}: `{name}` is missing"));
            }
        }
        let known = schema["properties"].as_object();
        let rest = &schema["additionalProperties"];
        for (name, value) in fields {
            let place = format!("{place}.{name}");
            match known.and_then(|known| known.get(name)) {
                Some(schema) => self.violations(schema, value, &place, found),
                None if rest.is_object() => self.violations(rest, value, &place, found),
                None => {}
            }
        }
    }

    /// A value that is valid as far as the schema says.
    pub fn fitting(&self, schema: &'a Value, name: &str, chance: &mut Chance) -> Value {
        let schema = self.at(schema);
        if let Some(list) = schema["enum"].as_array() {
            return chance.pick(list).clone();
        }
        for word in ["oneOf", "anyOf"] {
            if let Some(list) = schema[word].as_array() {
                return self.fitting(chance.pick(list), name, chance);
            }
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => chance.pick(kinds).as_str().unwrap_or_default(),
            kind => kind.as_str().unwrap_or_default(),
        };
        match kind {
            "null" => Value::Null,
            "boolean" => json!(chance.percent(50)),
            "integer" | "number" => number(schema, chance),
            "string" => Value::String(text(schema, name, chance)),
            "array" => {
                let count = chance.below(4);
                Value::Array((0..count).map(|_| self.fitting(&schema["items"], name, chance)).collect())
            }
            _ => {
                let required = schema["required"].as_array();
                let needed = |name: &str| required.is_some_and(|list| list.iter().any(|one| one == name));
                let mut object = Map::new();
                for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                    if needed(name) || chance.percent(50) {
                        object.insert(name.clone(), self.fitting(schema, name, chance));
                    }
                }
                Value::Object(object)
            }
        }
    }
}

fn of_type(kind: &Value, value: &Value) -> bool {
    let is = |kind: &str| match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    match kind {
        Value::String(kind) => is(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

fn numbers(schema: &Value, number: f64, place: &str, found: &mut Vec<String>) {
    if schema["minimum"].as_f64().is_some_and(|least| number < least)
        || schema["maximum"].as_f64().is_some_and(|most| number > most)
    {
        found.push(format!("{place}: {number} is out of bounds"));
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}

fn number(schema: &Value, chance: &mut Chance) -> Value {
    let least = schema["minimum"].as_i64().unwrap_or(0);
    let most = schema["maximum"].as_i64().unwrap_or(least + 20);
    match chance.below(4) {
        0 => json!(least),
        1 => json!(most),
        _ => json!(
            least + i64::try_from(chance.below(usize::try_from(most - least + 1).unwrap_or(1))).unwrap()
        ),
    }
}

/// A text; known words are more likely than random ones.
fn text(schema: &Value, name: &str, chance: &mut Chance) -> String {
    let words: &[&str] = match name {
        "game" => &["connect-five", "solitude-scramble", "word-racer", "colour-battle", "hide-and-seek"],
        "house" => &["random", "tactician", "house:random"],
        "match" => &["1-1", "1-2", "2-1"],
        "file" => &[
            "",
            "game = \"connect-five\"\n[[phase]]\nformat = \"round-robin\"\n",
            "name = 3\n[[phase",
            "[[entrant]]\n",
        ],
        "password" | "old" | "new" => &["a good long password", "another long password"],
        "reason" | "note" | "label" => &["because", "it crashed the machine"],
        _ => &["a", "b-2", "Ada", "some name", "cup"],
    };
    let mut text = (*chance.pick(words)).to_owned();
    if name == "name" || name == "id" {
        text += &format!("-{}", chance.below(1000));
    }
    let least = usize::try_from(schema["minLength"].as_u64().unwrap_or(0)).unwrap();
    while text.chars().count() < least {
        text.push('x');
    }
    text
}
