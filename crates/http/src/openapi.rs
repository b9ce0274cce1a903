//! The OpenAPI document, from the code.

use serde_json::{Map, Value, json};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::agents;
use crate::app::App;
use crate::body::{IncludeText, StatusText};
use crate::health::{__path_healthz, __path_readyz, healthz, readyz};
use crate::runs::{act, events, list, read};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "runstate",
        description = "Service runs: a request becomes transactions, a person approves them, a wallet sends them.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    servers((url = "/", description = "This server")),
    tags(
        (name = "runs", description = "Runs"),
        (name = "operations", description = "Operations on runs"),
        (name = "rows", description = "Rows of runs"),
        (name = "server", description = "The server"),
    ),
    security(("token" = [])),
    components(schemas(IncludeText, StatusText)),
    modifiers(&Token),
)]
struct Document;

struct Token;

impl Modify for Token {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
            "A token of `runstate token new`. A server without tokens on a loopback address needs none.",
        ));
        let components = openapi.components.get_or_insert_with(Default::default);
        components.add_security_scheme("token", SecurityScheme::Http(scheme.build()));
    }
}

/// All endpoints with their document.
pub(crate) fn endpoints() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(list::list, act::create))
        .routes(routes!(read::get, act::delete))
        .routes(routes!(act::start))
        .routes(routes!(act::resume))
        .routes(routes!(act::approve))
        .routes(routes!(act::reject))
        .routes(routes!(act::execute))
        .routes(routes!(act::tx_submitted))
        .routes(routes!(act::poll_tx))
        .routes(routes!(read::artifact))
        .routes(routes!(read::steps))
        .routes(routes!(read::timeline))
        .routes(routes!(read::trace))
        .routes(routes!(read::trace_lines))
        .routes(routes!(agents::read::approvals))
        .routes(routes!(agents::read::tool_calls))
        .routes(routes!(events::events))
        .routes(routes!(list::openapi))
        .routes(routes!(healthz))
        .routes(routes!(readyz))
}

/// The members of bodies with another spelling.
const SPELLINGS: &[(&str, &[(&str, &str)])] = &[
    ("CreateBody", &[("wallet_address", "walletAddress"), ("chain_id", "chainId")]),
    (
        "SubmittedBody",
        &[
            ("tx_hashes", "txHashes"),
            ("tx_hashes", "txHash"),
            ("tx_hashes", "tx_hash"),
            ("submitted_by", "submittedBy"),
        ],
    ),
    ("ApproveBody", &[("reviewer", "on_behalf_of")]),
    ("RejectBody", &[("reviewer", "on_behalf_of")]),
];

/// Adds the parts that the attributes of endpoints lack: optional parameters are never null, slots have names, members
/// have other spellings, and a created run leads to its operations.
pub(crate) fn finished(document: &utoipa::openapi::OpenApi) -> Value {
    let mut document = json!(document);
    document["components"]["schemas"]["ResumeBody"]["properties"]["answers"]["propertyNames"] =
        json!({ "minLength": 1, "maxLength": 64 });
    for (body, names) in SPELLINGS {
        let properties = &mut document["components"]["schemas"][body]["properties"];
        for (name, other) in *names {
            let mut schema = properties[name].clone();
            schema["description"] = format!("Another spelling of `{name}`.").into();
            // One hash may be a text.
            if matches!(*other, "txHash" | "tx_hash") {
                schema = json!({ "type": "string", "description": schema["description"] });
            }
            properties[other] = schema;
        }
    }
    // Either spelling is enough.
    if let Some(body) = document["components"]["schemas"]["SubmittedBody"].as_object_mut() {
        body.remove("required");
    }
    let mut links = Map::new();
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for operation in paths.flat_map(|(_, path)| path.as_object_mut().into_iter().flatten()).map(|(_, it)| it)
    {
        let id = operation["operationId"].clone();
        let mut parameters =
            operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten();
        let mut is_of_run = false;
        parameters.by_ref().for_each(|parameter| {
            is_of_run |= parameter["in"] == "path" && parameter["name"] == "id";
            if let Some(kinds) = parameter["schema"].get_mut("type").and_then(Value::as_array_mut) {
                kinds.retain(|kind| kind != "null");
                if let [one] = &kinds[..] {
                    parameter["schema"]["type"] = one.clone();
                }
            }
        });
        if let (true, Value::String(id)) = (is_of_run, id) {
            let link = json!({ "operationId": id, "parameters": { "id": "$response.body#/run_id" } });
            links.insert(id, link);
        }
    }
    document["paths"]["/v1/runs"]["post"]["responses"]["201"]["links"] = links.into();
    document
}

/// The OpenAPI document of the server, as JSON.
///
/// ```
/// let document: serde_json::Value = serde_json::from_str(&runstate_http::openapi())?;
/// assert!(document["paths"]["/v1/runs/{id}/approve"]["post"].is_object());
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn openapi() -> String {
    let (_, document) = endpoints().split_for_parts();
    format!("{:#}", finished(&document))
}
