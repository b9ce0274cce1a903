//! Commands of a feature that this program was built without.

use crate::exit::Exit;
use crate::failure::Failure;

/// A command of a feature
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

/// # Errors
/// Always: the failure names the feature.
pub(crate) fn run(name: &str, feature: &str, _: &Args) -> Result<Exit, Failure> {
    let said = format!("this program was built without the command `{name}`");
    let help = format!(
        "build it with the feature: `cargo install runstate-cli --features {feature}`, or in this repository \
         `cargo run -p runstate-cli --features {feature} --`"
    );
    Err(Failure::new(said).with_help(help))
}
