//! The names of people that decide.
//!
//! A name that a program gives is believed: these rules keep one person from passing for two, and a name from being none.
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

/// Is it a name: with a letter or a digit, nothing that cannot be seen, and no white space around it?
pub fn is_name(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric) && text.trim() == text && !text.chars().any(is_unseen)
}

/// Are these names of one actor? Capitals, also those of several letters (`ß` and `SS`), and the kind of a space make no other person.
///
/// # Limits
/// A letter and its accent in one character or in two (`é`), full-width letters, and letters of other scripts that look alike are
/// different names. Names are best taken from
/// one directory, or from the operating system.
pub fn is_one_actor(one: &str, other: &str) -> bool {
    folded(one) == folded(other)
}

fn folded(name: &str) -> String {
    // The capital `ẞ` is its own upper case.
    let lower = name.to_lowercase().to_uppercase().to_lowercase();
    // The lower case of `İ` is an `i` with a dot of its own.
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
