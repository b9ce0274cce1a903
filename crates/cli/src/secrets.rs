//! Texts that may contain a password or a key.

use std::borrow::Cow;

/// The endings of names of parameters and JSON fields that contain a secret.
const SECRETS: [&str; 8] = ["password", "passwd", "passphrase", "pass", "pwd", "secret", "token", "key"];
/// The endings of such headers.
const HEADERS: [&str; 2] = ["authorization", "api-key"];

/// Is it an address: `postgres://…`, `ada:secret@db`, `host=… password=…`; the text of a key; or a header with one? A
/// parameter with an encoded name may be one too.
pub(crate) fn may_have_one(text: &str) -> bool {
    let mut plain = text.replace("%40", "@").replace("%2F", "/").replace("%2f", "/");
    plain = plain.replace("%3A", ":").replace("%3a", ":");
    while plain.contains(" =") || plain.contains("= ") {
        plain = plain.replace(" =", "=").replace("= ", "=");
    }
    let is_parameter = |part: &str| {
        let name = part.split_once('=').map(|(name, _)| name.trim_end().to_ascii_lowercase());
        name.is_some_and(|name| name.contains('%') || SECRETS.iter().any(|secret| name.ends_with(secret)))
    };
    plain.contains("://")
        || (plain.contains('@') && plain.contains(':'))
        || plain.split(['?', '&', ';', ',', ' ']).any(is_parameter)
        // A digest begins with its kind.
        || plain.replace("sha256:", "sha256").split(|char: char| !char.is_alphanumeric()).any(is_key)
        || is_header(&plain)
}

/// `Authorization: …`, `Bearer …`, `Basic …`, and a header with the name of a key, such as `x-api-key: …`.
fn is_header(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let named = lower.split_once(':').is_some_and(|(name, value)| {
        let name = name.trim();
        !value.trim().is_empty() && HEADERS.iter().any(|header| name.ends_with(header))
    });
    let words: Vec<&str> = lower.split_whitespace().collect();
    named
        || words.windows(2).any(|pair| matches!(pair[0].trim_start_matches(['"', '\'']), "bearer" | "basic"))
}

fn is_key(word: &str) -> bool {
    word.len() >= 48 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The parts of a text that may be secrets: the value of a parameter, a header or a JSON field with such a name, and keys. A
/// short value is none, and neither is the name of a file: it may be any word.
pub(crate) fn parts(text: &str) -> Vec<&str> {
    const SHORTEST: usize = 4;
    const FILES: [&str; 7] = ["json", "jsonl", "md", "mmd", "trace", "yaml", "yml"];
    let mut parts = Vec::new();
    for (at, sign) in text.match_indices(['=', ':']) {
        let (before, behind) = (text[..at].trim_end(), text[at + 1..].trim_start());
        let is_field = before.ends_with('"');
        let name = before.trim_end_matches('"').to_ascii_lowercase();
        let is_header = sign == ":" && HEADERS.iter().any(|header| name.ends_with(header));
        let is_named = SECRETS.iter().any(|secret| name.ends_with(secret));
        if !is_header && !(is_named && (sign == "=" || is_field)) {
            continue;
        }
        let value = match behind.strip_prefix(['"', '\'']) {
            Some(quoted) => quoted.split(['"', '\'']).next(),
            None if is_header => behind.split(['"', '\'']).next(),
            None => behind.split(|c: char| c.is_whitespace() || "&;,\"'}]".contains(c)).next(),
        };
        let value = value.unwrap_or_default().trim_end();
        parts.push(value);
        // `Bearer x`.
        parts.extend(value.split_once(char::is_whitespace).map(|(_, more)| more.trim_start()));
    }
    let words = text.split(|c: char| !c.is_alphanumeric());
    // A digest begins with its kind.
    parts.extend(words.filter(|word| is_key(word) && !text.contains(&format!("sha256:{word}"))));
    let is_file = |part: &str| {
        part.rsplit_once('.').is_some_and(|(_, end)| FILES.iter().any(|file| end.eq_ignore_ascii_case(file)))
    };
    parts.retain(|part| part.len() >= SHORTEST && !is_file(part));
    parts
}

/// The text without a part that stands as a word or as several.
pub(crate) fn without_word<'t>(text: &'t str, part: &str) -> Cow<'t, str> {
    let is_within = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut shown = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices(part) {
        let end = at + part.len();
        if !is_within(text[..at].chars().next_back()) && !is_within(text[end..].chars().next()) {
            shown.push_str(&text[from..at]);
            shown.push('…');
            from = end;
        }
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(&text[from..]);
    Cow::Owned(shown)
}

/// The arguments that continue a secret of a previous argument: a shell splits an address, a parameter and a header at a
/// blank.
pub(crate) fn split(args: &[String]) -> Vec<bool> {
    let mut split = vec![false; args.len()];
    for (at, arg) in args.iter().enumerate() {
        let rest = &args[at + 1..];
        // A flag begins another argument.
        let open = rest.iter().take_while(|next| !next.starts_with('-') || next.contains('@')).count();
        let last = match arg.trim_end().to_ascii_lowercase() {
            // The password extends to the last `@`.
            begun if begun.contains("://") || is_user_and_more(&begun) => {
                rest[..open].iter().rposition(|next| next.contains('@')).map_or(0, |last| last + 1)
            }
            begun if begun.ends_with("authorization:") => open.min(2),
            begun if begun.ends_with("api-key:") || matches!(&*begun, "bearer" | "basic") => open.min(1),
            // `password= x` and `password = x`.
            begun if begun.ends_with('=') && may_have_one(&format!("{begun}x")) => open.min(1),
            begun if rest.first().is_some_and(|next| next == "=") && may_have_one(&format!("{begun}=x")) => {
                open.min(2)
            }
            _ => 0,
        };
        split[at + 1..=at + last].fill(true);
    }
    split
}

/// `ada:sec` of `ada:sec ret@db`.
fn is_user_and_more(text: &str) -> bool {
    !text.contains(['@', '='])
        && text.split_once(':').is_some_and(|(user, more)| !user.is_empty() && !more.is_empty())
}

/// The text without the passwords of its addresses. An address ends at a blank, which may be within a path.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    masked_to(text, &['\n', '\'', '"', '`', ' '])
}

/// The path without the password of an address in it. Joining or traversing a path removes its second slash.
pub(crate) fn masked_path(path: &str) -> Cow<'_, str> {
    masked_to(path, &['\n'])
}

fn masked_to<'t>(text: &'t str, ends: &[char]) -> Cow<'t, str> {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(":/") {
        let start = at + 1 + rest[at + 1..].bytes().take_while(|byte| *byte == b'/').count();
        let address = &rest[start..];
        let address = &address[..address.find(ends).unwrap_or(address.len())];
        // A password may contain slashes, and an `@` too, unless a slash precedes it.
        let password = address.find('@').and_then(|first| {
            let host = address[first..].find('/').map_or(address.len(), |end| first + end);
            let last = address[..host].rfind('@').unwrap_or(first);
            let colon = address[..last].find(':')?;
            let is_one = colon + 1 < last && !address[..colon].contains('/');
            is_one.then_some((start + colon + 1, start + last))
        });
        let Some((from, to)) = password else {
            shown.push_str(&rest[..start]);
            rest = &rest[start..];
            continue;
        };
        shown.push_str(&rest[..from]);
        shown.push('…');
        rest = &rest[to..];
    }
    if shown.is_empty() {
        return Cow::Borrowed(text);
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_headers_may_have_a_secret_and_names_have_none() {
        // A key has at least 64 digits; a copy of one may lack some.
        for digits in [48, 62, 64, 66, 128] {
            assert!(may_have_one(&format!("k1 {}", "ab".repeat(digits / 2))), "{digits}");
        }
        assert!(!may_have_one(&"ab".repeat(16)) && !may_have_one(&format!("sha256:{}", "ab".repeat(32))));
        for text in [
            "postgres://h/d",
            "ada:x@db",
            "host=h password = x",
            "sslpassword=x",
            "Authorization: Bearer x",
            "authorization:x",
            "bearer abc",
            "X-Api-Key: x",
            "Proxy-Authorization: Basic eDp4",
        ] {
            assert!(may_have_one(text), "{text}");
        }
        for text in [
            "a.yaml",
            "slow-1",
            "10:30.yaml",
            "bearer",
            "key.yaml",
            "a b",
            "authorization.yaml",
            "sqlite:runs.db",
        ] {
            assert!(!may_have_one(text), "{text}");
        }
    }

    #[test]
    fn the_parts_that_may_be_secrets_are_found() {
        let key = "ab".repeat(32);
        for (text, found) in [
            ("password=hunter2", &["hunter2"] as &[&str]),
            ("host=h password = 'hun ter2' user=x", &["hun ter2", "ter2"]),
            ("Authorization: Bearer abcdef", &["Bearer abcdef", "abcdef"]),
            ("X-Api-Key:abcdef", &["abcdef"]),
            ("{\"a\": 1, \"apiKey\": \"hunter2\", \"token\":12345}", &["hunter2", "12345"]),
            (&format!("{{\"note\": \"{key}\"}}"), &[&*key]),
            (&format!("sha256:{key}"), &[]),
            ("token=docs/token.mmd", &[]),
            ("the key: it is due", &[]),
            ("key=a", &[]),
            ("FROM:TO", &[]),
        ] {
            assert_eq!(parts(text), found, "{text}");
        }
    }

    #[test]
    fn a_part_is_left_out_as_a_word_alone() {
        assert_eq!(without_word("no due, and \"due\": overdue", "due"), "no …, and \"…\": overdue");
        assert!(matches!(without_word("overdue", "due"), Cow::Borrowed(_)));
    }

    #[test]
    fn an_argument_that_goes_on_with_a_secret_is_one() {
        let of = |args: &str| {
            let args: Vec<String> = args.split('|').map(str::to_owned).collect();
            let split = split(&args);
            args.into_iter()
                .zip(split)
                .filter_map(|(arg, is_split)| is_split.then_some(arg))
                .collect::<Vec<_>>()
        };
        assert_eq!(of("runs|postgres://ada:a|b|c@h/d|e"), ["b", "c@h/d"]);
        assert_eq!(of("runs|ada:a|b@h"), ["b@h"]);
        assert_eq!(of("runs|password=|x|y"), ["x"]);
        assert_eq!(of("runs|password|=|x|y"), ["=", "x"]);
        assert_eq!(of("run|-H|Authorization:|Bearer|x|y"), ["Bearer", "x"]);
        assert_eq!(of("run|Bearer|x|y"), ["x"]);
        assert_eq!(of("runs|--store|sqlite:x.db|--limit|1"), [""; 0]);
        assert_eq!(of("runs|postgres://h/d|--limit|1"), [""; 0]);
    }

    #[test]
    fn a_text_is_shown_without_the_passwords_of_its_addresses() {
        for (text, shown) in [
            ("suite/postgres:/ada:x@h/a.yaml", "suite/postgres:/ada:…@h/a.yaml"),
            ("a postgres://ada:x@h/d and http://b:z@i", "a postgres://ada:…@h/d and http://b:…@i"),
            ("sqlite:/tmp/x.db: approved by ada@h", "sqlite:/tmp/x.db: approved by ada@h"),
            ("http://h:80/ was asked by ada@h", "http://h:80/ was asked by ada@h"),
            ("postgres://ada:x@y@h/d", "postgres://ada:…@h/d"),
            ("postgres://ada:x/y@h/d", "postgres://ada:…@h/d"),
            ("postgres://ada@h/d", "postgres://ada@h/d"),
            ("https://json-schema.org/draft", "https://json-schema.org/draft"),
            ("file:/a/b and sqlite:/c", "file:/a/b and sqlite:/c"),
        ] {
            assert_eq!(masked(text), shown);
        }
        assert_eq!(masked_path("s/postgres:/ada:x y@h/a.yaml"), "s/postgres:/ada:…@h/a.yaml");
    }
}
