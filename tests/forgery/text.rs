//! Text that a foreign `Serialize` writes raw, to close its own object and begin one of another name.

use std::panic::{AssertUnwindSafe, catch_unwind};

use runstate::kernel::{Record, Stateful};
use runstate::lifecycle;
use runstate::run::AnyRun;
use runstate::snapshot::{Bundle, BundleLog, Graphs, Machines, Snapshot};
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
        assert!(!self.0.ends_with(CUT_OFF), "cut off");
        raw.end()
    }
}

/// Behind this a note panics when it is written.
const CUT_OFF: &str = "  ";

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
fn a_failure_that_the_caller_drops_fails_the_bundle() {
    let slip = AnySlip::new(Note(BREAKOUT.to_owned()));
    let drops = |machines: &mut Machines<'_>| {
        machines.add("slip", &slip).unwrap_err();
        Ok(())
    };
    assert!(Bundle::write(&GRAPHS, true, &(), drops).is_err());
    let mut log = BundleLog::default();
    assert!(log.append(&GRAPHS, true, &(), drops).is_err());
    assert!(log.is_empty() && log.size() == 0);
    // As an honest mistake, too.
    let call = AnyToolCall::new(CallRecord::new("c", "t", Default::default()));
    let twice = Bundle::write(&GRAPHS, true, &(), |machines| {
        machines.add("c", &call)?;
        machines.add("c", &call).unwrap_err();
        Ok(())
    });
    assert_eq!(
        twice.unwrap_err().to_string(),
        "the machine \"c\" cannot be bundled: the bundle has one of that name"
    );
}

/// A caller that catches the panic of a machine within the bundle would keep what the machine had written: with a forged one behind
/// it, all of it one whole text.
#[test]
fn a_panic_that_the_caller_catches_fails_the_bundle() {
    const FORGED: &str = r#"{},"state":null},"call/pay_1":{"of":1,"status":"Succeeded","record":{"id":"pay_1","tool":"pay","arguments":{},"key":{"step":0,"ordinal":0},"attempts":1,"suspensions":0},"state":{"output":"paid"}}"#;
    let slip = AnySlip::new(Note(format!("{FORGED}{CUT_OFF}")));
    let call = AnyToolCall::new(CallRecord::new("c", "t", Default::default()));
    let caught = |machines: &mut Machines<'_>| {
        catch_unwind(AssertUnwindSafe(|| machines.add("slip", &slip))).unwrap_err();
    };
    let in_a_thread = |machines: &mut Machines<'_>| {
        let slip = &slip;
        std::thread::scope(|scope| scope.spawn(move || machines.add("slip", slip)).join().unwrap_err());
    };
    // Of a name, too, which is written by its own code.
    struct Name;
    impl std::fmt::Display for Name {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("cut off")
        }
    }
    let by_name = |machines: &mut Machines<'_>| {
        catch_unwind(AssertUnwindSafe(|| machines.add(Name, &call))).unwrap_err();
    };
    let ways: [&dyn Fn(&mut Machines<'_>); 3] = [&caught, &in_a_thread, &by_name];
    for cut_off in ways {
        for honest_behind in [false, true] {
            let machines = |machines: &mut Machines<'_>| {
                cut_off(machines);
                if honest_behind { machines.add("c", &call) } else { Ok(()) }
            };
            let refused = Bundle::write(&GRAPHS, true, &(), machines).unwrap_err();
            assert!(refused.to_string().contains("a panic cut its writing off"), "{refused}");
            let mut log = BundleLog::default();
            assert!(log.append(&GRAPHS, true, &(), machines).is_err());
            assert!(log.is_empty() && log.size() == 0);
        }
    }
    assert!(Bundle::write(&GRAPHS, true, &(), |machines| machines.add("c", &call)).is_ok());
}

/// What it writes before it panics stays for the next one to complete, unless the log forgets it.
struct Bomb;

impl Serialize for Bomb {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("half way")
    }
}

#[test]
fn a_panic_half_way_leaves_nothing_in_a_log() {
    let call = AnyToolCall::new(CallRecord::new("c", "t", Default::default()));
    let mut log = BundleLog::default();
    let add = |machines: &mut Machines<'_>| machines.add("c", &call);
    assert!(catch_unwind(AssertUnwindSafe(|| log.append(&GRAPHS, true, &Bomb, add))).is_err());
    log.append(&GRAPHS, true, &"whole", add).unwrap();
    let bundles: Vec<Bundle> = log.read().map(Result::unwrap).collect();
    assert_eq!(bundles.len(), 1);
    assert_eq!(bundles[0].content::<String>().unwrap(), "whole");
}

#[test]
fn the_graphs_of_one_log_do_not_read_a_bundle_of_another() {
    let slip = AnySlip::new(Note("{}".to_owned()));
    let call = AnyToolCall::new(CallRecord::new("c", "t", Default::default()));
    let told = Bundle::write(&[AnyToolCall::GRAPH], true, &(), |_| Ok(())).unwrap();
    let of_runs = Bundle::write(&[AnyRun::GRAPH], true, &(), |_| Ok(())).unwrap();
    // A lifecycle of one's own is told each time.
    let own = Bundle::write(&[AnySlip::GRAPH], false, &(), |machines| machines.add("x", &slip)).unwrap();
    let mut graphs = Graphs::default();
    Bundle::read(&told, &mut graphs).unwrap();
    let own = Bundle::read(&own, &mut graphs.clone()).unwrap();
    assert_eq!(own.machine("x").unwrap().lifecycle(), "runstate/slip");
    // A documented one is told by its name.
    let later =
        Bundle::write(&[AnyToolCall::GRAPH], false, &(), |machines| machines.add("c", &call)).unwrap();
    assert!(
        Bundle::read(&later, &mut graphs).unwrap().machine("c").unwrap().restore::<AnyToolCall>().is_ok()
    );
    let mut others = Graphs::default();
    let error = Bundle::read(&later, &mut others).unwrap_err().to_string();
    assert_eq!(
        error,
        "its graph 0 is tool_call, as an earlier bundle of the log recorded it; that bundle is missing"
    );
    Bundle::read(&of_runs, &mut others).unwrap();
    let error = Bundle::read(&later, &mut others).unwrap_err().to_string();
    assert_eq!(
        error,
        "its graph 0 is tool_call, and an earlier bundle recorded runstate/run in that place: it belongs to another log"
    );
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
        let add = |machines: &mut Machines<'_>| machines.add("c", &call);
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
fn raw_text_that_is_no_record_is_refused_by_a_snapshot() {
    let slip = AnySlip::new(Note(BREAKOUT.to_owned()));
    // A value takes no raw text: the record that is written is the text, as a text or as an object of that name.
    let taken = Snapshot::of(&slip);
    assert!(taken.is_err(), "{taken:?}");
    let whole = AnySlip::new(Note("{\"text\": 1}".to_owned()));
    assert_eq!(Snapshot::of(&whole).unwrap().record()["text"], 1);
}
