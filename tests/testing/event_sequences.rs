//! All strings of events up to a length.
use runstate::testing::example::Doors;
use runstate::testing::{Step, event_sequences};

use super::liar::{Liars, Lie};
use crate::proof::{Calls, transcribed};

/// Whether the document lets a tool call go through these events, one after the other: a recursion over the transcription,
/// which knows no graph.
fn is_documented(state: &str, events: &[&str]) -> bool {
    let documented = transcribed("tool_call");
    match events {
        [] => true,
        [event, rest @ ..] => documented.to(state, event).is_some_and(|to| is_documented(to, rest)),
    }
}

/// How many strings of up to `length` events the document lets a tool call go through from that state.
fn documented_sequences(state: &str, length: usize) -> usize {
    let from_here = transcribed("tool_call").edges().filter(|(from, ..)| length > 0 && *from == state);
    1 + from_here.map(|(_, _, to)| documented_sequences(to, length - 1)).sum::<usize>()
}

#[test]
fn legal_sequences_of_a_tool_call_are_documented() {
    const LENGTH: usize = 5;
    let documented = transcribed("tool_call");
    let (mut all, mut legal) = (0, 0);
    for sequence in event_sequences(&Calls, LENGTH) {
        let events: Vec<_> = sequence.events().collect();
        assert_eq!(sequence.is_legal(), is_documented(documented.initial, &events), "{sequence}");
        all += 1;
        legal += usize::from(sequence.is_legal());
    }
    assert_eq!(all, (0..=LENGTH).map(|length| documented.events.len().pow(length as u32)).sum::<usize>());
    assert_eq!(legal, documented_sequences(documented.initial, LENGTH));
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
