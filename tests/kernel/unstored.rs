//! A lifecycle without a stored form: its states own a socket and a thread, and no type of it has serde's traits.

use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use runstate::diagram::StateGraph;
use runstate::kernel::{Enter, Guard, Record, Stateful};

/// A record with the name of a type parameter that a macro might use.
#[derive(Debug, Default)]
pub(in crate::kernel) struct S {
    attempts: u32,
}

impl Record for S {}

pub(crate) mod errors {
    use std::fmt;

    #[derive(Debug)]
    pub(crate) struct Exhausted;

    impl fmt::Display for Exhausted {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("there were three attempts")
        }
    }

    impl std::error::Error for Exhausted {}
}

/// A socket.
#[derive(Debug)]
pub(in crate::kernel) struct Connected {
    socket: TcpStream,
}

/// A thread that drains the connection.
#[derive(Debug)]
pub(in crate::kernel) struct Draining {
    thread: JoinHandle<usize>,
}

/// A socket arrives.
#[derive(Debug)]
pub(in crate::kernel) struct Connect {
    socket: TcpStream,
}

/// A second event with data.
#[derive(Debug)]
pub(in crate::kernel) struct Drain;

runstate::lifecycle! {
    /// A connection that owns its socket.
    pub(in crate::kernel) mod connection: Connection(S), AnyConnection;
    diagram "unstored.md" heading "Connection";
    status ConnectionStatus { Idle, Connected { .. }, Draining { .. }, Closed }
    event ConnectionEvent { Connect { .. }, Drain { .. }, Close }
    [*]       --> Idle;
    Idle      --> Connected : connect(Connect) else errors::Exhausted;
    Connected --> Draining  : drain(Drain);
    Draining  --> Closed    : close(Close);
    Closed    --> [*];
}

impl Guard<Idle, Connect> for Connected {
    type Error = errors::Exhausted;
    fn check(_: &Idle, _: &Connect, record: &S) -> Result<(), errors::Exhausted> {
        if record.attempts < 3 { Ok(()) } else { Err(errors::Exhausted) }
    }
}

impl Enter<Idle, Connect> for Connected {
    fn enter(_: Idle, event: Connect, record: &mut S) -> Self {
        record.attempts += 1;
        Connected { socket: event.socket }
    }
}

impl Enter<Connected, Drain> for Draining {
    fn enter(from: Connected, _: Drain, _: &mut S) -> Self {
        let mut socket = from.socket;
        Draining {
            thread: std::thread::spawn(move || {
                std::io::copy(&mut socket, &mut std::io::sink()).map_or(0, |_| 1)
            }),
        }
    }
}

mod bare {
    //! A lifecycle in a file of a diagram alone, one without a diagram, and events that can be cloned and stored.

    use runstate::kernel::Record;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Default)]
    pub(in crate::kernel) struct Source;

    impl Record for Source {}

    runstate::lifecycle! {
        pub(super) mod lamp: Lamp(Source), AnyLamp;
        diagram "unstored.mmd";
        status LampStatus { Dark, Lit }
        #[derive(Clone, PartialEq, Serialize, Deserialize)]
        event LampEvent { Light, Dim }
        [*]  --> Dark;
        Dark --> Lit  : light(Light);
        Lit  --> Dark : dim(Dim);
    }

    pub(super) mod free {
        use super::Source;

        runstate::lifecycle! {
            pub(in crate::kernel) mod coin: Coin(Source), AnyCoin;
            status CoinStatus { Heads, Tails }
            event CoinEvent { Flip }
            [*]   --> Heads;
            Heads --> Tails : flip(Flip);
            Tails --> Heads : flip(Flip);
        }
    }
}

#[test]
fn states_own_sockets_and_threads() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (socket, _) = listener.accept().unwrap();
    let connection = Connection::new(S::default()).connect(Connect { socket }).unwrap();
    assert!(connection.state().socket.peer_addr().is_ok());
    let connection = connection.drain(Drain);
    drop(client);
    let thread = connection.state().thread.thread().id();
    assert_ne!(thread, std::thread::current().id());
    let (_, Closed) = connection.close(Close).into_parts();

    let spent = Connection::new(S { attempts: 3 });
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let refused = spent.connect(Connect { socket: client }).unwrap_err();
    assert_eq!(refused.error.to_string(), "there were three attempts");
}

#[test]
fn dynamic_machine_needs_no_stored_form() {
    let refused = AnyConnection::new(S::default()).apply(Close.into()).unwrap_err();
    assert_eq!(refused.to_string(), "connection in state Idle refuses 'close'; it accepts 'connect'");
    assert_eq!(AnyConnection::GRAPH.version, 0);
}

#[test]
fn events_are_cloned_and_stored() {
    use bare::{AnyLamp, Dim, LampEvent, Light, Source};
    let queue: Vec<LampEvent> = vec![Light.into(), Dim.into()];
    let stored = serde_json::to_string(&queue).unwrap();
    assert_eq!(stored, r#"[{"Light":null},{"Dim":null}]"#);
    let queue: Vec<LampEvent> = serde_json::from_str(&stored).unwrap();
    let lamp =
        queue.clone().into_iter().try_fold(AnyLamp::new(Source), |lamp, event| lamp.apply(event)).unwrap();
    assert_eq!(lamp.status().name(), "Dark");
}

#[test]
fn graph_without_a_diagram_prints_one() {
    use bare::free::AnyCoin;
    let mermaid = StateGraph::from(AnyCoin::GRAPH).to_mermaid();
    assert_eq!(
        mermaid,
        "---\ntitle: \"coin\"\n---\nstateDiagram-v2\n    [*] --> Heads\n    Heads --> Tails : flip\n    Tails --> Heads : flip\n"
    );
}
