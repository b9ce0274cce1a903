//! When a run is stopped (document 003, "Stop Conditions"; evaluated where a step ends, behind [`StepEnd`](super::Phase::StepEnd)).
//!
//! [`StopConditionSpec`] is configuration, [`StopConditions`] are specs that were checked, [`StopCounters`] are what they look
//! at: fed with each step and each result, stored with the run, so that a resumed run goes on counting. The conditions are a
//! [`Plugin`](super::Plugin), which an agent has any number of.
//!
//! ```
//! use runstate::agent::answer::Usage;
//! use runstate::agent::stop::{StopConditionSpec, StopConditions, StopCounters};
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
//! // A condition that could never fire, or always does, is a mistake.
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
