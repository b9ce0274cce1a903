//! Diagrams by the name of a built-in lifecycle, or by file and heading.

use std::path::Path;

use runstate::diagram::{Diagram, Document, StateGraph};

use crate::builtin;
use crate::failure::Failure;
use crate::input::{self, TEXT_LIMIT, Text};

/// A diagram that was read, with the file that it stands in.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The lifecycle's name, or the heading above the diagram, or the file's name.
    pub(crate) name: String,
    /// Is it only the file's name?
    pub(crate) unnamed: bool,
    document: Document,
    block: runstate::diagram::Block,
    diagram: Diagram,
}

impl Loaded {
    fn new(document: Document, heading: Option<&str>, name: Option<&str>) -> Result<Self, Failure> {
        let block = document.select(heading).map_err(|error| Failure::rendered(error.to_string()))?;
        let block = block.clone();
        let diagram = document
            .parse(&block)
            .map_err(|error| Failure::rendered(error.render(document.name(), document.text())))?;
        let given = name.or(block.heading()).map(str::to_owned);
        let unnamed = given.is_none();
        let name = given.unwrap_or_else(|| document.name().to_owned());
        Ok(Loaded { name, unnamed, document, block, diagram })
    }

    /// The diagram in a text; a file that ends in `.md` is Markdown.
    ///
    /// # Errors
    /// A text that has not exactly one such diagram, or whose diagram cannot be read.
    pub(crate) fn read(source: Text, heading: Option<&str>) -> Result<Self, Failure> {
        Loaded::new(Document::read(source.name, source.text), heading, None)
    }

    /// The file it stands in.
    pub(crate) fn file(&self) -> &str {
        self.document.name()
    }

    /// The text of that file.
    pub(crate) fn text(&self) -> &str {
        self.document.text()
    }

    /// The diagram as it is written, without its fence.
    pub(crate) fn source(&self) -> &str {
        self.block.span().of(self.document.text()).unwrap_or_default()
    }

    /// The diagram as a graph of one state at a time.
    ///
    /// # Errors
    /// What such a graph cannot say, with its place.
    pub(crate) fn graph(&self) -> Result<StateGraph, Failure> {
        StateGraph::from_diagram(&self.diagram, &self.name)
            .map_err(|error| Failure::at(error.message(), self.file(), self.text(), error.span()))
    }

    /// What Mermaid does otherwise than the text seems to say, with the places.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        self.diagram
            .warnings
            .iter()
            .map(|warning| warning.render(self.file(), self.text()).trim_end().to_owned())
    }
}

/// The diagrams of the built-in lifecycles.
///
/// # Errors
/// None: they were read when the library was compiled.
pub(crate) fn builtin() -> Result<Vec<Loaded>, Failure> {
    runstate::documents()
        .iter()
        .map(|it| Loaded::new(Document::read(it.path, it.text), None, Some(it.graph.name)))
        .collect()
}

/// The diagram of a built-in lifecycle, if that is a name of one.
///
/// # Errors
/// As [`builtin()`].
pub(crate) fn builtin_named(name: &str) -> Result<Option<Loaded>, Failure> {
    Ok(builtin()?.into_iter().find(|loaded| loaded.name == name))
}

/// The diagram that `spec` names: a built-in lifecycle, or `FILE[#heading]`.
///
/// # Errors
/// A file that cannot be read, that has not exactly one such diagram, or whose diagram cannot be read.
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

/// Can it only have been meant as the name of a lifecycle?
fn is_a_name(spec: &str) -> bool {
    !spec.contains(['.', '/']) && !Path::new(spec).exists()
}

/// The file and the heading of `FILE[#heading]`. A file whose name has a `#` is taken for itself.
pub(crate) fn split(spec: &str) -> (&str, Option<&str>) {
    match spec.split_once('#') {
        Some((file, heading)) if !file.is_empty() && !Path::new(spec).exists() => (file, Some(heading)),
        _ => (spec, None),
    }
}

/// A diagram under a heading: a part of a Markdown document.
pub(crate) fn section(name: &str, diagram: &str) -> String {
    format!("## {name}\n\n```mermaid\n{}\n```\n", diagram.trim_end())
}
