//! Parameters of a connection string that the client library does not know.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Takes parameters of these names out of a connection string, and gives what is left and their values, in their order.
///
/// # Errors
/// The name of a parameter whose value is not UTF-8.
pub(crate) fn take<const N: usize>(
    string: &str,
    names: [&str; N],
) -> Result<(String, [Option<String>; N]), String> {
    let mut taken = [const { None }; N];
    let is_url = string.starts_with("postgres://") || string.starts_with("postgresql://");
    let left = match string.split_once('?') {
        Some((head, query)) if is_url => {
            let mut kept = Vec::new();
            for pair in query.split('&') {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                match names.iter().position(|known| *known == name) {
                    Some(at) => {
                        let value = percent_decode_str(value).decode_utf8().map(Cow::into_owned);
                        taken[at] = Some(value.map_err(|_| name.to_owned())?);
                    }
                    None => kept.push(pair),
                }
            }
            if kept.is_empty() { head.to_owned() } else { format!("{head}?{}", kept.join("&")) }
        }
        _ if is_url => string.to_owned(),
        _ => {
            let mut kept = Vec::new();
            for word in words(string) {
                let (name, value) = word.split_once('=').unwrap_or((word, ""));
                match names.iter().position(|known| *known == name.trim()) {
                    Some(at) => taken[at] = Some(unquoted(value.trim())),
                    None => kept.push(word),
                }
            }
            kept.join(" ")
        }
    };
    Ok((left, taken))
}

/// The pairs of `host=… user='…'`: what stands in quotes is not cut.
fn words(string: &str) -> Vec<&str> {
    let (mut words, mut start, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (at, char) in string.char_indices() {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\'' => is_quoted = !is_quoted,
            char if char.is_whitespace() && !is_quoted => {
                words.push(&string[start..at]);
                start = at + char.len_utf8();
            }
            _ => {}
        }
    }
    words.push(&string[start..]);
    words.retain(|word| !word.is_empty());
    words
}

fn unquoted(value: &str) -> String {
    let (mut text, mut is_escaped) = (String::new(), false);
    for char in value.chars() {
        match char {
            _ if is_escaped => {
                text.push(char);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '\'' => {}
            char => text.push(char),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::take;

    #[test]
    fn parameters_are_taken_out_of_both_forms() {
        for (string, left, mode, root) in [
            ("postgres://u@h/d", "postgres://u@h/d", None, None),
            ("postgres://u@h/d?sslmode=require", "postgres://u@h/d", Some("require"), None),
            (
                "postgresql://h/d?connect_timeout=3&sslrootcert=%2Fa%20b&x=1",
                "postgresql://h/d?connect_timeout=3&x=1",
                None,
                Some("/a b"),
            ),
            ("host=h  user=u", "host=h user=u", None, None),
            (
                "host=h password='a sslmode=no' sslmode=verify-ca sslrootcert='/it\\'s here'",
                "host=h password='a sslmode=no'",
                Some("verify-ca"),
                Some("/it's here"),
            ),
        ] {
            let (got, [got_mode, got_root]) = take(string, ["sslmode", "sslrootcert"]).unwrap();
            assert_eq!((&*got, got_mode.as_deref(), got_root.as_deref()), (left, mode, root), "{string}");
        }
        assert_eq!(take("postgres://h?sslmode=%ff", ["sslmode"]).unwrap_err(), "sslmode");
    }
}
