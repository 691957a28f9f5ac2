//! Frames: the data that a viewer draws. A game produces whole frames; a replay holds the first frame and deltas.
//!
//! A delta is JSON that a few lines of code can apply in any language:
//! - a scalar (`null`, number, string, boolean): the new value;
//! - an object: a delta for each key; missing keys keep their value;
//! - `["=", value]`: the complete new value;
//! - `["-"]` (inside an object): the key is removed;
//! - `["#", i, delta, i, delta, ...]`: deltas for these list elements;
//! - `["+", keep, value, ...]`: the list keeps its first `keep` elements, and these values follow.

use serde_json::{Map, Value as Json, json};

/// The delta that turns `before` into `after`.
pub fn diff(before: &Json, after: &Json) -> Json {
    match (before, after) {
        (Json::Object(a), Json::Object(b)) => diff_objects(a, b),
        (Json::Array(a), Json::Array(b)) => diff_lists(a, b),
        (_, Json::Object(_) | Json::Array(_)) => json!(["=", after]),
        _ => after.clone(),
    }
}

fn diff_objects(before: &Map<String, Json>, after: &Map<String, Json>) -> Json {
    let mut delta = Map::new();
    for (key, new) in after {
        match before.get(key) {
            Some(old) if old == new => {}
            Some(old) => {
                delta.insert(key.clone(), diff(old, new));
            }
            None => {
                delta.insert(key.clone(), json!(["=", new]));
            }
        }
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        delta.insert(key.clone(), json!(["-"]));
    }
    Json::Object(delta)
}

fn diff_lists(before: &[Json], after: &[Json]) -> Json {
    if before.len() != after.len() {
        let keep = before.iter().zip(after).take_while(|(a, b)| a == b).count();
        let mut delta = vec![json!("+"), json!(keep)];
        delta.extend(after[keep..].iter().cloned());
        return Json::Array(delta);
    }
    let mut delta = vec![json!("#")];
    for (i, (old, new)) in before.iter().zip(after).enumerate().filter(|(_, (old, new))| old != new) {
        delta.push(json!(i));
        delta.push(diff(old, new));
    }
    // If more than half of the elements change, the whole list is shorter. This does not hold for objects, whose fields mostly stay.
    let plain = !after.iter().any(Json::is_object);
    if plain && delta.len() > after.len() { json!(["=", after]) } else { Json::Array(delta) }
}

/// Applies a delta. A part that does not fit is skipped: a viewer then shows a stale cell instead of failing.
pub fn patch(frame: &mut Json, delta: &Json) {
    match delta {
        Json::Object(keys) => {
            let Json::Object(fields) = frame else { return };
            for (key, change) in keys {
                if change.as_array().is_some_and(|c| c.first() == Some(&json!("-"))) {
                    fields.remove(key);
                } else {
                    patch(fields.entry(key.clone()).or_insert(Json::Null), change);
                }
            }
        }
        Json::Array(change) => patch_tagged(frame, change),
        scalar => *frame = scalar.clone(),
    }
}

fn patch_tagged(frame: &mut Json, change: &[Json]) {
    let Some((Json::String(tag), rest)) = change.split_first() else { return };
    match (tag.as_str(), frame) {
        ("=", frame) => *frame = rest.first().cloned().unwrap_or_default(),
        ("#", Json::Array(list)) => {
            for pair in rest.chunks_exact(2) {
                let index = pair[0].as_u64().map_or(usize::MAX, |i| i as usize);
                if let Some(element) = list.get_mut(index) {
                    patch(element, &pair[1]);
                }
            }
        }
        ("+", Json::Array(list)) => {
            if let Some((keep, new)) = rest.split_first() {
                list.truncate(keep.as_u64().unwrap_or(0) as usize);
                list.extend(new.iter().cloned());
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            (-5i64..5).prop_map(Json::from),
            "[=#+-]?[a-c]{0,2}".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
                prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(Json::from_iter),
            ]
        })
    }

    proptest! {
        #[test]
        fn diff_applied_to_a_frame_gives_the_next_frame(before in any_json(), after in any_json()) {
            let mut frame = before.clone();
            patch(&mut frame, &diff(&before, &after));
            prop_assert_eq!(frame, after);
        }

        #[test]
        fn patch_with_any_delta_does_not_panic(frame in any_json(), delta in any_json()) {
            let mut frame = frame;
            patch(&mut frame, &delta);
        }
    }

    #[test]
    fn diff_of_objects_in_a_list_contains_only_changed_fields() {
        let before = json!([{"id": 1, "tiles": 4}, {"id": 2, "tiles": 5}]);
        let after = json!([{"id": 1, "tiles": 5}, {"id": 2, "tiles": 6}]);
        assert_eq!(diff(&before, &after), json!(["#", 0, {"tiles": 5}, 1, {"tiles": 6}]));
    }

    #[test]
    fn diff_of_a_few_changed_cells_is_small() {
        let mut grid = vec![0; 100];
        let before = json!({"grid": grid, "round": 1});
        grid[42] = 7;
        let after = json!({"grid": grid, "round": 2});
        assert_eq!(diff(&before, &after), json!({"grid": ["#", 42, 7], "round": 2}));
    }
}
