//! The checks of a request, in their fixed order: origin, authentication, role, rate, size, content type, schema.

use std::marker::PhantomData;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, IF_MATCH, ORIGIN,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use data_encoding::HEXLOWER;
use http_body_util::{BodyExt, Limited};
use runstate_service::{Caller, Request as KeyedRequest};
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::layers::Permit;
use crate::members::{self, FromMembers};
use crate::options::Access;
use crate::problem::{Code, Problem};
use crate::tokens::{Principal, Role};

/// The role that a request needs.
pub(crate) trait Needs: Send + 'static {
    const ROLE: Role;
}

/// Requests of operators.
pub(crate) struct OfOperator;

impl Needs for OfOperator {
    const ROLE: Role = Role::Operator;
}

/// Decisions of approvers.
pub(crate) struct OfApprover;

impl Needs for OfApprover {
    const ROLE: Role = Role::Approver;
}

/// A request that reads.
pub(crate) struct Reader {
    pub(crate) principal: Principal,
    pub(crate) token: Option<String>,
}

impl FromRequestParts<App> for Reader {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let principal = admit(parts, app, Role::Viewer)?;
        Ok(Reader { principal, token: bearer(&parts.headers)?.map(str::to_owned) })
    }
}

/// A request that removes.
pub(crate) struct Remover {
    pub(crate) version: Option<u64>,
}

impl FromRequestParts<App> for Remover {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        check_origin(parts, app)?;
        admit(parts, app, Role::Operator)?;
        let version = expected_version(&parts.headers)?;
        Ok(Remover { version })
    }
}

/// A request that writes, with its body.
pub(crate) struct Call<N, B> {
    pub(crate) caller: Caller,
    pub(crate) body: B,
    pub(crate) wait: Option<Duration>,
    /// The place of the request among those at once.
    pub(crate) permit: Option<Permit>,
    needs: PhantomData<N>,
}

impl<N: Needs, B: FromMembers> FromRequest<App> for Call<N, B> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        check_origin(&parts, app)?;
        let principal = admit(&parts, app, N::ROLE)?;
        let limits = &app.options.limits;
        let max = if B::IS_LARGE { limits.body } else { limits.action_body };
        let bytes = bytes(&parts.headers, body, max, limits.body_time).await?;
        check_content_type(&parts.headers, bytes.is_empty() && !B::NEEDS_BODY)?;
        let read = members::read(&bytes, limits.depth)?;
        let key = header(&parts.headers, &HeaderName::from_static("idempotency-key"))?;
        let digest = digest(&parts, &bytes);
        let version = expected_version(&parts.headers)?;
        let request = key.map(|key| KeyedRequest { key: unquoted(key).to_owned(), digest });
        let caller = Caller { version, request, ..Caller::from(principal.name.as_str()) };
        let (wait, permit) = (wait(&parts.headers, app), parts.extensions.get::<Permit>().cloned());
        Ok(Call { caller, body: read, wait, permit, needs: PhantomData })
    }
}

/// A header as text. A repeated one is refused.
fn header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Problem::new(Code::BadHeader, format!("got several headers {name}, expected one")));
    }
    match value.to_str() {
        Ok(text) => Ok(Some(text.trim())),
        Err(_) => {
            Err(Problem::new(Code::BadHeader, format!("{name} has other characters than visible ASCII")))
        }
    }
}

/// The draft has keys as strings of structured fields, in quotes; most clients send them without.
fn unquoted(key: &str) -> &str {
    key.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(key)
}

/// The version of the entity tag in `If-Match`, such as `"v7"`. None for `*`.
fn expected_version(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(tag) = header(headers, &IF_MATCH)?.filter(|tag| *tag != "*") else { return Ok(None) };
    let digits = tag.strip_prefix("\"v").and_then(|tag| tag.strip_suffix('"')).unwrap_or_default();
    match digits.parse() {
        Ok(version) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Some(version)),
        _ => {
            let detail = format!("If-Match: got {tag:?}, expected one entity tag such as \"v7\"");
            Err(Problem::new(Code::BadHeader, detail))
        }
    }
}

/// Returns whether a request has the newest version of a run already.
pub(crate) fn has_version(headers: &HeaderMap, tag: &str) -> bool {
    let known = headers.get_all(axum::http::header::IF_NONE_MATCH).iter();
    known.filter_map(|tags| tags.to_str().ok()).flat_map(|tags| tags.split(',')).any(|known| {
        let known = known.trim();
        known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag
    })
}

/// The digest of a request: method, path and body.
fn digest(parts: &Parts, body: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(parts.method.as_str());
    hash.update([0]);
    hash.update(parts.uri.path());
    hash.update([0]);
    hash.update(body);
    format!("sha256:{}", HEXLOWER.encode(&hash.finalize()))
}

/// The time for which a request waits for an outcome. None: it does not wait.
fn wait(headers: &HeaderMap, app: &App) -> Option<Duration> {
    if !app.options.drives {
        return None;
    }
    let limits = &app.options.limits;
    let mut wait = Some(limits.wait);
    let preferences = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    for preference in preferences.flat_map(|value| value.split([',', ';'])) {
        let preference = preference.trim().to_ascii_lowercase();
        if preference == "respond-async" {
            return None;
        }
        if let Some(seconds) = preference.strip_prefix("wait=").and_then(|seconds| seconds.parse().ok()) {
            wait = Some(Duration::from_secs(seconds).min(limits.max_wait));
        }
    }
    wait.filter(|wait| !wait.is_zero())
}

/// Reads the body, within its limits.
async fn bytes(headers: &HeaderMap, body: Body, max: usize, limit: Duration) -> Result<Vec<u8>, Problem> {
    let too_large = || Problem::new(Code::TooLarge, format!("the body has more than {max} bytes"));
    let length = header(headers, &CONTENT_LENGTH)?.and_then(|length| length.parse::<usize>().ok());
    if length.is_some_and(|length| length > max) {
        return Err(too_large());
    }
    match tokio::time::timeout(limit, Limited::new(body, max).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes().into()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Problem::new(Code::BadJson, "the body ends before its length")),
        Err(_) => Err(Problem::new(Code::Timeout, format!("the body took more than {} s", limit.as_secs()))),
    }
}

/// A request without a body needs no content type, if the operation has no members.
fn check_content_type(headers: &HeaderMap, may_lack: bool) -> Result<(), Problem> {
    let got = header(headers, &CONTENT_TYPE)?;
    let mime = got.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if mime.eq_ignore_ascii_case("application/json") || (may_lack && got.is_none()) {
        return Ok(());
    }
    Err(Problem::new(Code::NotJson, format!("got the content type {mime:?}, expected \"application/json\"")))
}

/// Refuses a write that a page of another site sends.
fn check_origin(parts: &Parts, app: &App) -> Result<(), Problem> {
    let headers = &parts.headers;
    let cross_site = |detail: String| Err(Problem::new(Code::CrossSite, detail));
    match header(headers, &ORIGIN)? {
        Some(origin) if app.options.origins.iter().any(|known| known == origin) => return Ok(()),
        Some(origin) if !is_own(origin, headers) => {
            return cross_site(format!("got the origin {origin:?}, which the server does not allow"));
        }
        _ => {}
    }
    match header(headers, &HeaderName::from_static("sec-fetch-site"))? {
        Some("same-origin" | "none") | None => Ok(()),
        Some(site) => cross_site(format!("got a request of a {site} page")),
    }
}

/// Returns whether an origin is the server itself, by the `Host` of the request.
fn is_own(origin: &str, headers: &HeaderMap) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let host = header(headers, &HOST).ok().flatten();
    authority.is_some() && authority == host
}

/// Knows the author of a request, and checks role, rate and accepted content.
fn admit(parts: &Parts, app: &App, role: Role) -> Result<Principal, Problem> {
    let principal = match &app.options.access {
        Access::Local => {
            check_host(&parts.headers, &parts.uri)?;
            let roles = [Role::Viewer, Role::Approver, Role::Operator].into();
            Principal { name: "local".to_owned(), roles }
        }
        Access::Tokens(tokens) => {
            let unauthenticated = |detail: &str| Problem::new(Code::Unauthenticated, detail);
            let Some(token) = bearer(&parts.headers)? else {
                return Err(unauthenticated("expected the header `Authorization: Bearer TOKEN`"));
            };
            let found = tokens.find(token, app.clock.now_ms()).map_err(|error| {
                let detail = "the tokens of the server cannot be read";
                Problem::new(Code::Unavailable, detail).retry_after(1).caused_by(error)
            })?;
            found.ok_or_else(|| unauthenticated("the token is unknown, revoked or expired"))?
        }
    };
    if !principal.has(role) {
        let detail = format!("{} has no token of the role {role}, which the request needs", principal.name);
        return Err(Problem::new(Code::Forbidden, detail));
    }
    app.rates.count(&principal.name, role == Role::Approver)?;
    check_accept(&parts.headers)?;
    Ok(principal)
}

/// The token of a request.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let value = header(headers, &AUTHORIZATION)?.and_then(|value| value.split_once(' '));
    Ok(value.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim()))
}

/// A page that reaches the server by a name of its own has that name as `Host`.
fn check_host(headers: &HeaderMap, uri: &Uri) -> Result<(), Problem> {
    let host = uri.authority().map(|authority| authority.as_str()).or(header(headers, &HOST)?);
    let name = host.map(|host| match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    });
    let is_loopback = |name: &str| {
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
        name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    };
    match name {
        Some(name) if is_loopback(name) => Ok(()),
        _ => {
            let detail =
                format!("got the host {:?}, expected a loopback name or address", host.unwrap_or(""));
            Err(Problem::new(Code::WrongHost, detail))
        }
    }
}

/// The answers are JSON, events or lines of JSON.
fn check_accept(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(accept) = header(headers, &ACCEPT).unwrap_or(Some("*/*")) else { return Ok(()) };
    let known = ["*/*", "application/*", "application/json", "application/problem+json", "text/event-stream"];
    let accepts = |range: &str| {
        let mut parts = range.split(';').map(str::trim);
        let mime = parts.next().unwrap_or_default();
        let refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        !refused
            && (known.iter().any(|known| mime.eq_ignore_ascii_case(known)) || mime == "application/jsonl")
    };
    if accept.split(',').any(accepts) {
        return Ok(());
    }
    Err(Problem::new(
        Code::NotAcceptable,
        format!("got the header `Accept: {accept}`, answers are application/json"),
    ))
}
