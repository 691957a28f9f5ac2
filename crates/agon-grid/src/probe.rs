//! Tries.
