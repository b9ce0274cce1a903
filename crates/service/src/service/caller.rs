//! The author of a request.

use super::{ServiceError, invalid};
use crate::store::RequestKey;

/// The longest name, in characters.
const MAX_NAME: usize = 200;

/// The author of a request, with the conditions of the request. A name alone is a caller without conditions.
///
/// ```
/// use runstate_service::Caller;
///
/// let caller = Caller { version: Some(3), ..Caller::from("ada") };
/// assert_eq!(caller.actor, "ada");
/// assert!(caller.request.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// The actor: 1 to 200 characters. It stands in the steps of the run, and in its decisions.
    pub actor: String,
    /// The person that the actor represents: at most 200 characters. The step has it; it permits nothing.
    pub on_behalf_of: Option<String>,
    /// The version that the run must have. Default: any.
    pub version: Option<u64>,
    /// The key of the request, for a request that may be repeated. Default: none.
    pub request: Option<Request>,
}

/// The key of a request, and the digest of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The key: 1 to 255 visible ASCII characters.
    pub key: String,
    /// The digest of the content.
    pub digest: String,
}

impl From<&str> for Caller {
    fn from(actor: &str) -> Self {
        Caller { actor: actor.to_owned(), ..Caller::default() }
    }
}

impl From<&Caller> for Caller {
    fn from(caller: &Caller) -> Self {
        caller.clone()
    }
}

impl Caller {
    pub(super) fn check(&self) -> Result<(), ServiceError> {
        check_name("actor", &self.actor)?;
        if let Some(name) = &self.on_behalf_of {
            check_name("on_behalf_of", name)?;
        }
        let key = self.request.as_ref().map(|request| request.key.as_str());
        let is_key =
            |key: &str| matches!(key.len(), 1..=255) && key.bytes().all(|byte| byte.is_ascii_graphic());
        match key {
            Some(key) if !is_key(key) => {
                let reason = format!("got {} bytes, expected 1 to 255 visible ASCII characters", key.len());
                Err(invalid("key", reason))
            }
            _ => Ok(()),
        }
    }

    /// The key of the request, which belongs to the actor.
    pub(super) fn key(&self) -> Option<RequestKey> {
        let key = self.request.as_ref()?.key.clone();
        Some(RequestKey { principal: self.actor.clone(), key })
    }
}

fn check_name(field: &'static str, name: &str) -> Result<(), ServiceError> {
    let count = name.chars().count();
    if name.trim().is_empty() || count > MAX_NAME || name.chars().any(char::is_control) {
        let expected = format!("a name of 1 to {MAX_NAME} characters, none of them a control character");
        return Err(invalid(field, format!("got {count} characters, expected {expected}")));
    }
    Ok(())
}
