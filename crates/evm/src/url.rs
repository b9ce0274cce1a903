//! The URL of a node, which may have a key.

use std::net::IpAddr;

use data_encoding::BASE64;
use hyper::Uri;
use hyper::header::HeaderValue;
use percent_encoding::percent_decode_str;

use crate::options::EvmError;

/// The URL of a node. It has no debug output.
pub(crate) struct NodeUrl {
    /// The URL without a user.
    pub(crate) endpoint: Uri,
    /// The header with the user of the URL and its password.
    pub(crate) basic: Option<HeaderValue>,
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
                "it is http to another machine: a machine between them could read the key and change the answers; \
                 expected https, or plain_http for a network that is trusted",
            ));
        }
        let (user, own) = match authority.as_str().rsplit_once('@') {
            Some((user, own)) => (Some(user), own),
            None => (None, authority.as_str()),
        };
        let path = whole.path_and_query().map_or("/", |path| path.as_str());
        let endpoint = Uri::builder().scheme(scheme).authority(own).path_and_query(path).build();
        let endpoint = endpoint.map_err(|_| refused("expected one like https://node.example/key"))?;
        let header = |user: &str| {
            let plain: Vec<u8> = percent_decode_str(user).collect();
            HeaderValue::try_from(format!("Basic {}", BASE64.encode(&plain)))
                .map_err(|_| refused("expected a user of one line"))
        };
        Ok(NodeUrl { endpoint, basic: user.map(header).transpose()? })
    }
}
