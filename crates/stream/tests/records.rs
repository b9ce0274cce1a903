//! Records: stored, replayed, compared, and refused where no session can have made them.

use runstate_stream::{Compare, ErrorKind, Recording};
use serde_json::{Value, json};

use super::script::{Seen, Step, scripted, then, tokens};
use super::sessions::{every, session};
use super::told::{assert_shown, drive};

async fn recorded() -> Recording {
    let script = vec![then(tokens("one two three "), &[Step::Throw(ErrorKind::Network)]), tokens("four")];
    let next = vec![tokens("unused")];
    drive(session(script).fallback(scripted(&Seen::default(), next)).continuation(every(2))).await.recording
}

#[tokio::test(start_paused = true)]
async fn a_record_is_plain_json() {
    let shown = serde_json::to_string_pretty(&recorded().await).unwrap();
    assert_shown("record", &shown);
}

#[tokio::test(start_paused = true)]
async fn the_first_difference_is_shown() {
    let (a, b) = (recorded().await, recorded().await);
    assert_eq!(a.first_difference(&b, Compare::All), None);
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut json = serde_json::to_value(&a).unwrap();
        change(&mut json);
        serde_json::from_value::<Recording>(json).unwrap()
    };
    let mut shown = Vec::new();
    let mut show = |b: &Recording, compare| {
        let difference = a.first_difference(b, compare);
        shown.push(difference.map_or("none".to_owned(), |difference| difference.to_string()));
    };
    let other = changed(&|json| json["events"][2]["text"] = json!("TWO "));
    show(&other, Compare::All);
    let shorter = changed(&|json| drop(json["events"].as_array_mut().unwrap().pop()));
    show(&shorter, Compare::All);
    let later = changed(&|json| json["events"][6]["delayMs"] = json!(7));
    show(&later, Compare::All);
    show(&later, Compare::Untimed);
    let renamed = changed(&|json| json["streamId"] = json!("stream_2"));
    show(&renamed, Compare::All);
    show(&changed(&|json| json["meta"] = json!({"user": 1})), Compare::All);
    show(&changed(&|json| json["fallbacks"] = json!(0)), Compare::Untimed);
    assert_shown("record_differences", &shown.join("\n\n"));
}

type Change = Box<dyn Fn(&mut Value)>;

#[tokio::test(start_paused = true)]
async fn a_doctored_record_is_refused() {
    let good = serde_json::to_value(recorded().await).unwrap();
    let at = |name: &str| {
        good["events"].as_array().unwrap().iter().position(|event| event["type"] == name).unwrap()
    };
    let (retry, start, resume) = (at("RETRY_ATTEMPT"), at("ATTEMPT_START"), at("RESUME_START"));
    let (saved, error, complete) = (at("CHECKPOINT_SAVED"), at("ERROR"), at("COMPLETE"));
    let doctor: Vec<(&str, Change)> = vec![
        ("a token before the start", Box::new(|events| drop(events.as_array_mut().unwrap().remove(0)))),
        (
            "two starts",
            Box::new(|events| {
                let first = events[0].clone();
                events.as_array_mut().unwrap().insert(1, first);
            }),
        ),
        ("another attempt", Box::new(move |events| events[start]["attempt"] = json!(3))),
        ("another retry", Box::new(move |events| events[retry]["attempt"] = json!(2))),
        ("no retry after all", Box::new(move |events| events[error]["recoveryStrategy"] = json!("halt"))),
        ("a fallback instead", Box::new(move |events| events[error]["recoveryStrategy"] = json!("fallback"))),
        ("another checkpoint", Box::new(move |events| events[resume]["checkpoint"] = json!("one six "))),
        ("a longer checkpoint", Box::new(move |events| events[saved]["contentLength"] = json!(9))),
        (
            "another text in the end",
            Box::new(move |events| events[complete]["state"]["content"] = json!("x")),
        ),
        ("time that goes back", Box::new(move |events| events[start]["atMs"] = json!(1_000))),
        (
            "something after the end",
            Box::new(move |events| {
                let reset = json!({"atMs": 9_000, "type": "TIMEOUT_RESET", "timeoutType": "inter"});
                events.as_array_mut().unwrap().push(reset);
            }),
        ),
        ("a token that is lost", Box::new(|events| drop(events.as_array_mut().unwrap().remove(1)))),
    ];
    let mut shown = String::new();
    for (what, change) in doctor {
        let mut json = good.clone();
        change(&mut json["events"]);
        let recording: Recording = serde_json::from_value(json).unwrap();
        let error = recording.replay(()).expect_err(what);
        shown.push_str(&format!("{what}: {error}\n"));
    }
    for (what, change) in [
        ("another version", json!({"version": 2})),
        ("an unknown field", json!({"surprise": 1})),
        ("no list", json!({"events": 1})),
        ("an unknown event", json!({"events": [{"atMs": 0, "type": "NOTHING"}]})),
        ("a field too few", json!({"events": [{"atMs": 0, "type": "TOKEN"}]})),
    ] {
        let mut json = good.clone();
        json.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let error = serde_json::from_value::<Recording>(json).expect_err(what);
        shown.push_str(&format!("{what}: {error}\n"));
    }
    assert_shown("record_doctored", &shown);
}

#[tokio::test(start_paused = true)]
async fn a_record_of_half_a_session_replays_as_far_as_it_goes() {
    let mut json = serde_json::to_value(recorded().await).unwrap();
    json["events"].as_array_mut().unwrap().truncate(4);
    let half: Recording = serde_json::from_value(json).unwrap();
    let replayed = half.replay(()).unwrap();
    assert_eq!((replayed.events.len(), replayed.result), (4, None));
}

#[tokio::test(start_paused = true)]
async fn a_session_without_a_record_has_none() {
    let mut session = session(vec![tokens("a b")]).without_recording().build();
    session.run().await.unwrap();
    assert_eq!(session.recording(), None);
}
