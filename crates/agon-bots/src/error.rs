//! Errors as users see them. The type is in `agon-core`; each error type converts itself in its own crate.

pub use agon_core::diagnostic::{Diagnostic, Place};
