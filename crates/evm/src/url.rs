//! The URL of a node, which may have a key.

use std::net::IpAddr;

use data_encoding::BASE64;
use hyper::Uri;
use hyper::header::HeaderValue;
use percent_encoding::percent_decode_str;

use crate::options::EvmError;

/// The length from which a part of the path may be a key.
const SHORTEST_KEY: usize = 8;

/// The URL of a node. It has no debug output.
pub(crate) struct NodeUrl {
    /// The URL without a user.
    pub(crate) endpoint: Uri,
    /// The header with the user of the URL and its password.
    pub(crate) basic: Option<HeaderValue>,
    /// Parts of the URL that no error may have.
    secrets: Vec<String>,
}

impl NodeUrl {
    /// Reads a URL with http or https. `plain_http` permits http to another machine.
    pub(crate) fn read(text: &str, plain_http: bool) -> Result<Self, EvmError> {
        let refused = |reason: &str| EvmError::Url { reason: reason.to_owned() };
        let whole: Uri =
            text.trim().parse().map_err(|_| refused("expected one like https://node.example/key"))?;
        let scheme = match whole.scheme_str() {
            Some(scheme @ ("http" | "https")) => scheme,
            _ => return Err(refused("expected one with http or https, such as https://node.example/key")),
        };
        let Some(authority) = whole.authority().filter(|authority| !authority.host().is_empty()) else {
            return Err(refused("expected a host"));
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        let is_local = host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        if scheme == "http" && !is_local && !plain_http {
            return Err(refused(
                "it is http to another machine, where its key and the answers could be changed on the way; expected \
                 https, or plain_http for a network that is trusted",
            ));
        }
        let (user, own) = match authority.as_str().rsplit_once('@') {
            Some((user, own)) => (Some(user), own),
            None => (None, authority.as_str()),
        };
        let path = whole.path_and_query().map_or("/", |path| path.as_str());
        let endpoint = Uri::builder().scheme(scheme).authority(own).path_and_query(path).build();
        let endpoint = endpoint.map_err(|_| refused("expected one like https://node.example/key"))?;
        let (mut secrets, mut basic) = (Vec::new(), None);
        if let Some(user) = user {
            let plain: Vec<u8> = percent_decode_str(user).collect();
            let header = HeaderValue::try_from(format!("Basic {}", BASE64.encode(&plain)));
            basic = Some(header.map_err(|_| refused("expected a user of one line"))?);
            secrets.extend(user.split(':').map(str::to_owned));
            secrets.extend(String::from_utf8_lossy(&plain).split(':').map(str::to_owned));
        }
        secrets.extend(whole.path().split('/').filter(|part| part.len() >= SHORTEST_KEY).map(str::to_owned));
        for pair in whole.query().unwrap_or_default().split('&') {
            let (_, value) = pair.split_once('=').unwrap_or(("", pair));
            secrets.extend([value.to_owned(), percent_decode_str(value).decode_utf8_lossy().into_owned()]);
        }
        secrets.retain(|secret| !secret.is_empty());
        // A secret that has another one in it goes first.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Ok(NodeUrl { endpoint, basic, secrets })
    }

    /// A text without the secrets of the URL.
    pub(crate) fn without_secrets(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
    }
}
