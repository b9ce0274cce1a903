//! The rules for checking a trace, from the command line.

use runstate::diagram::{Excerpt, LineIndex, Span};
use runstate::trace::{Report, Rulebook, Rules, Violation, WantedEdge, closest};

use std::path::Path;

use crate::builtin;
use crate::diagrams::{self, Loaded};
use crate::failure::Failure;
use crate::output::complain;

/// The rules for checking a trace; default: the rules of the built-in lifecycles.
#[derive(Debug, clap::Args)]
pub(crate) struct RulesArgs {
    /// Read only the events of this lifecycle. With --diagram, the lifecycle may have any name
    #[arg(long, value_name = "NAME")]
    lifecycle: Option<String>,
    /// Check all events, or the events of --lifecycle, against this diagram or graph in JSON. With NAME, check the events of
    /// that lifecycle; this form can be repeated
    #[arg(long, value_name = "[NAME=]FILE[#heading]")]
    diagram: Vec<String>,
    /// Refuse a diagram that has a transition without the name of an event: any event takes such a transition
    #[arg(long, requires = "diagram")]
    strict_events: bool,
}

/// Rules, and their diagrams.
#[derive(Debug)]
pub(crate) struct Laws {
    pub(crate) book: Rulebook,
    /// The single lifecycle of the read events, if there is one.
    pub(crate) only: Option<String>,
    diagrams: Vec<Loaded>,
    /// Are the rules those of the diagrams, in their order?
    drawn: bool,
    /// Does each diagram have the name of its lifecycle?
    pub(crate) named: bool,
}

impl RulesArgs {
    /// Are events of that built-in lifecycle checked against its own rules?
    pub(crate) fn has_builtin(&self, lifecycle: &str) -> bool {
        self.diagram.is_empty() && self.lifecycle.as_deref().is_none_or(|name| name == lifecycle)
    }

    /// The number of diagrams on standard input.
    pub(crate) fn on_stdin(&self) -> usize {
        self.diagram.iter().filter(|spec| diagrams::split(named(spec).1).0 == "-").count()
    }

    /// The rules.
    ///
    /// # Errors
    /// An unknown lifecycle, or an unreadable diagram.
    pub(crate) fn laws(&self) -> Result<Laws, Failure> {
        let laws = match self.diagram.as_slice() {
            [] => return self.of_builtin(),
            [spec] if named(spec).0.is_none() => {
                let drawn = diagrams::load(spec)?;
                let name = self.lifecycle.as_ref().unwrap_or(&drawn.name);
                let rules = drawn.rules(name)?;
                let book = match &self.lifecycle {
                    Some(name) => Rulebook::new().with(rules).only(name),
                    None => Rulebook::for_all(rules),
                };
                Laws { book, only: self.lifecycle.clone(), diagrams: vec![drawn], drawn: true, named: false }
            }
            several => self.of_each(several)?,
        };
        laws.tell_warnings();
        if self.strict_events {
            return laws.strict();
        }
        laws.tell_remarks();
        Ok(laws)
    }

    fn of_builtin(&self) -> Result<Laws, Failure> {
        let laws = Laws::builtin()?;
        match &self.lifecycle {
            None => Ok(laws),
            Some(name) if builtin::graph(name).is_some() => {
                Ok(Laws { book: laws.book.only(name), only: Some(name.clone()), ..laws })
            }
            Some(name) => {
                let known: Vec<&str> = laws.book.iter().map(Rules::name).collect();
                let (meant, all) = (did_you_mean(name, &known), builtin::names());
                Err(Failure::new(format!("there is no built-in lifecycle {name:?}"))
                    .with_help(format!("there are {all}{meant}; any other needs --diagram")))
            }
        }
    }

    /// Each diagram is for the lifecycle of its name.
    fn of_each(&self, specs: &[String]) -> Result<Laws, Failure> {
        let (mut book, mut diagrams) = (Rulebook::new(), Vec::new());
        for spec in specs {
            let (name, file) = named(spec);
            let Some(name) = name else {
                return Err(Failure::new(format!("--diagram {spec} has no lifecycle: expected NAME=FILE"))
                    .with_help(format!("each of several diagrams needs a name: --diagram NAME={spec}")));
            };
            if book.rules(name).is_some() {
                return Err(Failure::new(format!("there are two diagrams for the lifecycle {name:?}")));
            }
            let drawn = diagrams::load(file)?;
            book = book.with(drawn.rules(name)?);
            diagrams.push(drawn);
        }
        // A mistyped name shows as a diagram without an event.
        let book = book.cover_all();
        match &self.lifecycle {
            None => Ok(Laws { book, only: None, diagrams, drawn: true, named: true }),
            Some(name) if book.rules(name).is_some() => {
                let only = Some(name.clone());
                Ok(Laws { book: book.only(name), only, diagrams, drawn: true, named: true })
            }
            Some(name) => {
                let known: Vec<&str> = book.iter().map(Rules::name).collect();
                let meant = did_you_mean(name, &known);
                Err(Failure::new(format!("no diagram is for the lifecycle {name:?}"))
                    .with_help(format!("there are diagrams for {}{meant}", known.join(", "))))
            }
        }
    }
}

/// The lifecycle and the diagram of `NAME=FILE[#heading]`. A file with a `=` in its name is taken as a whole.
fn named(spec: &str) -> (Option<&str>, &str) {
    match spec.split_once('=') {
        Some((name, file)) if !name.is_empty() && !name.contains(['/', '#']) && !Path::new(spec).exists() => {
            (Some(name), file)
        }
        _ => (None, spec),
    }
}

/// A similar known name, in brackets, if there is one.
fn did_you_mean(name: &str, known: &[&str]) -> String {
    let meant = closest(name, known.iter().copied());
    meant.map(|meant| format!(" (did you mean {meant:?}?)")).unwrap_or_default()
}

/// Reports that no event of a trace belongs to a lifecycle, with the lifecycles that occur.
pub(crate) fn none_of(trace: &str, lifecycle: &str, others: &[String]) -> String {
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let meant = did_you_mean(lifecycle, &others);
    format!(
        "{trace}: no event is of the lifecycle {lifecycle:?}; there are events of {}{meant}",
        others.join(", ")
    )
}

impl Laws {
    /// The rules of the built-in lifecycles, with the lines of their documents.
    ///
    /// # Errors
    /// None: the library read the files when it was compiled.
    pub(crate) fn builtin() -> Result<Laws, Failure> {
        let diagrams = diagrams::builtin()?;
        let mut book = runstate::rulebook();
        for drawn in &diagrams {
            if let Some(graph) = builtin::graph(&drawn.name) {
                book = book.with(Rules::of_graph(graph).documented(&drawn.graph()?, drawn.file()));
            }
        }
        Ok(Laws { book, only: None, diagrams, drawn: false, named: false })
    }

    /// Reports texts that Mermaid draws differently than expected.
    fn tell_warnings(&self) {
        let asked = self.diagrams.iter().zip(self.book.iter()).filter(|(_, rules)| self.is_asked(rules));
        asked.flat_map(|(drawn, _)| drawn.warnings()).for_each(|warning| complain(&warning));
    }

    /// Are the events of that lifecycle read?
    fn is_asked(&self, rules: &Rules) -> bool {
        self.only.as_deref().is_none_or(|only| only == rules.name())
    }

    /// The rules of the lifecycles with read events.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &Rules> {
        self.book.iter().filter(|rules| self.is_asked(rules))
    }

    /// Refuses to require the end of instances for a diagram without an end.
    ///
    /// # Errors
    /// A diagram without a transition to `[*]`.
    pub(crate) fn check_ends(&self) -> Result<(), Failure> {
        match self.asked().find(|rules| !rules.has_end()) {
            None => Ok(()),
            Some(rules) => {
                let file = rules.file().unwrap_or(rules.name());
                let why = format!("--complete: expected a diagram with an end, got {file} without an end");
                Err(Failure::new(why).with_help(
                    "a state that ends an instance has a transition to [*], outside of composite states",
                ))
            }
        }
    }

    /// Reports the edges without an event name, which any event takes.
    fn tell_remarks(&self) {
        for rules in self.asked() {
            let all = || rules.starts().chain(rules.arrows());
            let remarks = all().filter(|edge| !edge.held && !edge.event.is_empty()).count();
            let (file, all) = (rules.file().unwrap_or(rules.name()), all().count());
            if !rules.has_start() {
                complain(&format!(
                    "note: {file}: without a transition from [*], an instance may begin in any state"
                ));
            }
            if remarks > 0 {
                complain(&format!(
                    "note: {file}: any event takes {remarks} of the {all} transitions, whose labels are no names of events; \
                     --strict-events lists them"
                ));
            }
        }
    }

    /// The rules, if each edge is taken by its named event alone.
    fn strict(self) -> Result<Self, Failure> {
        let of = |rules: &Rules| {
            let file = rules.file().unwrap_or(rules.name()).to_owned();
            let any = rules.starts().chain(rules.arrows()).filter(|edge| !edge.held);
            any.map(|edge| match edge.line {
                Some(line) => format!("{file}:{line}: {edge}"),
                None => format!("{file}: {edge}"),
            })
            .collect::<Vec<_>>()
        };
        let any: Vec<String> = self.asked().flat_map(of).collect();
        if any.is_empty() {
            return Ok(self);
        }
        let what = format!("any event takes {} of the transitions:\n  {}", any.len(), any.join("\n  "));
        Err(Failure::rendered(what).with_help(
            "a label is `name(arguments) [guard] / action`, of which all but the name may be missing: letters, digits, `_`, `-`, `.` and `:`",
        ))
    }

    /// Refuses an unknown edge.
    ///
    /// # Errors
    /// There is none; with a similar one if known.
    pub(crate) fn check_edge(&self, wanted: &WantedEdge) -> Result<(), Failure> {
        let asked = |rules: &&Rules| wanted.lifecycle.as_deref().is_none_or(|name| rules.name() == name);
        let edges = || self.asked().filter(asked).flat_map(|rules| rules.arrows().chain(rules.edges()));
        if edges().any(|edge| edge.from == wanted.from && edge.to == wanted.to) {
            return Ok(());
        }
        let is_near = |got: &str, known: &str| got == known || closest(got, [known]).is_some();
        let near = edges().find(|edge| is_near(&wanted.from, edge.from) && is_near(&wanted.to, edge.to));
        let meant =
            near.map(|edge| format!(" (did you mean \"{}:{}\"?)", edge.from, edge.to)).unwrap_or_default();
        let of = |rules| if self.drawn { Rules::file(rules).unwrap_or("FILE") } else { rules.name() };
        let is_one = self.drawn || wanted.lifecycle.is_some() || self.only.is_some();
        let file = self.asked().find(asked).filter(|_| is_one).map_or("NAME", of);
        Err(Failure::new(format!("--require-edge: no trace can take an edge {wanted}{meant}")).with_help(
            format!("an edge is FROM:TO or LIFECYCLE/FROM:TO; `runstate diagram {file}` shows the edges"),
        ))
    }

    /// The diagram of the rules as written, marked with the results of a check; `None` for rules without a diagram.
    pub(crate) fn marked(&self, rules: &Rules, report: &Report) -> Option<String> {
        let place = self.book.iter().position(|it| it.name() == rules.name())?;
        // The documents of the built-in lifecycles have no more than the rules.
        let drawn = self.drawn.then(|| self.diagrams.get(place))??;
        drawn.marked(rules, report)
    }

    /// The files of the diagrams, with their texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.diagrams.iter().map(|drawn| (drawn.file(), drawn.text()))
    }

    /// The line of the diagram with the legal transition, or else the state without one.
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
