//! Which rules a trace is held against, as the command line says it.

use runstate::lifecycles;
use runstate::trace::{Rulebook, Rules};

use crate::builtin;
use crate::failure::Failure;

/// The rules to hold the trace against; without either, those of the built-in lifecycles.
#[derive(Debug, clap::Args)]
pub(crate) struct RulesArgs {
    /// Look at the events of this lifecycle alone
    #[arg(long, value_name = "NAME")]
    lifecycle: Option<String>,
}

impl RulesArgs {
    /// The rules.
    ///
    /// # Errors
    /// A lifecycle that there is not.
    pub(crate) fn rulebook(&self) -> Result<Rulebook, Failure> {
        let book = Rulebook::of(lifecycles().iter().copied());
        match &self.lifecycle {
            None => Ok(book),
            Some(name) if builtin::graph(name).is_some() => Ok(book.only(name)),
            Some(name) => Err(Failure::new(format!("there is no built-in lifecycle {name:?}"))
                .with_help(format!("there are {}; others are checked with --diagram", builtin::names()))),
        }
    }
}

/// Is there such an edge anywhere in these rules?
pub(crate) fn has_edge(book: &Rulebook, lifecycle: Option<&str>, from: &str, to: &str) -> bool {
    book.iter()
        .filter(|rules| lifecycle.is_none_or(|name| rules.name() == name))
        .flat_map(Rules::edges)
        .any(|edge| edge.from == from && edge.to == to)
}
