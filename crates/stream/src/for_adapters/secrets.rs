//! The secrets of a client, in the answers of a server.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use http::header::HeaderValue;

/// The shortest secret that is looked for. A shorter text occurs by chance.
const SHORTEST: usize = 8;

/// The replacement of a secret.
pub(super) const WITHHELD: &str = "[key]";

/// The shortest beginning of a secret that is held back. A shorter one is the end of many words.
const LEAST: usize = 4;

/// The key of a client and the values of its headers. A server that repeats one, such as in the text of an error, gives it
/// to no run, trace or message.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    pub fn add(&mut self, value: &HeaderValue) {
        let Ok(text) = value.to_str() else { return };
        let secret = text.strip_prefix("Bearer ").unwrap_or(text);
        if secret.len() >= SHORTEST && !self.0.iter().any(|known| known == secret) {
            self.0.push(secret.to_owned());
        }
    }

    /// Withholds the secrets of a text.
    pub fn withheld<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        for secret in &self.0 {
            if shown.contains(secret.as_str()) {
                shown = Cow::Owned(shown.replace(secret.as_str(), WITHHELD));
            }
        }
        shown
    }

    /// The length of the longest end of a text with which a secret begins; 0 below four letters.
    pub(super) fn beginning(&self, text: &str) -> usize {
        let longest = |secret: &String| {
            let begins = |length: &usize| secret.get(..*length).is_some_and(|part| text.ends_with(part));
            (LEAST..secret.len()).rev().find(begins)
        };
        self.0.iter().filter_map(longest).max().unwrap_or(0)
    }

    /// The first secret of a text that ends behind a place.
    pub(super) fn first(&self, text: &str, behind: usize) -> Option<Range<usize>> {
        let of = |secret: &String| {
            let found = text.match_indices(secret.as_str()).map(|(start, _)| start..start + secret.len());
            found.into_iter().find(|found| found.end > behind)
        };
        self.0.iter().filter_map(of).min_by_key(|found| found.start)
    }

    /// The length of the longest secret.
    pub(super) fn longest(&self) -> usize {
        self.0.iter().map(String::len).max().unwrap_or(0)
    }

    /// Withholds the secrets of a body.
    pub fn withheld_bytes(&self, body: Vec<u8>) -> Vec<u8> {
        match std::str::from_utf8(&body) {
            Ok(text) => match self.withheld(text) {
                Cow::Borrowed(_) => body,
                Cow::Owned(text) => text.into_bytes(),
            },
            // A body in another encoding is unreadable anyway.
            Err(_) => body,
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Secrets").field(&self.0.len()).finish()
    }
}
