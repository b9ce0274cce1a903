//! The proof, for each lifecycle: what it does in every state with every event, what its types let compile, and that it
//! does what the documents say on any walk, through storage too.
//!
//! Each lifecycle has a file: a subject that makes payloads, a table that is transcribed from its document, and a rule for
//! the data. The other files hold the machines against them.

mod agreement;
mod conformance;
mod exhaustive;
mod facts;
mod matrix;
mod model;
mod payload;
mod storage;

mod approval;
mod governed_run;
mod resume_tool_call;
mod run;
mod run_flow;
mod service_pass;
mod service_run;
mod stream_session;
mod tool_call;
mod tool_execution;

/// Makes a test of each lifecycle out of one function that is generic in it.
macro_rules! for_each_lifecycle {
    ($(#[$attribute:meta])* $test:ident) => {
        for_each_lifecycle! { $test:
            run = Runs, tool_call = Calls, run_flow = Flows, resume_tool_call = Passes, tool_execution = Executions,
            stream_session = Sessions, governed_run = GovernedRuns, approval = Approvals, service_run = ServiceRuns,
            service_pass = Passes
        }
    };
    ($test:ident: $($module:ident = $Subject:ident),+) => { $(
        #[test]
        fn $module() {
            $test($crate::proof::$module::$Subject);
        }
    )+ };
}
use for_each_lifecycle;

/// Holds text against a stored snapshot.
fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// The transcriptions of all lifecycles, in the order of the catalog.
pub(crate) const TRANSCRIPTIONS: [&Table; 10] = [
    &run::Runs::TABLE,
    &Calls::TABLE,
    &run_flow::Flows::TABLE,
    &resume_tool_call::Passes::TABLE,
    &tool_execution::Executions::TABLE,
    &stream_session::Sessions::TABLE,
    &governed_run::GovernedRuns::TABLE,
    &approval::Approvals::TABLE,
    &service_run::ServiceRuns::TABLE,
    &service_pass::Passes::TABLE,
];

/// The transcription of the lifecycle with that name.
pub(crate) fn transcribed(name: &str) -> &'static Table {
    TRANSCRIPTIONS.into_iter().find(|table| table.name == name).unwrap()
}

use model::Documented;
pub(crate) use model::Table;
pub(crate) use payload::{fitting, flow_id};
pub(crate) use tool_call::Calls;
