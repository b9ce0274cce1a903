//! Parameters of a connection string that the client library does not support.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Takes parameters with these names out of a connection string. Returns the rest of the string, and the values in
/// the order of the names.
///
/// # Errors
/// The problem: a value that is not UTF-8, or a `?` that may belong to the password or to the parameters.
pub(crate) fn take<const N: usize>(
    string: &str,
    names: [&str; N],
) -> Result<(String, [Option<String>; N]), String> {
    let mut taken = [const { None }; N];
    let is_url = string.starts_with("postgres://") || string.starts_with("postgresql://");
    let left = match query_of(string).filter(|_| is_url).transpose()? {
        Some((head, query)) => {
            let mut kept = Vec::new();
            for pair in query.split('&') {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                match names.iter().position(|known| *known == name) {
                    Some(at) => {
                        let value = percent_decode_str(value).decode_utf8().map(Cow::into_owned);
                        taken[at] = Some(value.map_err(|_| format!("the value of {name} is not UTF-8"))?);
                    }
                    None => kept.push(pair),
                }
            }
            if kept.is_empty() { head.to_owned() } else { format!("{head}?{}", kept.join("&")) }
        }
        None if is_url => string.to_owned(),
        None => {
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

/// Splits a URL before its parameters, if it has any. A password may contain a `?`. A wrong split would take the rest
/// of the password for parameters, and lose the real ones, including the required proof of the server's identity.
fn query_of(url: &str) -> Option<Result<(&str, &str), String>> {
    let first = url.find('?')?;
    let (before, behind) = (url[..first].split_once("://").map_or("", |(_, rest)| rest), &url[first..]);
    if before.contains('@') || !behind.contains('@') {
        return Some(Ok((&url[..first], &behind[1..])));
    }
    if before.contains('/') {
        let what = "it has a ? before an @, and either may be of the password or of a parameter; expected %3F for a ? that begins \
                    no parameters, and %40 for an @ that ends no password";
        return Some(Err(what.to_owned()));
    }
    // The client takes all before the first @ for name and password.
    let host = first + behind.find('@')?;
    let second = host + url[host..].find('?')?;
    Some(Ok((&url[..second], &url[second + 1..])))
}

/// Splits the pairs of `host=… user='…'`. Quoted text is not split.
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
            ("postgres://u:a?b@h/d", "postgres://u:a?b@h/d", None, None),
            ("postgres://u:a?b@h/d?sslmode=require&x=1", "postgres://u:a?b@h/d?x=1", Some("require"), None),
            ("postgres://u:a?sslmode=disable@h/d", "postgres://u:a?sslmode=disable@h/d", None, None),
            ("postgres://u@h/d?x=a@b&sslmode=require", "postgres://u@h/d?x=a@b", Some("require"), None),
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
        let refused = take("postgres://h?sslmode=%ff", ["sslmode"]).unwrap_err();
        assert_eq!(refused, "the value of sslmode is not UTF-8");
        for unclear in ["postgres://h/d?sslmode=require&x=a@b", "postgres://u:a/b?c@h/d?sslmode=require"] {
            let refused = take(unclear, ["sslmode"]).unwrap_err();
            assert!(refused.contains("expected %3F"), "{refused}");
        }
    }
}
