//! Digests of calls.

use std::fmt;

use runstate::turn::CallRequest;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The first half of a SHA-256 of tool and arguments. The order of the arguments' keys has no influence. The JSON
/// form is 32 hexadecimal digits, because JSON parsers differ about large numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct CallDigest(u128);

impl CallDigest {
    pub(super) fn of(call: &CallRequest) -> Self {
        let text = call.digest();
        let digits = text.strip_prefix("sha256:").and_then(|digits| digits.get(..32));
        let number = digits.and_then(|digits| u128::from_str_radix(digits, 16).ok());
        CallDigest(number.unwrap_or_else(|| unreachable!("a digest is 64 hexadecimal digits")))
    }
}

impl fmt::Display for CallDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for CallDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for CallDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CallDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || D::Error::invalid_value(Unexpected::Str(&text), &"32 hexadecimal digits");
        if text.len() != 32 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        u128::from_str_radix(&text, 16).map(CallDigest).map_err(|_| wrong())
    }
}
