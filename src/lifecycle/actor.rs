//! Names of the people that decide.
//!
//! The library accepts the name that a program gives. These rules prevent that one person passes for two, and that a
//! name is empty or invisible.
//!
//! ```
//! use runstate::actor::{is_name, is_one_actor};
//!
//! assert!(is_name("Ada Lovelace") && is_name("ada@example.org"));
//! assert!(!is_name("") && !is_name(" ada") && !is_name("\u{200b}") && !is_name("--"));
//!
//! assert!(is_one_actor("ada", "ADA") && is_one_actor("straße", "STRASSE"));
//! assert!(!is_one_actor("ada", "ben"));
//! ```

pub use crate::unseen::is_unseen;

/// Returns whether the text is a name: it has a letter or a digit, no invisible character, and no white space around
/// it.
pub fn is_name(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric) && text.trim() == text && !text.chars().any(is_unseen)
}

/// Returns whether both names are of one actor. The case of letters does not count, also where the cases differ in
/// length (`ß` and `SS`), nor does the kind of a space.
///
/// # Limits
/// Names are different when they have a letter with its accent in one character or in two (`é`), full-width letters,
/// or similar letters of another script. A directory or the operating system is the best source of names.
pub fn is_one_actor(one: &str, other: &str) -> bool {
    folded(one) == folded(other)
}

fn folded(name: &str) -> String {
    // The capital `ẞ` is its own upper case.
    let lower = name.to_lowercase().to_uppercase().to_lowercase();
    // The lower case of `İ` is an `i` with a separate combining dot.
    let letters = lower.chars().filter(|c| *c != '\u{307}');
    let spaced: String = letters.map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    spaced.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::is_one_actor;

    #[test]
    fn a_name_in_capitals_is_no_other_actors() {
        for (one, other) in [
            ("ada", "ADA"),
            ("straße", "STRASSE"),
            ("straße", "STRAẞE"),
            ("ada  l", "ada l"),
            ("ﬁona", "FIONA"),
            ("ſam", "Sam"),
            ("ilker", "İLKER"),
            ("ada l", "ada\u{a0}l"),
            ("σίσυφος", "ΣΊΣΥΦΟΣ"),
        ] {
            assert!(is_one_actor(one, other) && is_one_actor(other, one), "{one} {other}");
        }
        assert!(!super::is_name("ada\u{1bca0}") && !super::is_name("ada\u{200b}"));
        assert!(!is_one_actor("ada", "ade") && !is_one_actor("ada", "ada2"));
    }
}
