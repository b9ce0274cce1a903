//! Suggestions for unknown names in messages of readers.

use runstate::trace::closest;

use crate::failure::Failure;

/// The beginnings of messages about an unknown name, each with the end of the name.
const UNKNOWN: [(&str, char); 4] = [
    ("unknown field `", '`'),
    ("unknown variant `", '`'),
    ("there is no tool \"", '"'),
    ("the model makes no call \"", '"'),
];

/// The texts before the list of known names.
const LISTS: [&str; 3] = ["expected one of ", "expected ", "it makes "];

/// A suggestion behind a message: the known name that is close to an unknown one, if there is one.
pub(crate) fn did_you_mean<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    closest(name, known).map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
}

/// Adds a suggestion to the failure of a reader with this message, if the message lists a name that is close.
pub(crate) fn suggesting(failure: Failure, message: &str) -> Failure {
    match meant(message) {
        Some(near) => failure.with_help(format!("did you mean `{near}`?")),
        None => failure,
    }
}

/// The known name that is close to the unknown name of a message such as "unknown field, expected one of".
fn meant(message: &str) -> Option<&str> {
    let (begins, end) = UNKNOWN.iter().find(|(begins, _)| message.contains(begins))?;
    let after = &message[message.find(begins)? + begins.len()..];
    let (unknown, rest) = after.split_once(*end)?;
    let list = LISTS.iter().find_map(|list| rest.split_once(list))?.1;
    let names = list.split(", ").flat_map(|name| name.split(" or "));
    closest(unknown, names.map(|name| name.trim_matches(['`', '"', ' '])))
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn a_near_name_of_the_listed_names_is_meant() {
        for (message, near) in [
            ("unknown field `massage`, expected one of name, about, message, loop", Some("message")),
            ("unknown field `args`, expected one of `id`, `tool`, `arguments`", None),
            ("unknown field `nmae`, expected `name` or `about`", Some("name")),
            ("unknown variant `tokn`, expected one of token, tokens, repeat", Some("token")),
            ("there is no tool \"raed_file\": expected one of list_files, read_file", Some("read_file")),
            ("the model makes no call \"rm_c\": it makes rm_a, make", Some("rm_a")),
            ("expected a list", None),
            ("unknown field `x`", None),
        ] {
            assert_eq!(meant(message), near, "{message}");
        }
    }
}
