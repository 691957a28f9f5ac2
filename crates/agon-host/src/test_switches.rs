//! Defences that tests switch off, to show that an attack works without them. A release build has no such switch.

/// Names the defences that are off, separated by commas. Read only by builds with debug assertions.
const VARIABLE: &str = "AGON_TEST_WITHOUT";

/// The defences that are off, if there are any.
pub fn all() -> Option<Vec<String>> {
    if !cfg!(debug_assertions) {
        return None;
    }
    let names = std::env::var(VARIABLE).ok().filter(|names| !names.is_empty())?;
    Some(names.split(',').map(str::to_owned).collect())
}

/// Whether this defence is off.
pub fn is_off(defence: &str) -> bool {
    cfg!(debug_assertions) && all().is_some_and(|names| names.iter().any(|name| name == defence))
}
