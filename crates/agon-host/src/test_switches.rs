//! Defences that tests switch off, to show that an attack works without them. Programs built for use have no such switch.

use std::sync::OnceLock;

/// Names the defences that are off, separated by commas. Read only by builds with debug assertions.
const VARIABLE: &str = "AGON_TEST_DEFENCES_OFF";

/// The defences that are off.
pub fn all() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    if !cfg!(debug_assertions) {
        return &[];
    }
    NAMES.get_or_init(|| {
        let names = std::env::var(VARIABLE).unwrap_or_default();
        names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    })
}

/// Whether this defence is off.
pub fn is_off(defence: &str) -> bool {
    cfg!(debug_assertions) && all().iter().any(|name| name == defence)
}
