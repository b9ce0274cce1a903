use runstate::trace::Event;
use runstate_review::{ChangeKind, diff};

use crate::fixture::{assert_shown, attacks, event, orders};

fn numbered(events: Vec<Event<'static>>) -> Vec<(u64, Event<'static>)> {
    (1..).zip(events).collect()
}

#[test]
fn ids_and_clocks_are_no_difference() {
    let mut other = orders();
    for event in &mut other {
        (event.run, event.seq, event.at_ms) = ("x".into(), event.seq * 9, 0);
        event.instance = if event.instance == "a" { "b".into() } else { "a".into() };
        event.extra.insert("cost", &1).unwrap();
    }
    let changes = diff(&numbered(orders()), &numbered(other));
    assert!(changes.has_equal_behaviour());
    let fields = changes.changes().iter().filter(|it| matches!(it.kind, ChangeKind::Field { .. }));
    assert_eq!(fields.count(), 6);
    assert!(diff(&[], &[]).changes().is_empty());
    // Another clock and other numbers are no difference at all.
    let mut other = orders();
    for event in &mut other {
        (event.run, event.seq, event.at_ms) = ("x".into(), event.seq * 9, event.at_ms + 77);
    }
    assert_eq!(diff(&numbered(orders()), &numbered(other)).to_string(), "no difference\n");
}

#[test]
fn times_fields_and_order_are_told_apart() {
    let (mut old, mut new) = (orders(), orders());
    old[1].extra.insert("total", &1).unwrap();
    old[1].extra.insert("same", &serde_json::json!({"a": 1, "b": 2})).unwrap();
    new[1].extra.insert("total", &2).unwrap();
    new[1].extra.insert("same", &serde_json::json!({"b": 2, "a": 1})).unwrap();
    new[3].at_ms += 60_000;
    new[5].at_ms += 60_000;
    let changes = diff(&numbered(old.clone()), &numbered(new.clone()));
    assert_shown("diff_kinds", &changes.to_string());
    let kinds: Vec<&ChangeKind> = changes.changes().iter().map(|it| &it.kind).collect();
    assert_eq!(
        kinds,
        [
            &ChangeKind::Field { name: "total".into(), old: Some("1".into()), new: Some("2".into()) },
            &ChangeKind::Time { old_ms: 7_200_250, new_ms: 7_260_250 },
        ]
    );
    // The order of two events of different instances.
    new.swap(3, 4);
    let changes = diff(&numbered(old), &numbered(new));
    let moved: Vec<_> = changes.changes().iter().filter(|it| it.kind.is_of_behaviour()).collect();
    let [moved] = moved[..] else { panic!("{moved:?}") };
    assert_eq!(moved.kind, ChangeKind::Moved);
    assert_ne!(moved.old.as_ref().unwrap().line, moved.new.as_ref().unwrap().line);
    assert!(changes.to_string().contains("1 event in another order\n"), "{changes}");
}

#[test]
fn names_that_differ_late_are_shown_with_their_difference() {
    let long = |end: &str| format!("{}{end}", "x".repeat(200));
    let trace = |end: &str| numbered(vec![event(1, 0, "a", "create", None, &long(end))]);
    let changes = diff(&trace("alpha"), &trace("beta"));
    let texts: Vec<&str> = changes
        .changes()
        .iter()
        .flat_map(|it| it.old.iter().chain(&it.new))
        .map(|side| side.text.as_str())
        .collect();
    assert_eq!(texts.len(), 2, "{changes}");
    assert!(texts[0].contains("xalpha") && texts[1].contains("xbeta"), "{changes}");
    // Instances, too.
    let trace = |end: &str| {
        numbered(vec![event(1, 0, "a", "create", None, "Cart"), event(2, 0, &long(end), "x", None, "Cart")])
    };
    assert!(diff(&trace("alpha"), &trace("beta")).has_equal_behaviour(), "ids differ alone");
}

#[test]
fn an_inserted_event_is_one_row_with_context() {
    let mut other = orders();
    other.insert(2, event(3, 9, "c", "create", None, "Cart"));
    other.insert(3, event(4, 9, "c", "cancel", Some("Cart"), "Cancelled"));
    let changes = diff(&numbered(orders()), &numbered(other));
    let added: Vec<_> =
        changes.changes().iter().map(|it| (&it.kind, it.new.as_ref().unwrap().line)).collect();
    assert_eq!(added, [(&ChangeKind::Added, 3), (&ChangeKind::Added, 4)]);
    assert_shown("diff", &changes.to_string());
}

#[test]
fn a_trace_that_ends_early_differs_at_its_end() {
    let changes = diff(&numbered(orders()), &numbered(orders()[..3].to_vec()));
    assert!(changes.changes().iter().all(|it| it.kind == ChangeKind::Removed && it.new.is_none()));
    assert!(
        changes
            .to_string()
            .starts_with("the traces differ from line 4 of the old and the end of the new one on\n")
    );
}

#[test]
fn long_traces_are_compared_from_their_first_difference() {
    let long = |other: &str| {
        let event =
            |seq: u64| event(seq, seq, "a", if seq > 9_000 { other } else { "go" }, Some("Cart"), "Cart");
        numbered((1..=14_000).map(event).collect())
    };
    let changes = diff(&long("x"), &long("y"));
    assert_eq!(changes.changes().len(), 10_000, "each difference is listed");
    let shown = changes.to_string();
    assert!(
        shown.starts_with("the traces differ from line 9001 of the old and line 9001 of the new one on\n"),
        "{shown}"
    );
    assert!(
        shown.contains("more rows\n")
            && shown.ends_with("5000 events only in the old trace, 5000 events only in the new one\n"),
        "{shown}"
    );
    assert!(shown.lines().count() < 210);
}

#[test]
fn hostile_names_stay_on_their_rows() {
    let shown = diff(&numbered(attacks()), &numbered(orders())).to_string();
    assert!(!shown.contains(['\0', '\u{1b}', '\u{202e}']));
    assert!(shown.lines().count() < 50, "{shown}");
}

#[test]
fn an_instance_without_a_creation_has_no_time_to_compare() {
    let old = numbered(orders());
    let new = numbered(orders()[1..].to_vec());
    let changes = diff(&old, &new);
    let times = changes.changes().iter().filter(|it| matches!(it.kind, ChangeKind::Time { .. }));
    assert!(times.flat_map(|it| &it.old).all(|side| side.text.starts_with("order b ")), "{changes}");
}

#[test]
fn a_time_that_runs_backwards_is_a_difference() {
    let old: Vec<_> = (1..).zip(orders()).collect();
    let mut new = old.clone();
    new[1].1.at_ms -= 5_000;
    let difference = diff(&old, &new);
    let times: Vec<_> = difference
        .changes()
        .iter()
        .filter_map(|change| match change.kind {
            ChangeKind::Time { old_ms, new_ms } => Some((change.new.as_ref()?.line, old_ms, new_ms)),
            _ => None,
        })
        .collect();
    assert_eq!(times, [(2, 1_250, -3_750), (4, 7_200_250, 7_205_250)]);
    assert!(difference.to_string().contains("1.25 s -> -3.75 s"), "{difference}");
}

/// The calls of these tools, with ids of a provider, and an execution of each.
fn calls(tools: &[&str], prefix: &str) -> Vec<(u64, Event<'static>)> {
    let mut events = Vec::new();
    for (number, tool) in tools.iter().enumerate() {
        let (call, execution) = (format!("{prefix}{number}"), format!("{prefix}{number}.1"));
        for (lifecycle, instance, name, from, to) in [
            ("tool_call", &call, "create", None, "New"),
            ("tool_execution", &execution, "create", None, "BeforeToolExecute"),
            ("tool_call", &call, "succeed", Some("New"), "Succeeded"),
        ] {
            let seq = events.len() as u64 + 1;
            let mut event = event(seq, seq, instance, name, from, to);
            event.lifecycle = lifecycle.into();
            if lifecycle == "tool_call" {
                event.extra.insert("tool", tool).unwrap();
            }
            events.push((seq, event));
        }
    }
    events
}

#[test]
fn a_missing_call_among_other_ids_is_the_difference() {
    let old = calls(&["ls", "read", "read", "write", "rm", "ls"], "call_");
    for (new, kind, lines) in [
        (["ls", "read", "write", "rm", "ls"].as_slice(), ChangeKind::Removed, [7, 8, 9]),
        (&["ls", "read", "read", "write", "rm", "rm", "ls"], ChangeKind::Added, [16, 17, 18]),
        (&["ls", "find", "read", "read", "write", "rm", "ls"], ChangeKind::Added, [4, 5, 6]),
    ] {
        let changes = diff(&old, &calls(new, "toolu_"));
        let differ: Vec<_> =
            changes.changes().iter().filter(|it| !matches!(it.kind, ChangeKind::Time { .. })).collect();
        assert!(differ.iter().all(|it| it.kind == kind), "{changes}");
        let side = |it: &&runstate_review::Change| it.old.as_ref().or(it.new.as_ref()).unwrap().line;
        assert_eq!(differ.iter().map(side).collect::<Vec<_>>(), lines, "{changes}");
    }
    // A call of another tool is a changed field, not a shift of all later calls.
    let changes = diff(&old, &calls(&["ls", "read", "find", "write", "rm", "ls"], "toolu_"));
    let fields: Vec<_> = changes.changes().iter().map(|it| &it.kind).collect();
    let find = |name: &str| ChangeKind::Field {
        name: "tool".into(),
        old: Some("\"read\"".into()),
        new: Some(name.into()),
    };
    assert_eq!(fields, [&find("\"find\""), &find("\"find\"")], "{changes}");
}

/// Four parcels with ids of their own. One that is held has two more events.
fn parcels(are_held: [bool; 4], prefix: &str) -> Vec<(u64, Event<'static>)> {
    let mut events = Vec::new();
    for (number, is_held) in are_held.into_iter().enumerate() {
        let instance = format!("{prefix}{number}");
        let held = [("hold", Some("Sent"), "Customs"), ("release", Some("Customs"), "Sent")];
        let first = [("create", None, "Packed"), ("dispatch", Some("Packed"), "Sent")];
        let all = first.into_iter().chain(held.into_iter().filter(|_| is_held));
        for (name, from, to) in all.chain([("deliver", Some("Sent"), "Delivered")]) {
            let seq = events.len() as u64 + 1;
            events.push((seq, event(seq, seq, &instance, name, from, to)));
        }
    }
    events
}

#[test]
fn a_behaviour_that_is_gone_from_some_instances_is_the_difference() {
    let old = parcels([false, true, false, true], "PX-");
    let changes = diff(&old, &parcels([false; 4], "PY-"));
    let differ = changes.changes().iter().filter(|it| !matches!(it.kind, ChangeKind::Time { .. }));
    let lines: Vec<_> =
        differ.map(|it| (it.kind == ChangeKind::Removed, it.old.as_ref().unwrap().line)).collect();
    assert_eq!(lines, [(true, 6), (true, 7), (true, 14), (true, 15)], "{changes}");
}

/// A creation of a call with these arguments.
fn call_with(arguments: &str) -> Vec<(u64, Event<'static>)> {
    let mut created = event(1, 1, "c1", "create", None, "New");
    created
        .extra
        .insert("arguments", &serde_json::from_str::<serde_json::Value>(arguments).unwrap())
        .unwrap();
    vec![(1, created)]
}

#[test]
fn each_changed_value_of_a_field_has_its_row() {
    let body = "please pay the invoice ".repeat(5);
    let arguments =
        |to: &str, amount: u32| format!(r#"{{"body":"{body}","items":[1,{amount}],"to":"{to}"}}"#);
    let shown =
        diff(&call_with(&arguments("ada", 10)), &call_with(&arguments("mallory", 99_999))).to_string();
    assert!(shown.contains("1 field with another value"), "{shown}");
    assert!(shown.contains("arguments.to: \"ada\" -> \"mallory\""), "{shown}");
    assert!(shown.contains("arguments.items[1]: 10 -> 99999"), "{shown}");
    assert!(!shown.contains("please pay"), "{shown}");
}

#[test]
fn numbers_beyond_64_bits_are_told_apart() {
    let line = |wei: &str| {
        let line = format!(
            r#"{{"run":"r","seq":1,"at_ms":1,"lifecycle":"tool_call","instance":"c","from":null,"event":"create","to":"New","arguments":{{"wei":{wei},"say":"a \"1\" -2"}}}}"#
        );
        vec![(1, Event::from_json(&line).unwrap().into_owned())]
    };
    let (old, new) = (line("20000000000000000001"), line("20000000000000000002"));
    assert!(!diff(&old, &new).changes().is_empty());
    assert!(diff(&old, &line("20000000000000000001")).changes().is_empty());
}
