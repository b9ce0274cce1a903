//! The secrets of a client, in the answers of a server.

use std::borrow::Cow;
use std::fmt;

use http::header::HeaderValue;

/// The shortest secret that is looked for. A shorter text occurs by chance.
const SHORTEST: usize = 8;

/// The replacement of a secret.
const WITHHELD: &str = "[key]";

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

    /// The length of the longest end of a text with which a secret may begin.
    pub fn beginning(&self, text: &str) -> usize {
        let longest = |secret: &String| {
            let begins = |length: &usize| secret.get(..*length).is_some_and(|part| text.ends_with(part));
            (1..secret.len().min(text.len() + 1)).rev().find(begins)
        };
        self.0.iter().filter_map(longest).max().unwrap_or(0)
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
