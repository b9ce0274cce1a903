//! `runstate stream SCENARIO`

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::stream;

/// Play a stream scenario: scripted model streams, on virtual time
///
/// Prints each event of the session with its callbacks, the final text of a consumer, the end of the session, and its trace,
/// which is checked against the diagram of the lifecycle. Equal scenarios print equal output.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate stream examples/stream-retry.yaml
  runstate stream examples/stream-retry.yaml --trace | runstate show - --format html

Exit codes:
  0  the output is complete
  1  the session ended with an error, was aborted or waits without a limit, or
     its trace violates the diagram
  2  the scenario or another argument is unusable")]
pub(crate) struct Args {
    /// The scenario, a YAML file. `-` reads standard input
    #[arg(required_unless_present = "schema")]
    scenario: Option<String>,
    /// Print JSON lines: objects with event, objects with callback and args, and an object with end as the last line
    #[arg(long)]
    json: bool,
    /// Print the trace, one object a line, for `runstate show -` and `runstate check -`
    #[arg(long, conflicts_with = "json")]
    trace: bool,
    /// Print the JSON Schema of stream scenarios
    #[arg(long, conflicts_with_all = ["scenario", "json", "trace"])]
    schema: bool,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let Some(scenario) = args.scenario.as_deref().filter(|_| !args.schema) else {
        out.json(&stream::schema());
        return Ok(Exit::Good);
    };
    let played = stream::play(scenario)?;
    if args.trace {
        let exit = played.exit();
        played.into_trace().iter().for_each(|event| out.json_line(&event.to_json()));
        return Ok(exit);
    }
    if args.json {
        for line in played.json_lines() {
            out.json_line(&line.to_string());
        }
    } else {
        out.lines(&played.text());
    }
    Ok(played.exit())
}
