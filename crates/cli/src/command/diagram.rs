//! `runstate diagram [NAME | FILE[#heading]]`

use clap::ValueEnum;
use serde_json::Value;

use crate::diagrams::{self, Loaded, section};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, complain};

/// Print a diagram: as Mermaid, for Graphviz, or as JSON
///
/// The diagram is that of a built-in lifecycle, a `.mmd` file, or a block of a Markdown file. A warning names each text that
/// Mermaid reads in another way than its author may expect.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate diagram tool_call
  runstate diagram docs/design.md#checkout --format json
  runstate diagram run --format dot | dot -Tsvg > run.svg
  runstate diagram docs/order-2026-11.md --fingerprint

Exit codes:
  0  printed, with or without warnings
  2  the diagram does not exist, or is unreadable")]
pub(crate) struct Args {
    /// A built-in lifecycle, a file, or a file with the heading or the number of a diagram in it. Default: all built-in
    /// lifecycles
    #[arg(value_name = "NAME | FILE[#heading]")]
    what: Option<String>,
    /// Output format. Default: mermaid
    #[arg(long, value_enum, default_value_t = Format::Mermaid, hide_default_value = true)]
    format: Format,
    /// Print the fingerprint of the lifecycle, which its stored snapshots have. Migrations need it. Several fingerprints are
    /// printed with the names of their lifecycles
    #[arg(long, conflicts_with = "format")]
    fingerprint: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// The diagram as written. Several diagrams are a Markdown document
    Mermaid,
    /// The language of Graphviz
    Dot,
    /// One object, or an array of several: name, states, edges, initial, terminal and warnings, in the order of the source. A
    /// diagram with composite states or choices also has drawn
    Json,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let diagrams = match &args.what {
        None => diagrams::builtin()?,
        Some(what) => vec![diagrams::load(what)?],
    };
    if args.fingerprint {
        for diagram in &diagrams {
            let fingerprint = diagram.graph()?.fingerprint();
            match diagrams.len() {
                1 => out.line(&fingerprint.to_string()),
                _ => out.line(&format!("{fingerprint} {}", diagram.name)),
            }
        }
        diagrams.iter().flat_map(Loaded::warnings).for_each(|warning| complain(&warning));
        return Ok(Exit::Good);
    }
    match (args.format, diagrams.as_slice()) {
        (Format::Mermaid, [one]) => out.line(&one.source().trim_end().replace("\r\n", "\n")),
        (Format::Mermaid, several) => {
            let sections: Vec<String> =
                several.iter().map(|it| section(&it.name, &it.source().replace("\r\n", "\n"))).collect();
            out.lines(&sections.join("\n"));
        }
        (Format::Dot, several) => {
            for diagram in several {
                out.lines(&diagram.graph()?.to_dot());
            }
        }
        (Format::Json, [one]) => out.json(&one.graph()?.to_json()),
        (Format::Json, several) => {
            let graphs: Result<Vec<Value>, Failure> =
                several.iter().map(|diagram| Ok(diagram.graph()?.to_json())).collect();
            out.json(&Value::Array(graphs?));
        }
    }
    diagrams.iter().flat_map(Loaded::warnings).for_each(|warning| complain(&warning));
    Ok(Exit::Good)
}
