//! Failures of servers, classified by status and code.

use std::time::{Duration, SystemTime};

use super::Secrets;
use crate::{ErrorKind, SourceError};
use http::StatusCode;
use http::header::{DATE, HeaderMap, RETRY_AFTER};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Limit on the characters of a reason that are shown.
const MOST_OF_A_REASON: usize = 1_000;

/// The `error` of a body or of an event. Its form differs between servers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ErrorObject {
    #[serde(deserialize_with = "words")]
    message: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    /// A word, or a status.
    code: Option<Value>,
    #[serde(deserialize_with = "number")]
    status: Option<u16>,
}

/// Reads a number. A word in its place is ignored.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u16>, D::Error> {
    let number = Value::deserialize(from)?.as_u64();
    Ok(number.and_then(|number| u16::try_from(number).ok()))
}

/// Reads a text, or the list of the faults of fields that Mistral sends.
fn words<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Null => None,
        Value::String(text) => Some(text),
        Value::Object(fields) if fields.get("detail").is_some_and(Value::is_array) => {
            details(&fields["detail"])
        }
        other => Some(other.to_string()),
    })
}

/// Formats the fault of each field of a request.
fn details(list: &Value) -> Option<String> {
    let said = list.as_array()?.iter().filter_map(|one| one.get("msg").and_then(Value::as_str));
    Some(said.collect::<Vec<_>>().join("; "))
}

impl ErrorObject {
    /// Reads an `error`, which may be an object or a text.
    pub fn of(error: &Value) -> Self {
        match error {
            Value::String(message) => {
                ErrorObject { message: Some(message.clone()), ..ErrorObject::default() }
            }
            error => ErrorObject::deserialize(error).unwrap_or_else(|_| ErrorObject {
                message: Some(error.to_string()),
                ..ErrorObject::default()
            }),
        }
    }

    /// Reads the error of a whole body: below `error` or `detail`, in a list, or as the body itself.
    pub fn of_body(body: &Value) -> Self {
        match body {
            Value::Array(list) => list.first().map(Self::of_body).unwrap_or_default(),
            Value::Object(fields) => {
                match (fields.get("error"), fields.get("detail"), fields.get("errors")) {
                    (Some(error @ (Value::Object(_) | Value::String(_))), ..) => Self::of(error),
                    (_, Some(list @ Value::Array(_)), _) => {
                        ErrorObject { message: details(list), ..ErrorObject::default() }
                    }
                    (_, Some(detail), _) if !detail.is_null() => Self::of(detail),
                    (_, _, Some(errors @ Value::Array(_))) => Self::of_body(errors),
                    _ => {
                        let mut error = Self::of(body);
                        // The names of AWS, Baidu and MiniMax.
                        let other = fields.get("Message").or_else(|| fields.get("error_msg"));
                        let other = other.or_else(|| fields.get("base_resp")?.get("status_msg"));
                        error.message = error.message.or_else(|| Some(other?.as_str()?.to_owned()));
                        error
                    }
                }
            }
            Value::String(message) => {
                ErrorObject { message: Some(message.clone()), ..ErrorObject::default() }
            }
            _ => ErrorObject::default(),
        }
    }

    /// Returns whether a filter of the provider stopped the answer.
    pub fn is_of_a_filter(&self) -> bool {
        let code = self.code.as_ref().and_then(Value::as_str);
        [code, self.kind.as_deref()].iter().flatten().any(|word| *word == "content_filter")
    }

    fn reason(&self) -> Option<String> {
        self.message.as_deref().map(shown).filter(|reason| !reason.is_empty())
    }

    fn status(&self) -> Option<StatusCode> {
        let code = || self.code.as_ref().and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        self.status.or_else(code).and_then(|status| StatusCode::from_u16(status).ok())
    }

    /// Returns the kind that a known word of the error gives.
    fn kind(&self) -> Option<ErrorKind> {
        let code = self.code.as_ref().and_then(Value::as_str);
        [code, self.kind.as_deref()].into_iter().flatten().find_map(|word| match word {
            // The account is empty, so that waiting does not help.
            "insufficient_quota" | "billing_hard_limit_reached" => Some(ErrorKind::Fatal),
            "rate_limit_exceeded" | "rate_limit_error" | "requests" | "tokens" => Some(ErrorKind::RateLimit),
            "server_error" | "api_error" | "internal_error" | "internal_server_error" => {
                Some(ErrorKind::ServerError)
            }
            "overloaded_error" | "service_unavailable" | "engine_overloaded" => Some(ErrorKind::ServerError),
            "timeout" | "timeout_error" => Some(ErrorKind::Transient),
            "content_filter" | "content_policy_violation" => Some(ErrorKind::Model),
            "invalid_request_error"
            | "authentication_error"
            | "permission_error"
            | "not_found_error"
            | "invalid_api_key"
            | "model_not_found"
            | "context_length_exceeded" => Some(ErrorKind::Fatal),
            _ => None,
        })
    }

    /// Builds the failure of an attempt. Its kind is `otherwise` if neither a word nor a status decides.
    pub fn into_source_error(self, otherwise: ErrorKind) -> SourceError {
        let kind = self.kind().or_else(|| self.status().map(kind_of_status)).unwrap_or(otherwise);
        let message = self.reason().unwrap_or_else(|| "no reason given".to_owned());
        SourceError::new(kind, format!("the server reports: {message}"))
    }
}

/// Formats a server's reason, with bounded length and without control characters of terminals.
pub fn shown(reason: &str) -> String {
    let reason = reason.trim();
    let cut = reason.chars().nth(MOST_OF_A_REASON).map(|_| '…');
    let shown = |c: char| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c };
    reason.chars().take(MOST_OF_A_REASON).map(shown).chain(cut).collect()
}

/// Builds the failure of a response without success. `body` has the encoding if the body is unreadable.
pub fn of_status(
    status: StatusCode,
    headers: &HeaderMap,
    body: Result<Vec<u8>, String>,
    secrets: &Secrets,
) -> SourceError {
    let (body, encoding) = body.map_or_else(|encoding| (Vec::new(), Some(encoding)), |body| (body, None));
    let body: Value = runstate::json::from_slice(&body).unwrap_or_else(|_| {
        // A proxy answers in plain text, or with a page.
        let text = String::from_utf8_lossy(&body);
        let text = text.trim();
        if text.is_empty() || text.starts_with('<') { Value::Null } else { Value::from(text) }
    });
    let error = ErrorObject::of_body(&secrets.withheld_value(body));
    // The words of an error are more precise than its status. A success never follows from them.
    let kind = match (error.kind(), kind_of_status(status)) {
        (Some(kind @ (ErrorKind::Fatal | ErrorKind::RateLimit | ErrorKind::Model)), _) => kind,
        (_, by_status) => by_status,
    };
    let message = match (error.reason(), encoding) {
        (Some(message), _) => format!("the server answers {status}: {message}"),
        (None, None) => format!("the server answers {status}"),
        (None, Some(encoding)) => {
            format!("the server answers {status}, in the encoding {encoding:?}, which was not asked for")
        }
    };
    let failure = SourceError::new(kind, message);
    match retry_after(headers) {
        Some(wait) => failure.with_retry_after(wait),
        None => failure,
    }
}

pub fn kind_of_status(status: StatusCode) -> ErrorKind {
    match status.as_u16() {
        429 => ErrorKind::RateLimit,
        // Some servers send 529 if they are overloaded.
        500..=599 => ErrorKind::ServerError,
        408 | 409 | 425 => ErrorKind::Transient,
        _ => ErrorKind::Fatal,
    }
}

/// Returns the wait: milliseconds in `retry-after-ms`, or seconds or a date in `Retry-After`. A date is
/// relative to the response's own date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    if let Some(wait) = milliseconds.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok()) {
        return Some(wait);
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at: SystemTime = httpdate::parse_http_date(after).ok()?;
    let now = text(DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok())?;
    Some(at.duration_since(now).unwrap_or_default())
}
