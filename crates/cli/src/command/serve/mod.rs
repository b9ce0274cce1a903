//! `runstate serve`

mod graph;
#[cfg(feature = "evm")]
mod rpc;

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use runstate_agent::CancellationToken;
use runstate_http::{Connections, Options, Starting, Tokens, serve, server};
use runstate_runtime::clock::unix_clock;
use runstate_service::Service;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use self::graph::Graph;
use super::time::time;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::machine;
use crate::output::{complain, printable};
use crate::signals::Signals;
use crate::store::{ServicePlace, StoreArgs};

/// Serve service runs over HTTP
///
/// A request in words becomes transactions, an approver approves exactly these, and a wallet sends them. The endpoints are
/// those of docs/http.md; the server describes them at /openapi.json. The agent runs of the store can be read too.
///
/// Without --tokens the server listens on a loopback address only, and each request is of the user `local` with all roles.
///
/// With --tls-cert and --tls-key, of a program with the feature `serve-tls`, it speaks HTTPS.
///
/// SIGTERM and Ctrl-C drain the server. `/readyz` answers 503 immediately. The server accepts connections until --drain-delay
/// is over. Then it breaks its event streams, ends its requests within 30 s, and gives its runs back. A second signal ends it
/// immediately.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate serve
  runstate serve --graph examples/transfer.yaml --store sqlite:runs.db
  runstate serve --graph examples/transfer-evm.yaml
  runstate serve --tokens tokens.json --behind-proxy --listen 0.0.0.0:7700

Exit codes:
  0  the server is drained
  2  the address, the graph, the tokens, the store or another argument is
     unusable")]
pub(crate) struct Args {
    /// The address. Default: 127.0.0.1:7700
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7700", hide_default_value = true, value_parser = address)]
    listen: SocketAddr,
    /// The configuration of the graph: chain, allowlists, limits and scripted ports. The chain may be a real one, with the
    /// feature `evm`. Default: the built-in chain, with its tokens and its pool allowed
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// The journal of the built-in chain. Default: the file of the store with `.chain` at its end; for a database the file
    /// service.chain in the folder of --state-dir
    #[arg(long, value_name = "FILE")]
    chain: Option<PathBuf>,
    /// The tokens of `runstate token`
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// The certificate of the server with its issuers, as PEM. It is read at the start
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Accept an address that is no loopback address: a proxy before it has TLS
    #[arg(long)]
    behind_proxy: bool,
    /// Refuse the approval of an actor that created or resumed the run
    #[arg(long)]
    distinct_actors: bool,
    /// A web page that may use the server, such as https://app.example.org. May be repeated
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    allow_origin: Vec<String>,
    /// The requests of a principal in a second; twice as many may come at once. 0: any number. Default: 20 with --tokens,
    /// otherwise 0
    #[arg(long, value_name = "REQUESTS")]
    rate: Option<u32>,
    /// The decisions of a principal in a second. 0: any number. Default: 5 with --tokens, otherwise 0
    #[arg(long, value_name = "DECISIONS")]
    decision_rate: Option<u32>,
    /// Drive no run: another instance does
    #[arg(long)]
    no_worker: bool,
    /// The maximum number of runs that are driven at a time. Default: 16
    #[arg(long, value_name = "RUNS", default_value_t = 16, hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// The time between the signal and the last accepted connection. Default: 2s
    #[arg(long, value_name = "TIME", default_value = "2s", hide_default_value = true, value_parser = time)]
    drain_delay: Duration,
    #[command(flatten)]
    place: StoreArgs,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "expected an address with a port, such as 127.0.0.1:7700 or [::1]:7700".to_owned())
}

fn origin(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or_default();
    let is_host = !host.is_empty() && !host.contains(['/', '*', ' ', '@', '?', '#']);
    if is_host && text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Ok(text.to_owned());
    }
    Err("expected a scheme with a host in lower case, such as https://app.example.org, without a path"
        .to_owned())
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    check_address(args)?;
    let connections = connections(args)?;
    let tokens = args.tokens.as_deref().map(open_tokens).transpose()?;
    let place = args.place.service_place()?;
    let mut graph = Graph::open(args.graph.as_deref(), || journal(args, &place))?;
    if let (Some(_), None) = (&args.chain, &graph.sim) {
        let got = "--chain: the graph has a chain behind a node, which has no journal";
        return Err(Failure::new(got).with_help("leave --chain out"));
    }
    graph.config.distinct_actors |= args.distinct_actors;
    if graph.config.distinct_actors && args.tokens.is_none() {
        let got = "--graph: distinct_actors without --tokens: the user `local` alone could approve nothing";
        return Err(Failure::new(got).with_help("`runstate token new` makes a file for --tokens"));
    }
    let mut options = match tokens {
        Some(tokens) => Options::with_tokens(tokens),
        None => Options::local(),
    };
    options.origins.clone_from(&args.allow_origin);
    options.drives = !args.no_worker;
    if let Some(rate) = args.rate {
        options.limits.requests = (rate, rate.saturating_mul(2));
    }
    options.limits.decisions = args.decision_rate.unwrap_or(options.limits.decisions);
    options.report = Some(Arc::new(|cause| complain(&printable(cause))));
    options.sim = graph.sim;
    let made = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = made.map_err(|error| Failure::new(format!("cannot make a runtime: {error}")))?;
    let url = place.url();
    runtime.block_on(async {
        let listen_failed = |error: io::Error| {
            Failure::new(format!("cannot listen on {}: {error}", args.listen))
                .with_help("end the program that has the address, or name another one with --listen")
        };
        let listener = TcpListener::bind(args.listen).await.map_err(listen_failed)?;
        #[cfg(feature = "evm")]
        if let Some(chain) = &graph.evm {
            rpc::check(chain).await?;
        }
        // A store that is migrated takes its time. The process lives, and is not ready.
        let listening = Listening::new(listener, connections, args.listen);
        let (services, runs) = place.open().await?;
        options.agents = Some(runs);
        let clock = Arc::new(unix_clock());
        let service = Service::new(services, graph.ports, graph.config, clock, &machine::holder());
        drive(args, listening, service, options, &url).await
    })
}

/// The task that accepts connections, also before the store is open.
struct Listening {
    address: SocketAddr,
    starting: Starting,
    stop: CancellationToken,
    serving: JoinHandle<io::Result<()>>,
}

impl Listening {
    fn new(listener: TcpListener, connections: Connections, listen: SocketAddr) -> Self {
        let address = listener.local_addr().unwrap_or(listen);
        let (starting, stop) = (Starting::new(), CancellationToken::new());
        let stopped = stop.clone().cancelled_owned();
        let serving = tokio::spawn(serve(listener, starting.clone(), stopped, connections));
        Listening { address, starting, stop, serving }
    }
}

/// Answers requests and drives runs until a signal, and drains.
async fn drive(
    args: &Args,
    listening: Listening,
    service: Service,
    options: Options,
    url: &str,
) -> Result<Exit, Failure> {
    let mut signals =
        Signals::new().map_err(|error| Failure::new(format!("cannot wait for signals: {error}")))?;
    let server = server(service.clone(), options, Arc::new(unix_clock()));
    let pump = tokio::spawn(server.pump());
    let stop = CancellationToken::new();
    let drivers = NonZeroUsize::new(usize::from(args.concurrency)).unwrap_or(NonZeroUsize::MIN);
    let worker = (!args.no_worker).then(|| {
        let stopped = stop.clone();
        tokio::spawn(async move {
            let failed = |run: Option<&str>, error: &runstate_service::ServiceError| {
                let run = run.map_or_else(String::new, |run| format!("run {run}: "));
                complain(&printable(&format!("{run}{error}")));
            };
            service.work(drivers, stopped.cancelled(), failed).await;
        })
    });
    listening.starting.open(server.router);
    let address = listening.address;
    let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
    complain(&format!("{scheme}://{address} serves the service runs of {url}"));
    signals.next().await;
    complain("draining: requests end, and runs are given back; a second signal ends the server immediately");
    server.drain.begin();
    tokio::spawn(async move {
        let code = signals.next().await;
        std::process::exit(code);
    });
    tokio::time::sleep(args.drain_delay).await;
    server.drain.break_streams();
    listening.stop.cancel();
    let served = listening.serving.await.map_err(io::Error::other).flatten();
    stop.cancel();
    if let Some(worker) = worker {
        // A panic of the worker was told already.
        drop(worker.await);
    }
    pump.abort();
    served.map_err(|error| Failure::new(format!("the server ended: {error}")))?;
    Ok(Exit::Good)
}

/// Refuses an address on which requests could not be trusted.
fn check_address(args: &Args) -> Result<(), Failure> {
    let help = "`runstate token new` makes a file for --tokens";
    if args.tokens.is_none() && args.behind_proxy {
        let got = "--behind-proxy without --tokens: each request of the proxy would be of the user `local`";
        return Err(Failure::new(got).with_help(help));
    }
    if args.tokens.is_none() && args.distinct_actors {
        let got = "--distinct-actors without --tokens: the user `local` alone could approve nothing";
        return Err(Failure::new(got).with_help(help));
    }
    if args.listen.ip().is_loopback() {
        return Ok(());
    }
    let got = format!("--listen: got {}, which is no loopback address", args.listen);
    if args.tokens.is_none() {
        let help = "`runstate token new` makes a file for --tokens; or listen on 127.0.0.1";
        return Err(Failure::new(format!("{got}, without --tokens")).with_help(help));
    }
    if !args.behind_proxy && args.tls_cert.is_none() {
        let help = "tokens would cross the network in plain text: give --tls-cert and --tls-key, or put a proxy with TLS before the server and give --behind-proxy";
        return Err(Failure::new(format!("{got}, without --tls-cert and --behind-proxy")).with_help(help));
    }
    Ok(())
}

#[cfg(feature = "serve-tls")]
fn connections(args: &Args) -> Result<Connections, Failure> {
    let mut connections = Connections::default();
    if let (Some(cert), Some(key)) = (&args.tls_cert, &args.tls_key) {
        let tls = runstate_http::Tls::from_pem_files(cert, key);
        connections.tls = Some(tls.map_err(|error| Failure::new(format!("--tls-cert, --tls-key: {error}")))?);
    }
    Ok(connections)
}

#[cfg(not(feature = "serve-tls"))]
fn connections(args: &Args) -> Result<Connections, Failure> {
    if args.tls_cert.is_some() {
        let help = "build it with the feature: `cargo install runstate-cli --features serve-tls`";
        return Err(Failure::new("--tls-cert: this program was built without TLS").with_help(help));
    }
    Ok(Connections::default())
}

fn open_tokens(path: &Path) -> Result<Tokens, Failure> {
    let tokens = Tokens::open(path).map_err(|error| Failure::new(format!("--tokens: {error}")))?;
    let is_empty = tokens.list().is_ok_and(|tokens| tokens.is_empty());
    if is_empty {
        complain(&format!(
            "{} has no token: `runstate token new NAME --role ROLE --tokens FILE` makes one",
            printable(&path.display().to_string())
        ));
    }
    Ok(tokens)
}

/// The journal of the built-in chain, in a folder that is there.
fn journal(args: &Args, place: &ServicePlace) -> Result<PathBuf, Failure> {
    let journal = match &args.chain {
        Some(journal) => journal.clone(),
        None => journal_beside(place, &args.place)?,
    };
    if let Some(folder) = journal.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        crate::runs::make_folders(folder).map_err(|error| Failure::io("make the folder", folder, &error))?;
    }
    Ok(journal)
}

/// The journal of the built-in chain, for a store without another one.
fn journal_beside(place: &ServicePlace, args: &StoreArgs) -> Result<PathBuf, Failure> {
    match place.file() {
        Some(file) => {
            let mut name = file.into_os_string();
            name.push(".chain");
            Ok(name.into())
        }
        None => Ok(args.state_dir()?.join("service.chain")),
    }
}
