//! The names of states, written and read.

use runstate::approval::ApprovalStatus;
use runstate::governed_run::GovernedRunStatus;
use runstate::kernel::Status;
use runstate::resume_tool_call::ResumeToolCallStatus;
use runstate::run::RunStatus;
use runstate::run_flow::RunFlowStatus;
use runstate::service_pass::ServicePassStatus;
use runstate::service_run::ServiceRunStatus;
use runstate::stream_session::StreamSessionStatus;
use runstate::tool_call::ToolCallStatus;
use runstate::tool_execution::ToolExecutionStatus;

use super::door::DoorStatus;

fn texts_come_back<S: Status + std::str::FromStr<Err: std::fmt::Debug> + serde::de::DeserializeOwned>() {
    for (index, status) in S::ALL.iter().enumerate() {
        assert_eq!(status.index(), index);
        assert_eq!(status.to_string(), S::graph().states[index].name);
        assert_eq!(status.to_string().parse::<S>().unwrap(), *status);
        let json = serde_json::to_string(status).unwrap();
        assert_eq!(json, format!("\"{status}\""));
        assert_eq!(serde_json::from_str::<S>(&json).unwrap(), *status);
        assert_eq!(serde_json::from_value::<S>(json.trim_matches('"').into()).unwrap(), *status);
    }
}

#[test]
fn a_status_comes_back_from_its_text() {
    texts_come_back::<ApprovalStatus>();
    texts_come_back::<DoorStatus>();
    texts_come_back::<GovernedRunStatus>();
    texts_come_back::<ResumeToolCallStatus>();
    texts_come_back::<RunStatus>();
    texts_come_back::<RunFlowStatus>();
    texts_come_back::<ServiceRunStatus>();
    texts_come_back::<ServicePassStatus>();
    texts_come_back::<StreamSessionStatus>();
    texts_come_back::<ToolCallStatus>();
    texts_come_back::<ToolExecutionStatus>();
}

#[test]
fn a_status_is_written_as_the_diagram_names_it() {
    assert_eq!(DoorStatus::Locked.to_string(), "LOCKED_UP");
    assert_eq!(format!("[{:>9}] [{:<5}]", DoorStatus::Shut, DoorStatus::Open), "[     Shut] [Open ]");
    let names: Vec<_> = DoorStatus::ALL.iter().map(|status| status.name()).collect();
    assert_eq!(names, ["Open", "Shut", "LOCKED_UP", "Removed"]);
    assert_eq!(
        DoorStatus::ALL.iter().filter(|s| s.is_terminal()).collect::<Vec<_>>(),
        [&DoorStatus::Removed]
    );
}

#[test]
fn a_text_that_names_no_status_is_refused_with_those_that_do() {
    let refused = "Locked".parse::<DoorStatus>().unwrap_err().to_string();
    assert_eq!(refused, r#"door has no state "Locked"; expected one of Open, Shut, LOCKED_UP, Removed"#);
    assert!("shut".parse::<DoorStatus>().is_err(), "names are told apart by case");
    assert!("".parse::<DoorStatus>().is_err());
    let refused = serde_json::from_str::<DoorStatus>("\"Ajar\"").unwrap_err().to_string();
    assert!(refused.starts_with(r#"door has no state "Ajar"; expected one of Open"#), "{refused}");
    let refused = serde_json::from_str::<DoorStatus>("1").unwrap_err().to_string();
    assert!(
        refused.starts_with("invalid type: integer `1`, expected the name of a state of door"),
        "{refused}"
    );
}
