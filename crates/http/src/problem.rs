//! Refusals, as problem documents of RFC 9457.

use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use runstate::service_run::{FinalStatus, ServiceRunStatus};
use runstate_service::{Conflict, Operation, ServiceError, ServiceStoreError};
use serde::Serialize;
use utoipa::ToSchema;

macro_rules! codes {
    ($($(#[$doc:meta])+ $name:ident = $code:literal, $status:ident, $title:literal;)+) => {
        /// The code of a problem. Its type is `urn:runstate:problem:` and the code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])+ $name,)+
        }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Code] = &[$(Code::$name),+];

            /// The code, such as `stale-digest`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code),+ }
            }

            /// The status of its answers.
            pub const fn status(self) -> StatusCode {
                match self { $(Code::$name => StatusCode::$status),+ }
            }

            /// The title, the same for each problem of the code.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$name => $title),+ }
            }
        }
    };
}

codes! {
    /// The body is no JSON.
    BadJson = "bad-json", BAD_REQUEST, "The body is no JSON";
    /// A parameter of the query is unknown or has another form.
    BadQuery = "bad-query", BAD_REQUEST, "The query cannot be used";
    /// A header has another form.
    BadHeader = "bad-header", BAD_REQUEST, "A header cannot be used";
    /// The cursor is of another query.
    BadCursor = "bad-cursor", BAD_REQUEST, "The cursor is of another query";
    /// The run has no transactions to sign.
    NothingToSign = "nothing-to-sign", BAD_REQUEST, "The run has no transactions to sign";
    /// The request names no hash.
    NoHash = "no-hash", BAD_REQUEST, "The request names no hash";
    /// The request has no valid token.
    Unauthenticated = "unauthenticated", UNAUTHORIZED, "A valid token is needed";
    /// The role of the token does not permit the request.
    Forbidden = "forbidden", FORBIDDEN, "The role does not permit the request";
    /// The request comes from another site.
    CrossSite = "cross-site", FORBIDDEN, "Requests of another site are refused";
    /// The actor created or resumed the run.
    NotDistinct = "not-distinct", FORBIDDEN, "The approver must be another actor";
    /// The path or the run does not exist.
    NotFound = "not-found", NOT_FOUND, "There is no such resource";
    /// The path has other methods.
    MethodNotAllowed = "method-not-allowed", METHOD_NOT_ALLOWED, "The path has other methods";
    /// The client accepts no JSON.
    NotAcceptable = "not-acceptable", NOT_ACCEPTABLE, "The answer is JSON";
    /// The body came too slowly.
    Timeout = "timeout", REQUEST_TIMEOUT, "The request took too long";
    /// The run refuses the operation in its status.
    WrongStatus = "wrong-status", CONFLICT, "The run refuses the operation in its status";
    /// The run was never started.
    NoCheckpoint = "no-checkpoint", CONFLICT, "The run was never started";
    /// The run has other transactions than were shown.
    StaleDigest = "stale-digest", CONFLICT, "The run has other transactions";
    /// A new intent while answers are wanted.
    InputNeeded = "input-needed", CONFLICT, "The run waits for answers";
    /// A request with the same key is in progress.
    InProgress = "in-progress", CONFLICT, "A request with this key is in progress";
    /// A driver has the run.
    Held = "held", CONFLICT, "A driver has the run";
    /// The run has another version.
    OtherVersion = "other-version", PRECONDITION_FAILED, "The run has another version";
    /// The body is too large.
    TooLarge = "too-large", PAYLOAD_TOO_LARGE, "The body is too large";
    /// The address is too long.
    UriTooLong = "uri-too-long", URI_TOO_LONG, "The address is too long";
    /// The body has another content type.
    NotJson = "not-json", UNSUPPORTED_MEDIA_TYPE, "The content type must be application/json";
    /// The `Host` header names another server.
    WrongHost = "wrong-host", MISDIRECTED_REQUEST, "The host is another one";
    /// Members of the body cannot be used.
    Invalid = "invalid", UNPROCESSABLE_ENTITY, "The content cannot be used";
    /// The key belongs to another request.
    KeyReused = "key-reused", UNPROCESSABLE_ENTITY, "The key belongs to another request";
    /// Too many requests.
    TooManyRequests = "too-many-requests", TOO_MANY_REQUESTS, "Too many requests";
    /// Too many event streams.
    TooManyStreams = "too-many-streams", TOO_MANY_REQUESTS, "Too many event streams";
    /// An error of the server.
    Internal = "internal", INTERNAL_SERVER_ERROR, "The server failed";
    /// The chain cannot be reached.
    ChainUnreachable = "chain-unreachable", BAD_GATEWAY, "The chain cannot be reached";
    /// The store cannot be reached, or the tokens cannot be read.
    Unavailable = "unavailable", SERVICE_UNAVAILABLE, "The server cannot answer now";
    /// The server has too many requests at once, or ends.
    Busy = "busy", SERVICE_UNAVAILABLE, "The server takes no request now";
}

/// The largest number of members in a refusal.
const MAX_ERRORS: usize = 100;

/// An error of one member of the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MemberError {
    /// The JSON pointer of the member.
    pub pointer: String,
    /// The reason.
    pub detail: String,
}

/// The state of the run in a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunState {
    /// The status.
    #[schema(value_type = String)]
    pub status: ServiceRunStatus,
    /// The final status of the last pass.
    #[schema(value_type = Option<String>)]
    pub final_status: Option<FinalStatus>,
    /// The operations that the run allows now.
    #[schema(value_type = Vec<String>)]
    pub allowed: Vec<Operation>,
}

/// A refusal.
#[derive(Debug, Clone)]
pub struct Problem(Box<Content>);

#[derive(Debug, Clone)]
struct Content {
    code: Code,
    detail: String,
    errors: Vec<MemberError>,
    run: Option<RunState>,
    retry_after_s: Option<u64>,
    allow: Option<HeaderValue>,
    /// The cause, for the operator of the server. No answer has it.
    cause: Option<String>,
}

/// The body of a refusal.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProblemBody {
    /// `urn:runstate:problem:` and the code.
    #[serde(rename = "type")]
    type_: String,
    /// The title of the code.
    title: String,
    /// The status of the answer.
    status: u16,
    /// The reason, and the remedy.
    detail: String,
    /// The path of the request.
    instance: String,
    /// The code.
    code: String,
    /// The members of the body that cannot be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<MemberError>,
    /// The state of the run that refuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunState>,
}

impl Problem {
    /// Makes a problem.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let (errors, detail) = (Vec::new(), detail.into());
        Problem(Box::new(Content {
            code,
            detail,
            errors,
            run: None,
            retry_after_s: None,
            allow: None,
            cause: None,
        }))
    }

    /// The problem for members that cannot be used.
    pub(crate) fn of_members(mut errors: Vec<MemberError>) -> Self {
        let detail = match &errors[..] {
            [one] => format!("{}: {}", one.pointer, one.detail),
            more => format!("{} members cannot be used", more.len()),
        };
        errors.truncate(MAX_ERRORS);
        let mut problem = Problem::new(Code::Invalid, detail);
        problem.0.errors = errors;
        problem
    }

    /// Puts the pointers of these members below another member.
    pub(crate) fn below(mut self, parent: &str, members: &[&str]) -> Self {
        for error in &mut self.0.errors {
            if members.contains(&error.pointer.as_str()) {
                error.pointer.insert_str(0, parent);
            }
        }
        self
    }

    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after_s = Some(seconds);
        self
    }

    pub(crate) fn allowing(mut self, allow: Option<HeaderValue>) -> Self {
        self.0.allow = allow;
        self
    }

    /// Adds the cause, which the server reports and no answer has.
    pub(crate) fn caused_by(mut self, cause: impl std::fmt::Display) -> Self {
        self.0.cause = Some(cause.to_string());
        self
    }

    pub(crate) fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    fn of_run(code: Code, conflict: &Conflict, detail: String) -> Self {
        let Conflict { status, final_status, allowed, .. } = conflict;
        let run = RunState { status: *status, final_status: *final_status, allowed: allowed.to_vec() };
        let mut problem = Problem::new(code, detail);
        problem.0.run = Some(run);
        problem
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The answer to a request of that path.
    pub(crate) fn answer(self, path: &str) -> Response {
        let Content { code, detail, errors, run, retry_after_s, allow, cause: _ } = *self.0;
        let body = ProblemBody {
            type_: format!("urn:runstate:problem:{}", code.as_str()),
            title: code.title().to_owned(),
            status: code.status().as_u16(),
            detail,
            instance: path.chars().take(200).collect(),
            code: code.as_str().to_owned(),
            errors,
            run,
        };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if code == Code::Unauthenticated {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(allow) = allow {
            headers.insert(ALLOW, allow);
        }
        (code.status(), headers, serde_json::json!(body).to_string()).into_response()
    }
}

/// An answer without a body: the outermost layer knows the path and writes the body.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.0.code.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        let said = error.to_string();
        match &error {
            ServiceError::Conflict(conflict) => Problem::of_run(Code::WrongStatus, conflict, said),
            ServiceError::NoCheckpoint(conflict) => Problem::of_run(Code::NoCheckpoint, conflict, said),
            ServiceError::StaleDigest { conflict, .. } => Problem::of_run(Code::StaleDigest, conflict, said),
            ServiceError::IntentWhileInputIsNeeded { conflict, .. } => {
                Problem::of_run(Code::InputNeeded, conflict, said)
            }
            ServiceError::NotDistinct { .. } => Problem::new(Code::NotDistinct, said),
            ServiceError::Invalid { field: "key", reason } => {
                Problem::new(Code::BadHeader, format!("Idempotency-Key: {reason}"))
            }
            ServiceError::Invalid { field, reason } => {
                let pointer = match *field {
                    "wallet" => "/wallet_address".to_owned(),
                    field => format!("/{field}"),
                };
                Problem::of_members(vec![MemberError { pointer, detail: reason.clone() }])
            }
            ServiceError::NothingToSign { .. } => Problem::new(Code::NothingToSign, said),
            ServiceError::Port(error) => {
                Problem::new(Code::ChainUnreachable, said).caused_by(format!("{error:?}"))
            }
            ServiceError::Store(error) => of_store(error),
            // The text may have a part of the stored row.
            _ => Problem::new(Code::Internal, "the stored run cannot be used by this version of the server")
                .caused_by(said),
        }
    }
}

fn of_store(error: &ServiceStoreError) -> Problem {
    let said = error.to_string();
    match error {
        ServiceStoreError::NoRun { .. } => Problem::new(Code::NotFound, said),
        ServiceStoreError::Held { left, .. } => {
            let seconds = left.as_secs().saturating_add(1);
            Problem::new(Code::Held, "a driver has the run").retry_after(seconds)
        }
        ServiceStoreError::Fenced { .. } => {
            Problem::new(Code::Held, "another driver took the run").retry_after(1)
        }
        ServiceStoreError::Version { .. } => Problem::new(Code::OtherVersion, said),
        ServiceStoreError::KeyTaken { .. } => Problem::new(Code::InProgress, said).retry_after(1),
        ServiceStoreError::HashTaken { .. } => Problem::new(Code::InProgress, said).retry_after(1),
        ServiceStoreError::Unavailable(_) => {
            Problem::new(Code::Unavailable, "the store cannot be reached").retry_after(1).caused_by(said)
        }
        // Texts of databases name paths and addresses.
        _ => Problem::new(Code::Internal, "the store failed").caused_by(said),
    }
}
