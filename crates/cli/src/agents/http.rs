//! HTTP requests as a tool.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Body;
use hyper::header::{
    CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use runstate::tool_result::ToolResult;
use runstate_agent::{GateCall, Preview, Tool, ToolContext, ToolSpec, async_trait};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::file::{FromFile, HttpFile};
use super::headers;
use crate::command::time;
use crate::failure::Failure;

/// The name of the tool.
pub(super) const HTTP_REQUEST: &str = "http_request";

/// The default time limit.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The default limit of a body, in bytes.
const MAX_OUTPUT: usize = 64 * 1024;

/// The shortest value of a header that is withheld from answers. A shorter one occurs by chance.
const SHORTEST: usize = 8;

/// The shortest beginning of a secret that is cut off.
const LEAST_BEGINNING: usize = 4;

/// Headers that the file or the client sets, and never the model.
const RESERVED: [&str; 15] = [
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "host",
    "idempotency-key",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
];

/// The tool.
pub(super) struct HttpTool {
    spec: ToolSpec,
    hosts: BTreeSet<String>,
    methods: Vec<Method>,
    headers: HeaderMap,
    timeout: Duration,
    max_output: usize,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default)]
    method: Option<String>,
    url: String,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    body: Option<String>,
}

/// A request that the file permits.
struct Permitted {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Option<String>,
}

/// Whether requests of a method change nothing.
fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Whether all requests that the file permits change nothing.
pub(super) fn only_reads(file: &HttpFile) -> bool {
    methods(file).is_ok_and(|methods| methods.iter().all(is_safe))
}

fn methods(file: &HttpFile) -> Result<Vec<Method>, String> {
    if file.methods.is_empty() {
        return Ok(vec![Method::GET]);
    }
    let known = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let read = |name: &String| {
        let found = known.iter().find(|method| method.as_str() == name).cloned();
        found.ok_or_else(|| {
            format!("tools.http.methods: got {name:?}, expected some of GET, HEAD, POST, PUT, PATCH, DELETE")
        })
    };
    file.methods.iter().map(read).collect()
}

/// The specification of the tool.
///
/// # Errors
/// A method or a host has another form.
pub(super) fn spec(file: &HttpFile) -> Result<ToolSpec, String> {
    let methods = methods(file)?;
    let hosts = hosts(file)?;
    let names: Vec<&str> = methods.iter().map(Method::as_str).collect();
    let listed: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let about = format!("Sends an HTTP request to one of {}. Redirects are not followed.", listed.join(", "));
    let mut properties = json!({
        "url": { "type": "string" },
        "headers": { "type": "object", "additionalProperties": { "type": "string" } },
    });
    if names != ["GET"] {
        properties["method"] = json!({ "type": "string", "enum": names });
    }
    if !methods.iter().all(is_safe) {
        properties["body"] = json!({ "type": "string" });
    }
    let schema = json!({ "type": "object", "properties": properties, "required": ["url"], "additionalProperties": false });
    let spec = ToolSpec::new(HTTP_REQUEST, about).with_schema(schema);
    Ok(if methods.iter().all(is_safe) { spec.repeatable() } else { spec })
}

/// The hosts with their ports, if they have any.
fn hosts(file: &HttpFile) -> Result<BTreeSet<String>, String> {
    if file.hosts.is_empty() {
        return Err("tools.http.hosts: expected at least one host, such as api.example.org".to_owned());
    }
    let read = |host: &String| {
        let parsed = host.parse::<hyper::http::uri::Authority>().ok();
        let is_host = |it: &hyper::http::uri::Authority| {
            let has_port = it.as_str().len() > it.host().len();
            !it.as_str().contains(['@', '*']) && !it.host().is_empty() && has_port == it.port_u16().is_some()
        };
        match parsed.filter(is_host) {
            Some(_) => Ok(host.to_ascii_lowercase()),
            None => Err(format!(
                "tools.http.hosts: got {host:?}, expected a host, such as api.example.org or localhost:8080"
            )),
        }
    };
    file.hosts.iter().map(read).collect()
}

pub(super) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

impl HttpTool {
    /// # Errors
    /// A host, a method or the time has another form, or a variable of a header is missing.
    pub(super) fn new(from: &FromFile, file: &HttpFile) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::new(format!("{}: {why}", from.path));
        let mut headers = HeaderMap::new();
        for (name, value) in
            headers::read(&file.headers_env).map_err(|why| wrong(format!("tools.http.{why}")))?
        {
            let mut value = HeaderValue::try_from(value).map_err(|error| wrong(error.to_string()))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::try_from(name).map_err(|error| wrong(error.to_string()))?, value);
        }
        let timeout = match &file.timeout {
            Some(text) => time(text).map_err(|error| wrong(format!("tools.http.timeout: {error}")))?,
            None => TIMEOUT,
        };
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_webpki_roots(rustls::crypto::ring::default_provider())
            .map_err(|error| wrong(format!("TLS cannot be configured: {error}")))?
            .https_or_http()
            .enable_http1()
            .build();
        Ok(HttpTool {
            spec: spec(file).map_err(wrong)?,
            hosts: hosts(file).map_err(wrong)?,
            methods: methods(file).map_err(wrong)?,
            headers,
            timeout,
            max_output: file.max_output.unwrap_or(MAX_OUTPUT),
            client: Client::builder(TokioExecutor::new()).build(connector),
        })
    }

    /// The request of a call, if the file permits it.
    fn permitted(&self, arguments: &Value) -> Result<Permitted, String> {
        let Arguments { method, url, headers, body } = Arguments::deserialize(arguments)
            .map_err(|error| format!("the arguments are not those of {HTTP_REQUEST}: {error}"))?;
        let method = method.as_deref().unwrap_or("GET");
        let listed = || self.methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
        let known = self.methods.iter().find(|known| known.as_str() == method).cloned();
        let method = known.ok_or_else(|| format!("method: got {method:?}, expected one of {}", listed()))?;
        let uri = self.address(&url)?;
        let mut sent = HeaderMap::new();
        for (name, value) in &headers {
            let refused = |why: &str| format!("headers: {name:?} {why}");
            let header =
                HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused("is no name of a header"))?;
            if RESERVED.contains(&header.as_str()) || self.headers.contains_key(&header) {
                return Err(refused("is set by the agent file or by the client alone"));
            }
            // Other letters than those of ASCII would be sent, and not shown.
            let value = value.as_str().filter(|value| value.is_ascii());
            let value = value.and_then(|value| HeaderValue::from_str(value).ok());
            sent.insert(header, value.ok_or_else(|| refused("has no value that a header can have"))?);
        }
        if body.is_some() && is_safe(&method) {
            return Err(format!("body: a {method} has none"));
        }
        Ok(Permitted { method, uri, headers: sent, body })
    }

    fn address(&self, url: &str) -> Result<Uri, String> {
        // A fragment is for the client, and no part of a request.
        let refused = |why: &str| format!("url: got {url:?}, {why}");
        let uri: Uri =
            url.split('#').next().unwrap_or_default().parse().map_err(|_| refused("expected a URL"))?;
        let authority = uri.authority().ok_or_else(|| refused("expected a URL with a host"))?;
        if authority.as_str().contains('@') {
            return Err(refused("expected a URL without a user"));
        }
        let host = authority.host().to_ascii_lowercase();
        let is_listed = match authority.port_u16() {
            Some(port) => {
                let usual = matches!((uri.scheme_str(), port), (Some("https"), 443) | (Some("http"), 80));
                self.hosts.contains(&format!("{host}:{port}")) || usual && self.hosts.contains(&host)
            }
            None => self.hosts.contains(&host),
        };
        if !is_listed {
            let listed: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
            return Err(refused(&format!("expected a host of {}", listed.join(", "))));
        }
        match uri.scheme_str() {
            Some("https") => Ok(uri),
            Some("http") if is_loopback(&host) => Ok(uri),
            _ => Err(refused("expected https; http is for loopback addresses alone")),
        }
    }

    async fn send(&self, arguments: &Value, key: &str) -> Result<ToolResult, String> {
        let Permitted { method, uri, headers, body } = self.permitted(arguments)?;
        let mut request = Request::new(Full::from(body.unwrap_or_default()));
        *request.headers_mut() = headers;
        // The values of the file count, also against those of the model.
        request.headers_mut().extend(self.headers.clone());
        request.headers_mut().remove(HOST);
        if !is_safe(&method) {
            let key = HeaderValue::from_str(key).map_err(|error| error.to_string())?;
            request.headers_mut().insert("idempotency-key", key);
        }
        let shown = format!("{method} {uri}");
        (*request.method_mut(), *request.uri_mut()) = (method, uri);
        let answered = async {
            let response = self.client.request(request).await;
            let response =
                response.map_err(|error| format!("{shown}: {}", self.withheld(&causes(&error))))?;
            self.answer(response).await.map_err(|error| format!("{shown}: {error}"))
        };
        let answered = tokio::time::timeout(self.timeout, answered).await;
        answered.unwrap_or_else(|_| Err(format!("{shown} took more than {:?}, and was ended", self.timeout)))
    }

    async fn answer(
        &self,
        response: Response<impl Body<Data = Bytes, Error: Error> + Unpin>,
    ) -> Result<ToolResult, String> {
        let (parts, mut body) = response.into_parts();
        let (mut kept, mut omitted) = (Vec::new(), 0_usize);
        // The rest of a long body is not read: it may have no end.
        while kept.len() < self.max_output && omitted == 0 {
            let Some(frame) = body.frame().await else { break };
            let frame = frame.map_err(|error| format!("the answer ended early: {error}"))?;
            let Ok(data) = frame.into_data() else { continue };
            let room = (self.max_output - kept.len()).min(data.len());
            kept.extend_from_slice(&data[..room]);
            omitted += data.len() - room;
        }
        let is_cut = omitted > 0 || (kept.len() == self.max_output && !body.is_end_stream());
        let header = |name: HeaderName| {
            let value = parts.headers.get(name)?.to_str().ok()?;
            Some(Value::from(self.withheld(value)))
        };
        let mut output = json!({ "status": parts.status.as_u16() });
        for (field, name) in
            [("content_type", CONTENT_TYPE), ("location", LOCATION), ("retry_after", RETRY_AFTER)]
        {
            if let Some(value) = header(name) {
                output[field] = value;
            }
        }
        // A text that is cut within a letter is a text.
        let text = match std::str::from_utf8(&kept) {
            Ok(text) => Some(text),
            Err(error) if is_cut && error.error_len().is_none() => {
                std::str::from_utf8(&kept[..error.valid_up_to()]).ok()
            }
            Err(_) => None,
        };
        output["body"] = match text {
            Some(text) if is_cut => self.without_beginning(self.withheld(text)).into(),
            Some(text) => self.withheld(text).into(),
            None => format!("({} bytes that are no text)", kept.len()).into(),
        };
        if !is_cut {
            return Ok(ToolResult::Success(output));
        }
        let length =
            parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        let of = length.map(|length| format!(" of {length}")).unwrap_or_default();
        let warning = format!("the body is cut after {}{of} bytes", kept.len());
        Ok(ToolResult::Warning { output, warning })
    }

    /// The values of the headers of the file, whole and without their scheme.
    fn secrets(&self) -> impl Iterator<Item = &str> {
        let values = self.headers.values().filter_map(|value| value.to_str().ok());
        let values =
            values.flat_map(|value| [value, value.split_once(' ').map_or(value, |(_, token)| token)]);
        values.filter(|secret| secret.len() >= SHORTEST)
    }

    /// A cut text without the beginning of a secret at its end.
    fn without_beginning(&self, mut text: String) -> String {
        for secret in self.secrets() {
            let ends_with = |length: &usize| secret.get(..*length).is_some_and(|part| text.ends_with(part));
            let length = (LEAST_BEGINNING..secret.len()).rev().find(ends_with);
            text.truncate(text.len() - length.unwrap_or(0));
        }
        text
    }

    /// A text without the values of the headers of the file: a server may repeat them.
    fn withheld(&self, text: &str) -> String {
        self.secrets().fold(text.to_owned(), |text, secret| text.replace(secret, "[withheld]"))
    }
}

/// An error with its causes: those of the client alone do not say why.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

#[async_trait]
impl Tool for HttpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        let key = cx.idempotency_key();
        self.send(cx.arguments(), &key).await.unwrap_or_else(ToolResult::Error)
    }

    async fn preview(&self, call: &GateCall<'_>) -> Option<Preview> {
        Some(Preview::note(match self.permitted(call.arguments()) {
            Ok(Permitted { method, uri, headers, body }) => {
                let mut text = format!("{method} {uri}");
                for (name, value) in &headers {
                    text.push_str(&format!("\n{name}: {}", value.to_str().unwrap_or_default()));
                }
                for name in self.headers.keys() {
                    text.push_str(&format!("\n{name}: (from the agent file)"));
                }
                body.map_or(text.clone(), |body| format!("{text}\n\n{body}"))
            }
            Err(error) => format!("no request is sent: {error}"),
        }))
    }
}
