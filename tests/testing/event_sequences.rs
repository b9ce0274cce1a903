//! All strings of events up to a length.
use runstate::testing::example::Doors;
use runstate::testing::{Step, event_sequences};

use super::Calls;
use super::liar::{Liars, Lie};

/// Which strings of events document 000, "Layer 2", lets a tool call go through: a recursion over the letters, written
/// from the document's drawing without states or graphs.
mod by_hand {
    type Events<'a> = &'a [&'a str];

    pub(super) fn new(events: Events<'_>) -> bool {
        match events {
            [] => true,
            ["start", rest @ ..] => running(rest),
            ["suspend", rest @ ..] => suspended(rest),
            _ => false,
        }
    }

    fn running(events: Events<'_>) -> bool {
        match events {
            [] | ["succeed" | "fail" | "cancel"] => true,
            ["suspend", rest @ ..] => suspended(rest),
            _ => false,
        }
    }

    fn suspended(events: Events<'_>) -> bool {
        match events {
            [] | ["cancel"] => true,
            ["resume", rest @ ..] => resuming(rest),
            _ => false,
        }
    }

    fn resuming(events: Events<'_>) -> bool {
        match events {
            ["start", rest @ ..] => running(rest),
            _ => running(events),
        }
    }
}

#[test]
fn legal_sequences_of_a_tool_call_are_documented() {
    let (mut all, mut legal) = (0, 0);
    for sequence in event_sequences(&Calls, 5) {
        let events: Vec<_> = sequence.events().collect();
        assert_eq!(sequence.is_legal(), by_hand::new(&events), "{sequence}");
        all += 1;
        legal += usize::from(sequence.is_legal());
    }
    assert_eq!(all, 1 + 6 + 36 + 216 + 1_296 + 7_776);
    assert_eq!(legal, 40);
}

#[test]
fn event_sequences_come_once_and_shortest_first() {
    let texts: Vec<String> =
        event_sequences(&Doors, 2).map(|sequence| sequence.events().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(texts.len(), 1 + 5 + 25);
    assert_eq!(
        texts[..8],
        ["", "close", "reopen", "lock", "unlock", "remove", "close close", "close reopen"]
    );
    assert_eq!(texts.last().unwrap(), "remove remove");
    assert_eq!(event_sequences(&Doors, 0).count(), 1);
}

#[test]
fn event_sequence_continues_after_a_refusal() {
    let sequence =
        event_sequences(&Doors, 2).find(|sequence| sequence.events().eq(["reopen", "close"])).unwrap();
    assert_eq!(sequence.to_string(), "Open refuses 'reopen'; Open --> Shut : close; ends in Shut");
    assert!(!sequence.is_legal() && sequence.steps()[1].is_taken());
    assert_eq!(sequence.steps().iter().filter(|step| !step.is_taken()).map(Step::to_string).count(), 1);
}

#[test]
#[should_panic(expected = "door: Open refuses 'lock', and the event that came back is another")]
fn a_refusal_that_changes_the_event_is_seen() {
    event_sequences(&Liars(Lie::RefusalChangesEvent), 2).for_each(drop);
}
