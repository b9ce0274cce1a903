//! A green check has checked: typos, remarks, several lifecycles, lines that are no events.

use crate::session::Session;

const ORDER: &str =
    "stateDiagram-v2\n[*] --> Cart\nCart --> Paid : pay\nPaid --> Shipped : ship order\nShipped --> [*]\n";

fn line(seq: u64, lifecycle: &str, instance: &str, event: &str, from: Option<&str>, to: &str) -> String {
    let from = from.map_or("null".to_owned(), |from| format!("\"{from}\""));
    format!(
        "{{\"seq\":{seq},\"at_ms\":{seq},\"run\":\"r\",\"lifecycle\":\"{lifecycle}\",\"instance\":\"{instance}\",\
         \"event\":\"{event}\",\"from\":{from},\"to\":\"{to}\"}}\n"
    )
}

fn shop() -> Session {
    let session = Session::new();
    session.write("order.mmd", ORDER);
    session.write("payment.mmd", "stateDiagram-v2\n[*] --> Open\nOpen --> Closed : settle\nClosed --> [*]\n");
    let order = [
        line(1, "order", "1", "create", None, "Cart"),
        line(2, "order", "1", "pay", Some("Cart"), "Paid"),
        line(3, "order", "1", "sent off", Some("Paid"), "Shipped"),
    ];
    // Of one name in both lifecycles.
    let payment = [
        line(4, "payment", "1", "create", None, "Open"),
        line(5, "payment", "1", "settle", Some("Open"), "Closed"),
    ];
    session.write("order.jsonl", order.concat());
    session.write("both.jsonl", order.concat() + &payment.concat());
    session
}

#[test]
fn a_lifecycle_that_is_mistyped_is_not_green() {
    let session = shop();
    let typo = ["check", "order.jsonl", "--diagram", "order.mmd", "--lifecycle", "ordr"];
    for format in ["text", "json", "junit"] {
        let said = session.run(&[&typo[..], &["--format", format]].concat());
        let told = format!("{}{}", said.stdout, said.stderr);
        assert!(said.code == Some(2) && told.contains("nothing was checked"), "{}", said.shown());
        assert!(told.contains("did you mean"), "{}", said.shown());
    }
    assert_eq!(session.run(&[&typo[..], &["--allow-empty"]].concat()).code, Some(0));
    session.write("empty.jsonl", "");
    let said = session.run(&["check", "empty.jsonl"]);
    assert!(said.code == Some(2) && said.stderr.contains("no events at all"), "{}", said.shown());
    let said = session.run(&["check", "order.jsonl", "--lifecycle", "tool_cal"]);
    assert!(said.code == Some(2) && said.stderr.contains("did you mean \"tool_call\"?"), "{}", said.shown());
}

#[test]
fn one_remark_does_not_let_other_events_pass() {
    let session = shop();
    let check = ["check", "order.jsonl", "--diagram", "order.mmd"];
    assert_eq!(session.run(&check).code, Some(0));
    session.write(
        "order.jsonl",
        line(1, "order", "1", "create", None, "Cart")
            + &line(2, "order", "1", "teleport", Some("Cart"), "Paid"),
    );
    let said = session.run(&check);
    assert!(said.code == Some(1) && said.stdout.contains("has another event"), "{}", said.shown());
    let said = session.run(&[&check[..], &["--strict-events"]].concat());
    assert!(
        said.code == Some(2) && said.stderr.contains("order.mmd:4: Paid --> Shipped : ship order"),
        "{}",
        said.shown()
    );
    session.write("order.mmd", ORDER.replace("ship order", "ship(order) [in stock] / print"));
    assert_eq!(session.run(&[&check[..], &["--strict-events"]].concat()).code, Some(1));
}

#[test]
fn each_lifecycle_is_held_against_its_diagram() {
    let session = shop();
    let both = ["check", "both.jsonl", "--diagram", "order=order.mmd", "--diagram", "payment=payment.mmd"];
    let said = session.run(&[&both[..], &["--complete", "--coverage", "--min-coverage", "100"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(
        said.stdout.contains("order: 2 of 2 edges taken") && said.stdout.contains("payment: 1 of 1 edge"),
        "{}",
        said.shown()
    );
    let said =
        session.run(&["check", "both.jsonl", "--diagram", "order=order.mmd", "--diagram", "payment.mmd"]);
    assert!(said.code == Some(2) && said.stderr.contains("NAME=payment.mmd"), "{}", said.shown());
    let said = session.run(&["check", "both.jsonl", "--diagram", "order=order.mmd"]);
    assert!(
        said.code == Some(1) && said.stdout.matches("no rules for a lifecycle payment").count() == 1,
        "{}",
        said.shown()
    );
}

#[test]
fn a_line_that_is_no_event_is_bad_input_wherever_it_stands() {
    let session = shop();
    let whole = [
        line(1, "order", "1", "create", None, "Cart"),
        line(2, "order", "1", "pay", Some("Cart"), "Paid"),
        line(3, "order", "1", "sent off", Some("Paid"), "Shipped"),
    ];
    for broken in 0..3 {
        let mut lines = whole.clone();
        lines[broken] = lines[broken].replace("\"to\"", "\"into\"");
        session.write("order.jsonl", lines.concat());
        let said = session.run(&["check", "order.jsonl", "--diagram", "order.mmd"]);
        assert_eq!(said.code, Some(2), "line {}: {}", broken + 1, said.shown());
        let junit = session.run(&["check", "order.jsonl", "--diagram", "order.mmd", "--format", "junit"]);
        assert!(junit.code == Some(2) && junit.stdout.contains("<error "), "{}", junit.shown());
        assert!(junit.stdout.contains("errors=\"1\""), "{}", junit.shown());
    }
}

#[test]
fn violations_of_several_instances_are_shown() {
    let session = shop();
    let wrong: String = (1..=12)
        .map(|number| {
            let (instance, seq) = (number.to_string(), 2 * number);
            line(seq, "order", &instance, "create", None, "Cart")
                + &line(seq + 1, "order", &instance, "fly", Some("Cart"), "Shipped")
        })
        .collect();
    session.write("order.jsonl", wrong);
    let shown = |more: &[&str]| {
        let said = session.run(&[&["check", "order.jsonl", "--diagram", "order.mmd"], more].concat());
        assert_eq!(said.code, Some(1), "{}", said.shown());
        said.stdout.matches("no edge leads from Cart to Shipped").count()
    };
    assert_eq!(
        (shown(&[]), shown(&["--max-violations", "1"]), shown(&["--max-violations", "99"])),
        (10, 1, 12)
    );
}

#[test]
fn time_that_runs_backwards_fails_where_that_is_asked_for() {
    let session = shop();
    let back = line(1, "order", "1", "create", None, "Cart").replace("\"at_ms\":1", "\"at_ms\":9");
    session.write("order.jsonl", back + &line(2, "order", "1", "pay", Some("Cart"), "Paid"));
    let check = ["check", "order.jsonl", "--diagram", "order.mmd"];
    let said = session.run(&check);
    assert!(said.code == Some(0) && said.stdout.contains("note: time runs backwards"), "{}", said.shown());
    assert_eq!(session.run(&[&check[..], &["--monotonic-time"]].concat()).code, Some(1));
}

#[test]
fn what_mermaid_draws_otherwise_is_told() {
    let session = shop();
    session.write("order.mmd", ORDER.replace("ship order", "ship order; in stock"));
    let said = session.run(&["check", "order.jsonl", "--diagram", "order.mmd"]);
    assert!(said.stderr.contains("warning") && said.stderr.contains("order.mmd:4"), "{}", said.shown());
}

/// What is drawn with composite states and choices is asked for, counted and shown as it is drawn.
const SHOP: &str = "stateDiagram-v2
    direction LR
    [*] --> Cart
    Cart --> Payment : pay
    state Payment {
        [*] --> Authorizing
        Authorizing --> Capturing : authorized > 0
    }
    Payment --> Cancelled : cancel
    state Packing {
        Picked --> Boxed : box
    }
    Payment --> Packing : 📦 it
    Cancelled --> [*]
";

fn bought() -> Session {
    let session = Session::new();
    session.write("shop.mmd", SHOP);
    let steps = [
        line(1, "shop", "1", "create", None, "Cart"),
        line(2, "shop", "1", "pay", Some("Cart"), "Authorizing"),
        line(3, "shop", "1", "cancel", Some("Authorizing"), "Cancelled"),
        line(4, "shop", "2", "create", None, "Cart"),
        line(5, "shop", "2", "pay", Some("Cart"), "Authorizing"),
        line(6, "shop", "2", "sent", Some("Authorizing"), "Packing"),
    ];
    session.write("shop.jsonl", steps.concat());
    session.write("stray.jsonl", steps.concat() + &line(7, "shop", "2", "box", Some("Packing"), "Boxt"));
    session
}

#[test]
fn what_is_drawn_with_composite_states_is_held_as_it_is_drawn() {
    let session = bought();
    let check = ["check", "shop.jsonl", "--diagram", "shop.mmd", "--coverage"];
    let said = session.run(&[&check[..], &["--require-edge", "Payment:Cancelled"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(said.stdout.contains("shop.mmd: 3 of 5 edges taken"), "{}", said.shown());
    assert!(said.stderr.contains("shop.mmd: line 13: `Packing` is entered and has no"), "{}", said.shown());
    let said = session.run(&[&check[..], &["--require-edge", "Payment:Cart"]].concat());
    assert_eq!(said.code, Some(2), "{}", said.shown());
    let said = session.run(&["check", "shop.jsonl", "--diagram", "shop.mmd", "--strict-events"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stderr.contains("shop.mmd:13: Payment --> Packing : 📦 it"), "{}", said.shown());
    assert!(said.stderr.contains("any event takes 2 of the edges"), "{}", said.shown());
}

#[test]
fn a_graph_in_json_holds_a_trace_like_its_diagram() {
    let session = bought();
    let graph = session.run(&["diagram", "shop.mmd", "--format", "json"]).stdout;
    session.write("shop.json", graph);
    for trace in ["shop.jsonl", "stray.jsonl"] {
        let check = |diagram: &str| {
            let said = session.run(&[
                "check",
                trace,
                "--diagram",
                diagram,
                "--lifecycle",
                "shop",
                "--format",
                "json",
            ]);
            let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
            (
                said.code,
                report["coverage"].clone(),
                report["traces"][0]["report"]["violation"]["kind"].clone(),
            )
        };
        assert_eq!(check("shop.json"), check("shop.mmd"));
    }
    session.write("list.json", "[]");
    let said = session.run(&["check", "shop.jsonl", "--diagram", "list.json"]);
    assert!(said.code == Some(2) && said.stderr.contains("expected one graph"), "{}", said.shown());
}

#[test]
fn a_diagram_is_shown_as_it_is_written() {
    let session = bought();
    let said = session.run(&["show", "stray.jsonl", "--format", "mermaid", "--diagram", "shop.mmd"]);
    assert!(said.stdout.starts_with(SHOP), "{}", said.shown());
    crate::session::assert_shown("show_marked", &said.stdout);
    // It is a diagram again, and says the same.
    session.write("marked.mmd", &said.stdout);
    let graph = |name: &str| {
        let said = session.run(&["diagram", name, "--format", "json"]);
        let graph: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        graph["edges"].clone()
    };
    assert_eq!(graph("marked.mmd"), graph("shop.mmd"));
}
