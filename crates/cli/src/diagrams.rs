//! Diagrams by the name of a built-in lifecycle, or by file and heading.

use std::borrow::Cow;
use std::path::Path;

use runstate::diagram::{Block, Diagram, Document, StateGraph};
use runstate::trace::{Report, Rules};
use runstate_review::mermaid;
use serde_json::Value;

use crate::builtin;
use crate::failure::Failure;
use crate::input::{self, TEXT_LIMIT, Text};
use crate::output::{complain, printable};

/// A diagram, or a graph in JSON, with its file.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The lifecycle's name, or the heading above the diagram, or the file's name; for a graph in JSON its own name.
    pub(crate) name: String,
    document: Document,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Drawn(Block, Box<Diagram>),
    Json(StateGraph),
}

impl Loaded {
    fn new(document: Document, heading: Option<&str>, name: Option<&str>) -> Result<Self, Failure> {
        let block = document.select(heading).map_err(|error| Failure::rendered(error.to_string()))?;
        let block = block.clone();
        let diagram = document
            .parse(&block)
            .map_err(|error| Failure::rendered(error.render(document.name(), document.text())))?;
        let name = name.or(block.heading()).unwrap_or(document.name()).to_owned();
        Ok(Loaded { name, document, form: Form::Drawn(block, Box::new(diagram)) })
    }

    /// Reads the diagram in a text; a file that ends in `.md` is Markdown, and a text that begins with a brace a graph in
    /// JSON.
    ///
    /// # Errors
    /// The text has not exactly one such diagram, or its diagram cannot be read.
    pub(crate) fn read(source: Text, heading: Option<&str>) -> Result<Self, Failure> {
        if source.text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']) {
            return Loaded::json(source, heading);
        }
        Loaded::new(Document::read(source.name, source.text), heading, None)
    }

    fn json(source: Text, heading: Option<&str>) -> Result<Self, Failure> {
        // Once for the place of a syntax error, once for the graph.
        let value: Value = input::json(&source)?;
        if value.is_array() {
            return Err(Failure::new(format!("{} holds a list: expected one graph", source.name))
                .with_help("`runstate diagram NAME --format json` writes one"));
        }
        if let Some(heading) = heading {
            return Err(Failure::new(format!(
                "{} is a graph in JSON, which has no heading {heading:?}",
                source.name
            )));
        }
        let graph = StateGraph::from_json(&value.to_string())
            .map_err(|error| Failure::new(format!("{}: {error}", source.name)))?;
        Ok(Loaded {
            name: graph.name.clone(),
            document: Document::read(source.name, source.text),
            form: Form::Json(graph),
        })
    }

    /// The file of the diagram.
    pub(crate) fn file(&self) -> &str {
        self.document.name()
    }

    /// The text of that file.
    pub(crate) fn text(&self) -> &str {
        self.document.text()
    }

    /// The diagram as written, without its fence.
    pub(crate) fn source(&self) -> Cow<'_, str> {
        match &self.form {
            Form::Drawn(block, _) => self.document.source(block),
            Form::Json(graph) => graph.to_mermaid().into(),
        }
    }

    /// The diagram as a graph of one state at a time.
    ///
    /// # Errors
    /// A part that such a graph cannot express, with its place.
    pub(crate) fn graph(&self) -> Result<StateGraph, Failure> {
        match &self.form {
            Form::Drawn(_, diagram) => StateGraph::from_diagram(diagram, &self.name).map_err(|error| {
                let failure = Failure::at(error.message(), self.file(), self.text(), error.span());
                failure
                    .with_help("a trace has one state at a time: docs/checking.md has the diagrams that fit")
            }),
            Form::Json(graph) => Ok(graph.clone()),
        }
    }

    /// The rules of the diagram for the events of a lifecycle.
    ///
    /// # Errors
    /// As [`Loaded::graph`].
    pub(crate) fn rules(&self, lifecycle: &str) -> Result<Rules, Failure> {
        let mut graph = self.graph()?;
        self.tell_lost(&graph);
        if let Form::Json(_) = &self.form {
            // These line numbers belong to the original diagram, not to this file.
            graph.states.iter_mut().for_each(|state| state.line = None);
            graph.edges.iter_mut().for_each(|edge| edge.line = None);
            graph.initial.iter_mut().for_each(|mark| mark.line = None);
            if let Some(drawn) = &mut graph.drawn {
                drawn.arrows.iter_mut().for_each(|arrow| arrow.line = None);
                drawn.composites.iter_mut().for_each(|composite| composite.line = None);
            }
        }
        Ok(Rules::of_diagram(lifecycle, &graph, self.file()))
    }

    /// Reports the parts of the diagram that its graph lacks.
    pub(crate) fn tell_lost(&self, graph: &StateGraph) {
        let told = match &self.form {
            Form::Drawn(_, diagram) => diagram.warnings.len(),
            Form::Json(_) => 0,
        };
        let lost = graph.warnings.iter().skip(told);
        lost.for_each(|warning| complain(&printable(&format!("warning: {}: {warning}", self.file()))));
    }

    /// The diagram as written, marked with the results of a check; `None` for a graph in JSON.
    pub(crate) fn marked(&self, rules: &Rules, report: &Report) -> Option<String> {
        match &self.form {
            Form::Drawn(..) => Some(mermaid(Some(&self.source()), rules, report)),
            Form::Json(_) => None,
        }
    }

    /// The texts that Mermaid reads differently than expected, with their places.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        let warnings = match &self.form {
            Form::Drawn(_, diagram) => diagram.warnings.as_slice(),
            Form::Json(_) => &[],
        };
        warnings.iter().map(|warning| warning.render(self.file(), self.text()).trim_end().to_owned())
    }
}

/// The diagrams of the built-in lifecycles.
///
/// # Errors
/// None: the library read them when it was compiled.
pub(crate) fn builtin() -> Result<Vec<Loaded>, Failure> {
    runstate::documents()
        .iter()
        .map(|it| Loaded::new(Document::read(it.path, it.text), None, Some(it.graph.name)))
        .collect()
}

/// The diagram of a built-in lifecycle, if `name` is one.
///
/// # Errors
/// As [`builtin()`].
pub(crate) fn builtin_named(name: &str) -> Result<Option<Loaded>, Failure> {
    Ok(builtin()?.into_iter().find(|loaded| loaded.name == name))
}

/// The diagram that `spec` names: a built-in lifecycle, or `FILE[#heading]`.
///
/// # Errors
/// The file cannot be read, has not exactly one such diagram, or its diagram cannot be read.
pub(crate) fn load(spec: &str) -> Result<Loaded, Failure> {
    if let Some(builtin) = builtin_named(spec)? {
        return Ok(builtin);
    }
    let (file, heading) = split(spec);
    let source = input::read_text(file, TEXT_LIMIT).map_err(|failure| {
        if is_a_name(file) {
            failure.with_help(format!("built-in lifecycles are {}", builtin::names()))
        } else {
            failure
        }
    })?;
    Loaded::read(source, heading)
}

/// Can the word only be the name of a lifecycle?
fn is_a_name(spec: &str) -> bool {
    !spec.contains(['.', '/']) && !Path::new(spec).exists()
}

/// The file and the heading of `FILE[#heading]`. A file with a `#` in its name is taken as a whole.
pub(crate) fn split(spec: &str) -> (&str, Option<&str>) {
    match spec.split_once('#') {
        Some((file, heading)) if !file.is_empty() && !Path::new(spec).exists() => (file, Some(heading)),
        _ => (spec, None),
    }
}

/// A diagram under a heading: a part of a Markdown document.
pub(crate) fn section(name: &str, diagram: &str) -> String {
    // A comment of the diagram may have a fence.
    let longest = diagram.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("## {name}\n\n{fence}mermaid\n{}\n{fence}\n", diagram.trim_end())
}
