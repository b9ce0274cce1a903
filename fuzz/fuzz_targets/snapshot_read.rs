//! No bytes make the reader of snapshots panic, and a machine that comes back is the one that the bytes say.

#![no_main]

use libfuzzer_sys::fuzz_target;
use runstate::approval::AnyApproval;
use runstate::governed_run::AnyGovernedRun;
use runstate::kernel::Machine;
use runstate::resume_tool_call::AnyResumeToolCall;
use runstate::run::AnyRun;
use runstate::run_flow::AnyRunFlow;
use runstate::service_pass::AnyServicePass;
use runstate::service_run::AnyServiceRun;
use runstate::snapshot::{RestoreError, Snapshot};
use runstate::stream_session::AnyStreamSession;
use runstate::tool_call::AnyToolCall;
use runstate::tool_execution::AnyToolExecution;
use serde::Serialize;
use runstate::kernel::ReadRecord;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let Ok(snapshot) = Snapshot::from_json(data) else { return };
    if snapshot.verify().is_err() {
        assert!(matches!(snapshot.restore::<AnyToolCall>(), Err(RestoreError::Digest { .. })));
    }
    restore::<AnyToolCall>(&snapshot);
    // Behind the seal, where no damaged file comes but a person with a text editor does.
    match snapshot.version() % 10 {
        0 => forged::<AnyApproval>(data),
        1 => forged::<AnyToolCall>(data),
        2 => forged::<AnyGovernedRun>(data),
        3 => forged::<AnyResumeToolCall>(data),
        4 => forged::<AnyRun>(data),
        5 => forged::<AnyRunFlow>(data),
        6 => forged::<AnyServiceRun>(data),
        7 => forged::<AnyStreamSession>(data),
        8 => forged::<AnyServicePass>(data),
        _ => forged::<AnyToolExecution>(data),
    }
});

/// The same content as a sealed snapshot of the lifecycle.
fn forged<M: Machine + std::fmt::Debug>(data: &[u8])
where
    M::Record: Serialize + ReadRecord,
{
    let Ok(mut json) = serde_json::from_slice::<Value>(data) else { return };
    json["lifecycle"] = M::GRAPH.identity().to_string().into();
    json["version"] = M::GRAPH.version.into();
    json["fingerprint"] = M::GRAPH.fingerprint().to_string().into();
    let Ok(mut snapshot) = Snapshot::from_json(json.to_string().as_bytes()) else { return };
    snapshot.recompute_checksum();
    assert_eq!(snapshot.verify(), Ok(()));
    restore::<M>(&snapshot);
}

/// A machine that is restored writes itself as it was read, and is whole enough to be looked at.
fn restore<M: Machine + std::fmt::Debug>(snapshot: &Snapshot)
where
    M::Record: Serialize + ReadRecord,
{
    match snapshot.restore::<M>() {
        Ok(machine) => {
            let again = Snapshot::of(&machine).expect("a machine that was restored can be kept");
            // One that an earlier version kept has the names of that version.
            if again.fingerprint() == snapshot.fingerprint() && again.lifecycle() == snapshot.lifecycle() {
                assert_eq!(again, *snapshot);
            } else {
                assert_eq!(again.status(), snapshot.status());
            }
            assert!(!format!("{machine:?}").is_empty());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
