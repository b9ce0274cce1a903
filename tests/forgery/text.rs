//! Text that a foreign `Serialize` writes raw, to close its own object and begin one of another name.

use runstate::kernel::{Persist, Record};
use runstate::lifecycle;
use runstate::snapshot::{Bundle, BundleLog, Graphs, Snapshot};
use runstate::tool_call::{AnyToolCall, CallRecord};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

lifecycle! {
    /// A slip of paper.
    mod slip: Slip(Note), AnySlip;
    version 1;
    diagram "slip.md";
    status SlipStatus { Blank, Torn }
    event SlipEvent { Tear }
    [*]   --> Blank;
    Blank --> Torn : tear(Tear);
    Torn  --> [*];
}

/// What it says is written without quotes, by the private name that `serde_json` has for raw text.
#[derive(Debug, Deserialize)]
struct Note(String);

impl Record for Note {}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct("$serde_json::private::RawValue", 1)?;
        raw.serialize_field("$serde_json::private::RawValue", &self.0)?;
        raw.end()
    }
}

/// A forged call beside the machine that is written.
const BREAKOUT: &str = r#"{},"state":null},"call/pay_1":{"of":1,"status":"Succeeded","record":{},"state":{}},"x":{"of":0,"status":"Blank","record":{}"#;

const GRAPHS: [&runstate::kernel::Graph; 2] = [AnySlip::GRAPH, AnyToolCall::GRAPH];

#[test]
fn raw_text_of_a_record_adds_no_machine_to_a_bundle() {
    let slip = AnySlip::new(Note(BREAKOUT.to_owned()));
    assert!(Bundle::write(&GRAPHS, true, &(), |machines| machines.add("slip", &slip)).is_err());
    let mut log = BundleLog::default();
    assert!(log.append(&GRAPHS, true, &(), |machines| machines.add("slip", &slip)).is_err());
    assert!(log.is_empty() && log.size() == 0);

    let slip = AnySlip::new(Note("{\"text\":\"hello\"}".to_owned()));
    let bytes = Bundle::write(&GRAPHS, true, &(), |machines| machines.add("slip", &slip)).unwrap();
    let bundle = Bundle::read(&bytes, &mut Graphs::default()).unwrap();
    assert_eq!(bundle.machine("slip").unwrap().record()["text"], "hello");
}

#[test]
fn raw_text_of_the_content_adds_no_machine_to_a_bundle() {
    for raw in [
        r#"null,"machines":{"pay_1":{"of":1,"status":"Succeeded","record":{},"state":{}}}"#,
        r#"null,"graphs":[["runstate/tool_call",1,"00"],["runstate/tool_call",1,"00"]]"#,
        r#"null,"content":{}"#,
        "null}",
        "",
    ] {
        let content = Note(raw.to_owned());
        let call = AnyToolCall::new(CallRecord::new("c", "t", Default::default()));
        let add = |machines: &mut runstate::snapshot::Machines<'_>| machines.add("c", &call);
        let mut log = BundleLog::default();
        let read = log.append(&GRAPHS, true, &content, add).map(|()| log.read().next().unwrap().is_ok());
        assert!(!matches!(read, Ok(true)), "{raw} was taken");
        let written = Bundle::write(&GRAPHS, true, &content, add);
        let read = written.map(|bytes| Bundle::read(&bytes, &mut Graphs::default()).is_ok());
        assert!(!matches!(read, Ok(true)), "{raw} was taken");
    }
    let mut log = BundleLog::default();
    log.append(&GRAPHS, true, &Note("{}".to_owned()), |_| Ok(())).unwrap();
    assert!(log.read().all(|bundle| bundle.is_ok()));
}

#[test]
fn raw_text_of_a_record_is_refused_by_a_snapshot_or_read_as_a_record() {
    let slip = AnySlip::new(Note(BREAKOUT.to_owned()));
    match Snapshot::of(&slip) {
        Err(_) => {}
        Ok(taken) => {
            assert_eq!(taken.lifecycle(), "runstate/slip", "what was written is a record and no more")
        }
    }
}
