//! Stop conditions of a run. They are evaluated at the end of each step, after [`StepEnd`](super::Phase::StepEnd).
//!
//! [`StopConditionSpec`] is configuration. [`StopConditions`] are validated specs. [`StopCounters`] are their input:
//! they count each step and each result, and are stored with the run, so that a resumed run continues to count. The
//! conditions are a [`Plugin`](super::Plugin); an agent may have any number of them.
//!
//! ```
//! use runstate_agent::answer::Usage;
//! use runstate_agent::stop::{StopConditionSpec, StopConditions, StopCounters};
//! use runstate::turn::Turn;
//!
//! let specs: Vec<StopConditionSpec> = serde_json::from_str(
//!     r#"[{ "type": "max_rounds", "rounds": 2 }, { "type": "timeout", "seconds": 60 }]"#,
//! )?;
//! let conditions = StopConditions::new(specs)?;
//! let mut counters = StopCounters::new(0);
//! let turn = Turn::default();
//!
//! counters.step(&conditions, &Usage::default(), &turn);
//! assert_eq!(conditions.check(&counters, 5_000, &turn, false), None);
//! counters.step(&conditions, &Usage::default(), &turn);
//! let stopped = conditions.check(&counters, 6_000, &turn, false).unwrap();
//! assert_eq!(stopped.to_string(), "max_rounds:2 of 2 rounds");
//!
//! // A condition that can never hold, or always holds, is an error.
//! let error = StopConditions::new(vec![StopConditionSpec::MaxRounds { rounds: 0 }]).unwrap_err();
//! assert_eq!(error.to_string(), "stop condition 1, max_rounds: `rounds` is 0; expected at least 1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod conditions;
mod counters;
mod digest;
mod error;
mod patterns;
mod plugin;
#[cfg(feature = "regex")]
mod regular;
mod spec;

pub(super) use conditions::MOST_WINDOW;
pub use conditions::StopConditions;
pub use counters::StopCounters;
pub use error::StopConfigError;
pub use patterns::{Matcher, PatternError, Patterns};
#[cfg(feature = "regex")]
pub use regular::RegularExpressions;
pub use spec::StopConditionSpec;
