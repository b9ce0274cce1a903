//! The configuration of the graph.

use std::fmt::Display;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use runstate_service::script::Script;
use runstate_service::sim::SimChain;
use runstate_service::{Config, PolicyRules, Ports, is_address};
use serde::Deserialize;

#[cfg(feature = "evm")]
use super::rpc;
use super::time;
use crate::failure::Failure;

/// A graph that is ready to be driven.
pub(super) struct Graph {
    pub(super) ports: Ports,
    pub(super) config: Config,
    /// The built-in chain, for a graph on it.
    pub(super) sim: Option<SimChain>,
    /// The chain behind a node, for a graph on one.
    #[cfg(feature = "evm")]
    pub(super) evm: Option<runstate_evm::EvmChain>,
}

/// The file of `--graph`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GraphFile {
    /// The chain: `sim`, the built-in one, or `rpc` with its node.
    chain: Chain,
    /// The allowlists and limits. Default: the tokens and the pool of the chain.
    policy: Option<PolicyRules>,
    /// The number of attempts of a pass.
    max_attempts: Option<NonZeroU32>,
    /// The time limit of each port, such as `30s`.
    port_limit: Option<String>,
    /// The slippage of a swap without one in its plan, in hundredths of a percent.
    slippage_bps: Option<u32>,
    /// Whether an actor that created or resumed a run may not approve it.
    distinct_actors: bool,
    /// The model that plans. Default: the planner of phrases.
    planner: Option<PortModel>,
    /// The model that judges. Default: none.
    judge: Option<PortModel>,
    /// The file with the replies of ports, by its path from this file.
    script: Option<PathBuf>,
}

#[cfg(feature = "agents")]
use crate::agents::PortModel;
#[cfg(not(feature = "agents"))]
type PortModel = serde::de::IgnoredAny;

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Chain {
    #[default]
    Sim,
    #[cfg(feature = "evm")]
    Rpc(Box<rpc::RpcFile>),
    #[cfg(not(feature = "evm"))]
    Rpc(serde::de::IgnoredAny),
}

impl Graph {
    /// Opens a graph. `journal` makes the journal of the built-in chain.
    pub(super) fn open(
        file: Option<&Path>,
        journal: impl FnOnce() -> Result<PathBuf, Failure>,
    ) -> Result<Self, Failure> {
        let read = match file {
            Some(path) => read(path)?,
            None => GraphFile::default(),
        };
        let mut graph = match read.chain {
            Chain::Sim => Graph::on_sim(&journal()?)?,
            #[cfg(feature = "evm")]
            Chain::Rpc(chain) => Graph::on_evm(rpc::open(*chain, file)?),
            #[cfg(not(feature = "evm"))]
            Chain::Rpc(_) => {
                let got = "--graph: this program was built without chains over JSON-RPC (`chain: rpc`)";
                let help = "build it with the feature: `cargo install runstate-cli --features evm`, or in this \
                            repository `cargo run -p runstate-cli --features evm --`";
                return Err(Failure::new(got).with_help(help));
            }
        };
        let config = &mut graph.config;
        let Config { policy, max_attempts, port_limit, slippage_bps, distinct_actors, .. } = config;
        if let Some(given) = read.policy {
            *policy = given;
        }
        *max_attempts = read.max_attempts.unwrap_or(*max_attempts);
        if let Some(text) = &read.port_limit {
            *port_limit = limit(text)?;
        }
        *slippage_bps = read.slippage_bps.unwrap_or(*slippage_bps);
        *distinct_actors = read.distinct_actors;
        check(config)?;
        #[cfg(feature = "evm")]
        if graph.evm.is_some() {
            rpc::check_targets(&graph.config.policy)?;
        }
        if let Some(file) = file {
            with_models(&mut graph.ports, file, read.planner.as_ref(), read.judge.as_ref())?;
        }
        if let (Some(script), Some(file)) = (&read.script, file) {
            graph.ports = scripted(&file.with_file_name("").join(script), graph.ports)?;
        }
        Ok(graph)
    }

    fn on_sim(journal: &Path) -> Result<Self, Failure> {
        let chain = SimChain::journaled(journal)
            .map_err(|error| Failure::new(format!("the journal of the chain cannot be used: {error}")))?;
        Ok(Graph {
            ports: chain.ports(),
            config: chain.config(),
            sim: Some(chain),
            #[cfg(feature = "evm")]
            evm: None,
        })
    }

    #[cfg(feature = "evm")]
    fn on_evm(chain: runstate_evm::EvmChain) -> Self {
        Graph { ports: chain.ports(), config: chain.config(), sim: None, evm: Some(chain) }
    }
}

/// Sets the models of the planner and of the judge.
#[cfg(feature = "agents")]
fn with_models(
    ports: &mut Ports,
    file: &Path,
    planner: Option<&PortModel>,
    judge: Option<&PortModel>,
) -> Result<(), Failure> {
    use std::sync::Arc;

    use runstate_service::model::{ModelJudge, ModelPlanner};

    let of = |port: &PortModel, place: &str| {
        let base = file.parent().unwrap_or(Path::new("")).to_path_buf();
        crate::agents::of_port(port, &format!("{}: {place}", file.display()), base)
    };
    if let Some(port) = planner {
        let planner = ModelPlanner::new(of(port, "planner")?);
        ports.planner = Some(Arc::new(match &port.system {
            Some(system) => planner.with_system(system.as_str()),
            None => planner,
        }));
    }
    if let Some(port) = judge {
        let judge = ModelJudge::new(of(port, "judge")?);
        ports.judge = Some(Arc::new(match &port.system {
            Some(system) => judge.with_system(system.as_str()),
            None => judge,
        }));
    }
    Ok(())
}

#[cfg(not(feature = "agents"))]
fn with_models(
    _: &mut Ports,
    _: &Path,
    planner: Option<&PortModel>,
    judge: Option<&PortModel>,
) -> Result<(), Failure> {
    if planner.is_none() && judge.is_none() {
        return Ok(());
    }
    let got = "--graph: this program was built without models (`planner`, `judge`)";
    let help = "build it with the features: `cargo install runstate-cli --features serve,agents`, or in this repository `cargo run \
                -p runstate-cli --features serve,agents --`";
    Err(Failure::new(got).with_help(help))
}

/// The largest number of attempts of a pass.
const MOST_ATTEMPTS: u32 = 10;

/// Refuses values that no graph can have, all at once.
fn check(config: &Config) -> Result<(), Failure> {
    let mut wrong = Vec::new();
    let PolicyRules { targets, warn_slippage_bps: warn, max_slippage_bps: max, .. } = &config.policy;
    for target in targets.iter().filter(|target| !is_address(target)) {
        wrong.push(format!("policy.targets: got {target:?}, expected 0x and 1 to 62 hexadecimal digits"));
    }
    if *max > 10_000 || warn > max {
        wrong.push(format!(
            "policy: got warn_slippage_bps {warn} and max_slippage_bps {max}, expected the first one up to the second one, up to 10000"
        ));
    }
    if config.slippage_bps > *max {
        let got = config.slippage_bps;
        wrong.push(format!("slippage_bps: got {got}, expected at most max_slippage_bps, which is {max}"));
    }
    if config.max_attempts.get() > MOST_ATTEMPTS {
        wrong.push(format!("max_attempts: got {}, expected 1 to {MOST_ATTEMPTS}", config.max_attempts));
    }
    match wrong.as_slice() {
        [] => Ok(()),
        wrong => Err(Failure::new(format!("--graph: {}", wrong.join("; ")))),
    }
}

fn limit(text: &str) -> Result<Duration, Failure> {
    time(text).map_err(|error| refused("port_limit", error))
}

/// The refusal of a value of the graph.
pub(super) fn refused(place: &str, reason: impl Display) -> Failure {
    Failure::new(format!("--graph: {place}: {reason}"))
}

/// The failure of a file. The reader of YAML begins its text with `error:` already.
fn of_file(path: &Path, text: &str) -> Failure {
    Failure::rendered(format!("{}: {}", path.display(), text.strip_prefix("error: ").unwrap_or(text)))
}

pub(super) fn text_of(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))
}

fn read(path: &Path) -> Result<GraphFile, Failure> {
    let text = text_of(path)?;
    if text.trim().is_empty() {
        return Ok(GraphFile::default());
    }
    // Without an excerpt, which may have the URL of a node and its key.
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options(&text, options)
        .map_err(|error| of_file(path, &without_urls(&error.to_string())))
}

/// A text without the words that are a URL, such as one at the place of another value.
fn without_urls(text: &str) -> String {
    let word = |word: &str| if word.contains("://") { "(a URL)".to_owned() } else { word.to_owned() };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn scripted(path: &Path, ports: Ports) -> Result<Ports, Failure> {
    let script = Script::from_yaml(&text_of(path)?).map_err(|error| of_file(path, &error.to_string()))?;
    Ok(script.ports_over(ports))
}
