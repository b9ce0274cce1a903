use std::path::Path;

use runstate::diagram::{StateGraph, parse};
use runstate::trace::{Event, Rulebook, Rules};
use runstate_review::{Review, ReviewBuilder};

/// An order with a composite state, a choice and a note.
pub(crate) const DIAGRAM: &str = "\
stateDiagram-v2
    direction LR
    [*] --> Cart
    Cart --> Paid : pay [total > 0]
    state Paid {
        [*] --> WaitingForStock
        WaitingForStock --> Packed : pack
    }
    Packed --> Shipped : ship
    Cart --> Cancelled : cancel
    Shipped --> [*]
    Cancelled --> [*]
    note right of Cart : the basket of a visitor
";

pub(crate) fn book() -> Rulebook {
    let graph = StateGraph::from_diagram(&parse(DIAGRAM).unwrap(), "order").unwrap();
    Rulebook::new().with(Rules::of_diagram("order", &graph, "shop.mmd"))
}

pub(crate) fn event(
    seq: u64,
    at_ms: u64,
    instance: &str,
    event: &str,
    from: Option<&str>,
    to: &str,
) -> Event<'static> {
    let line = serde_json::json!({
        "seq": seq, "at_ms": at_ms, "run": "r", "lifecycle": "order", "instance": instance,
        "event": event, "from": from, "to": to,
    });
    Event::from_json(&line.to_string()).unwrap().into_owned()
}

/// Two orders over two hours; the second one ships from its cart.
pub(crate) fn orders() -> Vec<Event<'static>> {
    const BEGIN: u64 = 1_700_000_000_000;
    vec![
        event(1, BEGIN, "a", "create", None, "Cart"),
        event(2, BEGIN + 1_250, "a", "pay", Some("Cart"), "WaitingForStock"),
        event(3, BEGIN + 1_500, "b", "create", None, "Cart"),
        event(4, BEGIN + 7_201_500, "a", "pack", Some("WaitingForStock"), "Packed"),
        event(5, BEGIN + 7_202_000, "b", "ship", Some("Cart"), "Shipped"),
        event(6, BEGIN + 7_203_000, "a", "ship", Some("Packed"), "Shipped"),
    ]
}

pub(crate) fn review_of(
    events: &[Event<'_>],
    set: impl FnOnce(ReviewBuilder<'_>) -> ReviewBuilder<'_>,
) -> Review {
    let book = book();
    let mut builder = set(ReviewBuilder::new("orders.jsonl", &book).diagram("shop.mmd", DIAGRAM));
    for (line, event) in (1..).zip(events) {
        builder.event(line, event);
    }
    builder.finish()
}

pub(crate) fn review(events: &[Event<'_>]) -> Review {
    review_of(events, |builder| builder)
}

/// Names that a page, a terminal or a diagram could take for something else.
pub(crate) fn hostile() -> Vec<String> {
    [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "'+alert(1)+'",
        "\u{202e}gnp.exe",
        "nul\0nul",
        "\u{1b}[2J\u{9b}31m",
        "a\nb\r\n\u{2028}c",
        "]]> --> `|`` @all #1; %% : ,",
        "</style></details><h1>x",
        "javascript:alert(1)",
        "http://example.org/ www.example.org",
        "",
        "section x",
        "end",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(["x".repeat(1 << 20)])
    .collect()
}

/// Events that have a hostile text in each place.
pub(crate) fn attacks() -> Vec<Event<'static>> {
    let mut events = Vec::new();
    for (seq, text) in (1..).zip(hostile()) {
        let mut one = event(seq, seq, &text, &text, None, &text);
        (one.run, one.lifecycle) = (text.clone().into(), text.clone().into());
        one.extra.insert(&format!("x{text}"), &text).unwrap();
        events.push(one);
        let mut known = event(100 + seq, seq, &text, &text, Some(&text), &text);
        known.extra.insert("arguments", &text).unwrap();
        events.push(known);
    }
    events
}

/// Compares with `snapshots/<name>.snap` of this package.
pub(crate) fn assert_shown(name: &str, shown: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, shown));
}
