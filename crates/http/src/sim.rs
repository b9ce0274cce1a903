//! The chain in this process, which takes the place of a wallet and of a node.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use runstate_service::sim::SimChain;
use runstate_service::{Caller, TxRequest};
use serde_json::{Map, Value, json};

use crate::access::{Call, OfOperator};
use crate::app::App;
use crate::body::NoBody;
use crate::members::{FromMembers, Members};
use crate::problem::{Code, MemberError, Problem};

struct TxBody(Map<String, Value>);

impl FromMembers for TxBody {
    fn read(members: &mut Members) -> Self {
        TxBody(members.rest())
    }
}

pub(crate) fn endpoints() -> Router<App> {
    Router::new().route("/sim/transactions", post(send)).route("/sim/blocks", post(mine))
}

fn chain(app: &App) -> Result<&SimChain, Problem> {
    app.options.sim.as_ref().ok_or_else(|| Problem::new(Code::NotFound, "the server has another chain"))
}

fn written<T>(result: std::io::Result<T>) -> Result<T, Problem> {
    let problem =
        Problem::new(Code::Unavailable, "the journal of the chain cannot be written").retry_after(1);
    result.map_err(|error| problem.caused_by(error))
}

/// A chain sends a transaction as often as it is asked to.
fn refuse_key(caller: &Caller) -> Result<(), Problem> {
    match caller.request {
        None => Ok(()),
        Some(_) => Err(Problem::new(Code::BadHeader, "Idempotency-Key: the built-in chain takes none")),
    }
}

async fn send(State(app): State<App>, call: Call<OfOperator, TxBody>) -> Result<Response, Problem> {
    refuse_key(&call.caller)?;
    let tx: TxRequest = serde_json::from_value(call.body.0.into()).map_err(|error| {
        let detail = format!("expected a transaction of `execute`: {error}");
        Problem::of_members(vec![MemberError { pointer: String::new(), detail }])
    })?;
    let hash = written(chain(&app)?.try_send(&tx))?;
    Ok(Json(json!({ "hash": hash })).into_response())
}

async fn mine(State(app): State<App>, call: Call<OfOperator, NoBody>) -> Result<Response, Problem> {
    refuse_key(&call.caller)?;
    let block = written(chain(&app)?.try_mine())?;
    Ok(Json(json!({ "block": block })).into_response())
}
