//! Regular expressions of users.

use regex::{Error, Regex, RegexBuilder};

/// The most bytes of a compiled expression. One of a scenario comes from its author.
const MOST_BYTES: usize = 1 << 20;

/// Compiles an expression of the crate `regex`, up to 1 MiB.
///
/// # Errors
/// Those of the crate; [`Error::CompiledTooBig`] above the limit.
pub(crate) fn compiled(expression: &str) -> Result<Regex, Error> {
    RegexBuilder::new(expression).size_limit(MOST_BYTES).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_has_1_mib_and_no_more() {
        // A class of one byte takes some bytes, however it is counted: the limit is between these two.
        let of = |repeats: usize| compiled(&format!("[a-z]{{{repeats}}}x"));
        let most =
            (1..64).map(|step| step * 1_000).take_while(|repeats| of(*repeats).is_ok()).last().unwrap();
        let next = format!("[a-z]{{{}}}x", most + 1_000);
        let whole = RegexBuilder::new(&next).size_limit(MOST_BYTES + (128 << 10)).build();
        assert!(whole.is_ok(), "{most} repeats are not next to 1 MiB");
        assert!(matches!(of(most + 1_000), Err(Error::CompiledTooBig(MOST_BYTES))));
    }
}
