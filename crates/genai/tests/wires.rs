//! The parts that all wires share.

use std::time::Duration;

use runstate_agent::InferenceRequest;
use runstate_agent_stream::conformance::{Connection, Source, boxed};
use runstate_genai::{Genai, GenaiModel, Provider};
use serde_json::Value;

/// An event with its name.
pub fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// An event whose name is its type.
pub fn typed(data: &Value) -> String {
    event(data["type"].as_str().unwrap(), data)
}

pub fn source(provider: Provider, path: &str, connection: &Connection, request: &InferenceRequest) -> Source {
    let server = Genai::new(provider, &format!("{}/{path}", connection.address)).unwrap();
    let server = server.with_key(connection.key).unwrap();
    let server = server.within(connection.silence, Duration::from_secs(3600));
    boxed(GenaiModel::new(server, "m-1").with_max_output(connection.output).source(request))
}
