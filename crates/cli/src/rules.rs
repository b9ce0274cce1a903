//! Which rules a trace is held against, as the command line says it.

use runstate::diagram::{Excerpt, LineIndex, Span};
use runstate::trace::{Rulebook, Rules, Violation};

use crate::builtin;
use crate::diagrams::{self, Loaded};
use crate::failure::Failure;

/// The rules to hold a trace against; without either, those of the built-in lifecycles.
#[derive(Debug, clap::Args)]
pub(crate) struct RulesArgs {
    /// Look at the events of this lifecycle alone; with --diagram it may have any name
    #[arg(long, value_name = "NAME")]
    lifecycle: Option<String>,
    /// Hold all events, or those of --lifecycle, against this diagram
    #[arg(long, value_name = "FILE[#heading]")]
    diagram: Option<String>,
}

/// Rules, and the diagrams that they are drawn in.
#[derive(Debug)]
pub(crate) struct Laws {
    pub(crate) book: Rulebook,
    diagrams: Vec<Loaded>,
}

impl RulesArgs {
    /// Are events of that built-in lifecycle held against its own rules?
    pub(crate) fn has_builtin(&self, lifecycle: &str) -> bool {
        self.diagram.is_none() && self.lifecycle.as_deref().is_none_or(|name| name == lifecycle)
    }

    /// The rules.
    ///
    /// # Errors
    /// A lifecycle that there is not, a diagram that cannot be read.
    pub(crate) fn laws(&self) -> Result<Laws, Failure> {
        if let Some(spec) = &self.diagram {
            let drawn = diagrams::load(spec)?;
            let name = self.lifecycle.as_ref().unwrap_or(&drawn.name);
            let rules = Rules::of_diagram(name, &drawn.graph()?, drawn.file());
            let book = match &self.lifecycle {
                Some(name) => Rulebook::new().with(rules).only(name),
                None => Rulebook::for_all(rules),
            };
            return Ok(Laws { book, diagrams: vec![drawn] });
        }
        let laws = Laws::builtin()?;
        match &self.lifecycle {
            None => Ok(laws),
            Some(name) if builtin::graph(name).is_some() => {
                Ok(Laws { book: laws.book.only(name), diagrams: laws.diagrams })
            }
            Some(name) => Err(Failure::new(format!("there is no built-in lifecycle {name:?}"))
                .with_help(format!("there are {}; any other needs --diagram", builtin::names()))),
        }
    }
}

impl Laws {
    /// The rules of the built-in lifecycles, with the lines of the files that document them.
    ///
    /// # Errors
    /// None: the files were read when the library was compiled.
    pub(crate) fn builtin() -> Result<Laws, Failure> {
        let diagrams = diagrams::builtin()?;
        let mut book = Rulebook::new();
        for drawn in &diagrams {
            if let Some(graph) = builtin::graph(&drawn.name) {
                book = book.with(Rules::of_graph(graph).documented(&drawn.graph()?, drawn.file()));
            }
        }
        Ok(Laws { book, diagrams })
    }

    /// Is there such an edge anywhere?
    pub(crate) fn has_edge(&self, lifecycle: Option<&str>, from: &str, to: &str) -> bool {
        self.book
            .iter()
            .filter(|rules| lifecycle.is_none_or(|name| rules.name() == name))
            .flat_map(Rules::edges)
            .any(|edge| edge.from == from && edge.to == to)
    }

    /// The line of the diagram that shows what was legal, or else the state in which nothing was.
    pub(crate) fn excerpt(&self, violation: &Violation) -> Option<String> {
        let file = violation.diagram.as_ref()?;
        let legal = violation.legal.iter().find_map(|legal| legal.diagram_line);
        let number = usize::try_from(legal.or(violation.diagram_line)?).ok()?;
        let drawn = self.diagrams.iter().find(|drawn| drawn.file() == file)?;
        let lines = LineIndex::new(drawn.text());
        let line = lines.line_text(drawn.text(), number)?;
        let start = lines.line_start(number)? + (line.len() - line.trim_start().len());
        let span = Span::new(start, start + line.trim().len());
        Some(Excerpt::with_lines(file, drawn.text(), &lines, span, "").to_string())
    }
}
