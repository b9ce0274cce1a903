//! `runstate diagram [NAME]`

use clap::ValueEnum;
use serde_json::Value;

use crate::builtin;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::graph::{GraphJson, dot, markdown, mermaid};
use crate::output::Output;

/// Show a diagram: as Mermaid, for Graphviz, or as JSON for other programs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate diagram tool_call
  runstate diagram run --format dot | dot -Tsvg > run.svg

Exit codes:
  0  shown
  2  there is no such lifecycle")]
pub(crate) struct Args {
    /// A built-in lifecycle; all of them if left out
    #[arg(value_name = "NAME")]
    what: Option<String>,
    /// How to show it
    #[arg(long, value_enum, default_value_t = Format::Mermaid)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A Mermaid state diagram; several as a Markdown document
    Mermaid,
    /// Graphviz's language
    Dot,
    /// An object, or an array of several, with name, about, version, states, edges, initial, terminal and warnings
    Json,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let graphs: Vec<GraphJson> = match &args.what {
        None => builtin::graphs().into_iter().map(GraphJson::from).collect(),
        Some(name) => vec![builtin::graph(name).map(GraphJson::from).ok_or_else(|| {
            Failure::new(format!("there is no lifecycle {name:?}"))
                .with_help(format!("there are {}", builtin::names()))
        })?],
    };
    match args.format {
        Format::Mermaid => match graphs.as_slice() {
            [one] => out.text(&mermaid(one)),
            several => {
                let sections: Vec<String> = several
                    .iter()
                    .map(|graph| markdown(graph.name.as_deref().unwrap_or_default(), &mermaid(graph)))
                    .collect();
                out.text(&sections.join("\n"));
            }
        },
        Format::Dot => graphs.iter().for_each(|graph| out.text(&dot(graph))),
        Format::Json => {
            let json = |graph: &GraphJson| {
                serde_json::to_value(graph).unwrap_or_else(|_| unreachable!("texts and numbers are JSON"))
            };
            match graphs.as_slice() {
                [one] => out.json(&json(one)),
                several => out.json(&Value::Array(several.iter().map(json).collect())),
            }
        }
    }
    Ok(Exit::Good)
}
