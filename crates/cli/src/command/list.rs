//! `runstate list`

use clap::ValueEnum;
use runstate::lifecycles;
use serde_json::json;

use crate::exit::Exit;
use crate::output::Output;

/// List the built-in lifecycles
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate list

Exit codes:
  0  always")]
pub(crate) struct Args {
    /// Output format. Default: text
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A table
    Text,
    /// An array of objects: name, about, version, fingerprint, states, edges, initial and terminal
    Json,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Exit {
    let graphs = lifecycles();
    match args.format {
        Format::Text => {
            out.line(&format!("{:<18}{:>7}{:>7}  about", "name", "states", "edges"));
            for graph in graphs {
                let about = graph.doc.lines().next().unwrap_or("").trim();
                out.line(&format!(
                    "{:<18}{:>7}{:>7}  {about}",
                    graph.name,
                    graph.states.len(),
                    graph.edges.len()
                ));
            }
        }
        Format::Json => {
            let list: Vec<_> = graphs
                .iter()
                .map(|graph| {
                    json!({
                        "name": graph.name,
                        "about": graph.doc,
                        "version": graph.version,
                        "fingerprint": graph.fingerprint().to_string(),
                        "states": graph.states.len(),
                        "edges": graph.edges.len(),
                        "initial": graph.initial().name,
                        "terminal": graph.states.iter().filter(|s| s.terminal).map(|s| s.name).collect::<Vec<_>>(),
                    })
                })
                .collect();
            out.json(&list.into());
        }
    }
    Exit::Good
}
