//! What happens to a run from outside, as data that proptest can make smaller.

use std::fmt;

use proptest::prelude::*;

/// All that comes from outside. Places are counted over the whole run, whatever processes it took.
#[derive(Clone, Default)]
pub(super) struct Case {
    /// The model's answers: calls by id and tool.
    pub turns: Vec<Vec<(&'static str, &'static str)>>,
    /// At this step the model does not answer.
    pub model_fails_at: Option<u32>,
    pub max_steps: u32,
    /// What comes in each time that decisions are asked for; once it is over, each call that waits is answered.
    pub arrivals: Vec<Option<Arrival>>,
    /// The waits in which the user writes instead of deciding.
    pub messages: Vec<usize>,
    /// The asking from which on the run is cancelled.
    pub cancelled_at: Option<usize>,
    /// The commits that fail.
    pub failing_commits: Vec<usize>,
    /// The contacts with the world outside at which the process dies.
    pub crashes: Vec<usize>,
}

/// A decision that comes in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub kind: Kind,
    pub resume: bool,
    /// Does it name the suspension?
    pub names: bool,
    /// Picks one, where there are several.
    pub pick: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// On a call that waits.
    Answer,
    /// The very decision that came in before.
    Again,
    /// Another decision on a suspension that was decided before.
    Conflict,
    /// On a suspension that the call does not wait on.
    Stale,
    /// On a call of the script, wherever that stands.
    Early,
    /// On a call that does not exist.
    Unknown,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "a run of at most {} steps:", self.max_steps)?;
        for (step, turn) in (1..).zip(&self.turns) {
            let calls: Vec<_> = turn.iter().map(|(id, tool)| format!("{tool} {id:?}")).collect();
            writeln!(f, "  step {step}: {}", calls.join(", "))?;
        }
        for (place, arrival) in self.arrivals.iter().enumerate() {
            match arrival {
                Some(Arrival { kind, resume, names, pick }) => {
                    let action = if *resume { "resume" } else { "cancel" };
                    let names = if *names { ", names its suspension" } else { "" };
                    writeln!(f, "  decision {place}: {kind:?} {action}{names}, pick {pick}")?;
                }
                None => writeln!(f, "  decision {place}: none for now")?,
            }
        }
        for (what, at) in [
            ("crashes at contact", &self.crashes),
            ("commits fail at", &self.failing_commits),
            ("the user writes at wait", &self.messages),
        ] {
            if !at.is_empty() {
                writeln!(f, "  {what} {at:?}")?;
            }
        }
        if let Some(step) = self.model_fails_at {
            writeln!(f, "  the model fails at step {step}")?;
        }
        if let Some(at) = self.cancelled_at {
            writeln!(f, "  cancelled at asking {at}")?;
        }
        Ok(())
    }
}

fn turns() -> impl Strategy<Value = Vec<Vec<(&'static str, &'static str)>>> {
    let id = prop_oneof![
        6 => Just("a"),
        6 => Just("b"),
        4 => Just("c"),
        3 => Just("d"),
        1 => Just("a#2"),
        1 => Just(""),
    ];
    let tool = prop::sample::select(vec![
        "read",
        "read",
        "note",
        "note",
        "write",
        "write",
        "write",
        "write_twice",
        "ask",
        "ask",
        "ask_once",
        "ask_twice",
        "ask_result",
        "ask_arguments",
        "careless",
        "revoked",
        "fixed",
        "blocked",
        "fail",
        "warn",
        "panic",
        "nowhere",
    ]);
    let turn = prop::collection::vec((id, tool), 1..5);
    prop::collection::vec(turn, 0..5)
}

fn arrival() -> impl Strategy<Value = Option<Arrival>> {
    let kind = prop_oneof![
        8 => Just(Kind::Answer),
        1 => Just(Kind::Again),
        1 => Just(Kind::Conflict),
        1 => Just(Kind::Stale),
        1 => Just(Kind::Early),
        1 => Just(Kind::Unknown),
    ];
    let arrival = (kind, prop::bool::weighted(0.7), any::<bool>(), 0..4_usize)
        .prop_map(|(kind, resume, names, pick)| Arrival { kind, resume, names, pick });
    prop::option::weighted(0.6, arrival)
}

/// Few places, most of them early.
fn places(most: usize, below: usize) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..below, 0..=most)
}

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let from_within = (turns(), prop::option::weighted(0.1, 1..4_u32), 1..6_u32);
    let decided = (prop::collection::vec(arrival(), 0..12), places(1, 3));
    let against = (
        prop::option::weighted(0.25, 0..40_usize),
        prop_oneof![1 => Just(Vec::new()), 1 => places(2, 25)],
        prop_oneof![1 => Just(Vec::new()), 2 => places(4, 90)],
    );
    (from_within, decided, against).prop_map(
        |(
            (turns, model_fails_at, max_steps),
            (arrivals, messages),
            (cancelled_at, failing_commits, crashes),
        )| Case {
            turns,
            model_fails_at,
            max_steps,
            arrivals,
            messages,
            cancelled_at,
            failing_commits,
            crashes,
        },
    )
}

/// Runs with nothing against them but crashes: what comes out is a matter of the script. (With a limit of steps it is
/// one of time too: a run that stops gives up the calls whose decisions are not there yet.)
pub(super) fn plain_cases() -> impl Strategy<Value = Case> {
    (turns(), places(4, 70)).prop_map(|(turns, crashes)| Case {
        turns,
        max_steps: 20,
        crashes,
        ..Case::default()
    })
}
