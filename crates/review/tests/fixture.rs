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
