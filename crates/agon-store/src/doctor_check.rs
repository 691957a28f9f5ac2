//! A check of `agon doctor`: of this machine, of a database server, of a NATS server.

use std::borrow::Cow;

use agon_core::Diagnostic;

/// Outcome of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckHealth {
    /// OK.
    Good,
    /// Works, but with a restriction.
    Note,
    /// A requirement is not met.
    Bad,
}

impl CheckHealth {
    /// The word in the table and in JSON.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Bad => "BAD",
        }
    }
}

/// Result of one check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DoctorCheck {
    /// Name of the check.
    pub name: Cow<'static, str>,
    /// Outcome.
    pub health: CheckHealth,
    /// Finding.
    pub found: String,
    /// Instruction for the user.
    pub hint: String,
}

impl DoctorCheck {
    /// A check that succeeded.
    pub fn good(name: impl Into<Cow<'static, str>>, found: impl Into<String>) -> Self {
        Self { name: name.into(), health: CheckHealth::Good, found: found.into(), hint: String::new() }
    }

    /// A check that found a restriction.
    pub fn note(
        name: impl Into<Cow<'static, str>>,
        found: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { name: name.into(), health: CheckHealth::Note, found: found.into(), hint: hint.into() }
    }

    /// A check that failed.
    pub fn bad(name: impl Into<Cow<'static, str>>, error: &Diagnostic) -> Self {
        let hint = error.hint_text().unwrap_or_default();
        Self { name: name.into(), health: CheckHealth::Bad, found: error.summary(), hint }
    }
}
