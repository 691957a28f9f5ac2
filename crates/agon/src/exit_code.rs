//! Exit codes of the program. 0 is success.

use agon_core::ErrorKind;

/// The answer is no: a check fails, a replay differs, a run was stopped.
pub const REJECTED: u8 = 1;
/// Wrong use: the user can fix it.
pub const USAGE: u8 = 2;
/// Something broke.
pub const INTERNAL: u8 = 3;

/// Exit code of an error.
pub const fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Rejected => REJECTED,
        ErrorKind::Usage => USAGE,
        ErrorKind::Internal => INTERNAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_documentation() {
        let kinds = [ErrorKind::Rejected, ErrorKind::Usage, ErrorKind::Internal];
        assert_eq!(kinds.map(exit_code), [1, 2, 3]);
    }
}
