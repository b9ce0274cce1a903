//! An agent with two tools and an approval, in SQLite. One process asks, and another one decides and continues:
//!
//!     cargo run --example durable_agent -- notes.db
//!     cargo run --example durable_agent -- notes.db approve

use std::{error::Error, sync::Arc};

use runstate::{decision::DecisionAction, tool_result::ToolResult};
use runstate_agent::testing::{ScriptedModel, ScriptedReply};
use runstate_agent::{Agent, Approval, Incoming, ToolSpec, Unchecked, tool_fn};
use runstate_runtime::clock::{Clock, unix_clock};
use runstate_sqlite::SqliteStore;
use runstate_store::{
    ApprovalFilter, ApprovalQuery, JobSpec, Loaded, NewRun, RunData, RunLists, RunStore, Worker, decide,
};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (file, decides) = (std::env::args().nth(1).ok_or("expected a file")?, std::env::args().nth(2));
    let (store, now_ms) = (Arc::new(SqliteStore::open(file)?), unix_clock().now_ms());
    let waiting = ApprovalQuery::new(ApprovalFilter::Run("notes".into()), 10);
    if decides.is_none() {
        store.create(&NewRun::new("notes", Value::Null, now_ms)).await?;
    }
    for call in store.approvals(&waiting).await? {
        let decision = Incoming::new("decision-1", call.call, DecisionAction::Resume).on(call.suspension.id);
        let reply = decide(&*store, &decision.by("ada"), now_ms, &Unchecked).await?;
        println!("approved: {}", reply.name());
    }
    let model = ScriptedModel::new([
        ScriptedReply::call("list", json!({})).and_call("delete", json!({ "note": "old.md" })),
        ScriptedReply::text("I deleted old.md."),
    ]);
    let list = tool_fn(ToolSpec::new("list", "Lists the notes.").repeatable(), |_| async {
        ToolResult::Success(json!(["new.md", "old.md"]))
    });
    let delete = ToolSpec::new("delete", "Deletes a note.").needs_approval(Approval::always());
    let delete = tool_fn(delete, |call| async move { ToolResult::Success(json!({ "gone": call["note"] })) });
    let agent = Agent::builder(model).tool(list).tool(delete).build()?;
    let job = |_: &Loaded| Ok(JobSpec::new(agent.clone(), "Tidy up my notes."));
    Worker::new(store.clone() as Arc<dyn RunStore>, "worker").run_ready(&job).await?;
    for call in store.approvals(&waiting).await? {
        println!("waiting: {} {}", call.suspension.message, call.arguments);
    }
    println!("the run is {}", store.load("notes").await?.info.status);
    Ok(())
}
