//! Checks JSON output against `docs/schemas`. Knows the keywords that these schemas use, and fails on any other. An object must not have a
//! key that its schema does not describe: readers may ignore such keys, but each key must be documented.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

/// Folder of the schemas.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas")
}

/// The schema of a kind of document.
pub fn schema(kind: &str) -> Json {
    let path = folder().join(format!("{kind}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{kind}: no schema {}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Checks every document in this text. Text that is not JSON is skipped.
#[track_caller]
pub fn check_output(text: &str) {
    if !text.starts_with('{') {
        return;
    }
    for document in serde_json::Deserializer::from_str(text).into_iter::<Json>().map_while(Result::ok) {
        check_document(&document);
    }
}

/// Checks a document that names its kind, or an event of a run.
#[track_caller]
pub fn check_document(document: &Json) {
    let kind = match (document["agon"].as_str(), document["event"].as_str()) {
        (Some(kind), _) => kind,
        (None, Some(_)) => "run",
        _ => return,
    };
    let mut errors = Vec::new();
    validate(kind, &schema(kind), document, &mut errors);
    assert!(errors.is_empty(), "{kind}: {errors:#?}\n{document:#}");
}

/// Appends what is wrong with `value`.
pub fn validate(at: &str, schema: &Json, value: &Json, errors: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else { panic!("{at}: {schema} is not a schema") };
    for (keyword, wants) in keywords {
        let good = match keyword.as_str() {
            "$schema" | "title" | "description" | "additionalProperties" => true,
            "type" => match wants {
                Json::Array(types) => types.iter().any(|one| has_type(one.as_str().unwrap(), value)),
                one => has_type(one.as_str().unwrap(), value),
            },
            "const" => value == wants,
            "enum" => wants.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|number| number >= wants.as_f64().unwrap()),
            // The only pattern is that of a seed.
            "pattern" => value.as_str().is_none_or(|text| {
                assert_eq!(wants, "^[0-9]+$");
                !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
            }),
            "required" => value.as_object().is_none_or(|object| {
                wants.as_array().unwrap().iter().all(|key| object.contains_key(key.as_str().unwrap()))
            }),
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(&format!("{at}[{index}]"), wants, item, errors);
                }
                true
            }
            "properties" => {
                for (key, schema) in wants.as_object().unwrap() {
                    if let Some(value) = value.get(key) {
                        validate(&format!("{at}.{key}"), schema, value, errors);
                    }
                }
                true
            }
            "anyOf" => wants.as_array().unwrap().iter().any(|schema| {
                let mut errors = Vec::new();
                validate(at, schema, value, &mut errors);
                errors.is_empty()
            }),
            _ => panic!("{at}: the keyword {keyword} is not known"),
        };
        if !good {
            errors.push(format!("{at}: {value} does not fit {keyword}: {wants}"));
        }
    }
    check_keys(at, schema, value, errors);
}

fn check_keys(at: &str, schema: &Json, value: &Json, errors: &mut Vec<String>) {
    let (Some(object), true) =
        (value.as_object(), schema["type"] == "object" || schema["type"][0] == "object")
    else {
        return;
    };
    for (key, value) in object.iter().filter(|(key, _)| schema["properties"].get(key).is_none()) {
        match &schema["additionalProperties"] {
            Json::Bool(true) => {}
            Json::Object(_) => {
                validate(&format!("{at}.{key}"), &schema["additionalProperties"], value, errors);
            }
            _ => errors.push(format!("{at}.{key} is not described")),
        }
    }
}

fn has_type(name: &str, value: &Json) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the type {other} is not known"),
    }
}
