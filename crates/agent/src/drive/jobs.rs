//! Executions of tools.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::future::{BoxFuture, Either, FutureExt, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use runstate::resume_tool_call::{ExecuteReplayedTool, ResumeToolCall};
use runstate::tool_execution::{ExecuteTool, ToolExecution};
use runstate::tool_result::ToolResult;

use super::super::depth::checked;
use super::super::keys::Patches;
use super::super::tool::{Tool, ToolContext};

/// An executing call, with its typed state. Both travel with the future and are dropped together.
pub(super) struct Job {
    pub(super) call: usize,
    pub(super) execution: ToolExecution<ExecuteTool>,
    /// The pass of the gate, if the call is a replay.
    pub(super) replay: Option<ResumeToolCall<ExecuteReplayedTool>>,
}

/// A call whose tool has returned.
pub(super) struct Finished {
    pub(super) job: Job,
    pub(super) result: ToolResult,
    pub(super) patches: Patches,
}

/// The executing tools. Only the loop polls them: if the loop is dropped, they stop.
#[derive(Default)]
pub(super) struct Jobs {
    running: FuturesUnordered<BoxFuture<'static, Finished>>,
    /// The calls that finished while the loop awaited another operation.
    finished: VecDeque<Finished>,
}

impl Jobs {
    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.finished.is_empty()
    }

    pub(super) fn start(&mut self, job: Job, tool: Arc<dyn Tool>, cx: ToolContext) {
        self.running.push(Box::pin(execute(job, tool, cx)));
    }

    /// The next finished call. It waits forever if no tool executes.
    pub(super) async fn next(&mut self) -> Finished {
        if let Some(finished) = self.finished.pop_front() {
            return finished;
        }
        match self.running.next().await {
            Some(finished) => finished,
            None => std::future::pending().await,
        }
    }

    /// Awaits a future while tools execute.
    pub(super) async fn beside<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = std::pin::pin!(other);
        while !self.running.is_empty() {
            match select(other.as_mut(), self.running.next()).await {
                Either::Left((value, _)) => return value,
                Either::Right((finished, _)) => self.finished.extend(finished),
            }
        }
        other.await
    }

    /// Drops all executions.
    pub(super) fn drop_all(&mut self) {
        self.running.clear();
        self.finished.clear();
    }
}

async fn execute(job: Job, tool: Arc<dyn Tool>, mut cx: ToolContext) -> Finished {
    // In a hand-written implementation, the creation of the future may panic too.
    match AssertUnwindSafe(async { tool.call(&mut cx).await }).catch_unwind().await {
        Ok(result) => {
            let result = checked(result);
            let patches = match result {
                // One that failed changes nothing.
                ToolResult::Error(_) => Patches::new(),
                ToolResult::Success(_) | ToolResult::Warning { .. } | ToolResult::Pending(_) => {
                    cx.into_patches()
                }
            };
            Finished { job, result, patches }
        }
        Err(panic) => {
            let result = ToolResult::Error(format!("the tool panicked: {}", panicked(&*panic)));
            Finished { job, result, patches: Patches::new() }
        }
    }
}

/// The message of a panic.
pub(super) fn panicked(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}
