//! A green check has checked: typos, remarks, several lifecycles, lines that are no events.

use crate::session::Session;

pub(crate) const ORDER: &str =
    "stateDiagram-v2\n[*] --> Cart\nCart --> Paid : pay\nPaid --> Shipped : ship order\nShipped --> [*]\n";

pub(crate) fn line(
    seq: u64,
    lifecycle: &str,
    instance: &str,
    event: &str,
    from: Option<&str>,
    to: &str,
) -> String {
    let from = from.map_or("null".to_owned(), |from| format!("\"{from}\""));
    format!(
        "{{\"seq\":{seq},\"at_ms\":{seq},\"run\":\"r\",\"lifecycle\":\"{lifecycle}\",\"instance\":\"{instance}\",\
         \"event\":\"{event}\",\"from\":{from},\"to\":\"{to}\"}}\n"
    )
}

pub(crate) fn shop() -> Session {
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
fn a_diagram_without_a_start_or_an_end_says_so() {
    let session = shop();
    session.write("loose.mmd", ORDER.replace("[*] -->", "[**] -->").replace("--> [*]", "--> [**]"));
    let check = ["check", "order.jsonl", "--diagram", "loose.mmd"];
    let said = session.run(&check);
    assert!(
        said.code == Some(0) && said.stderr.contains("without a transition from [*]"),
        "{}",
        said.shown()
    );
    let said = session.run(&[&check[..], &["--complete"]].concat());
    assert!(said.code == Some(2) && said.stderr.contains("got loose.mmd without an end"), "{}", said.shown());
}

#[test]
fn a_graph_in_json_with_a_misspelt_field_is_refused() {
    let session = shop();
    let graph = session.run(&["diagram", "order.mmd", "--format", "json"]).stdout;
    for (field, wrong) in
        [("initial", "inital"), ("label", "lable"), ("terminal", "terminl"), ("line", "lines")]
    {
        session.write("graph.json", graph.replacen(&format!("\"{field}\""), &format!("\"{wrong}\""), 1));
        let said = session.run(&["check", "order.jsonl", "--diagram", "graph.json"]);
        assert!(said.code == Some(2) && said.stderr.contains(&format!("got `{wrong}`")), "{}", said.shown());
    }
}

#[test]
fn a_number_that_is_a_heading_too_is_ambiguous() {
    let session = shop();
    let block = |heading: &str| format!("# {heading}\n```mermaid\n{ORDER}```\n");
    session.write("years.md", block("2") + &block("1") + &block("2026"));
    let check =
        |which: &str| session.run(&["check", "order.jsonl", "--diagram", &format!("years.md#{which}")]);
    assert_eq!(check("2026").code, Some(0), "{}", check("2026").shown());
    assert_eq!(check("3").code, Some(0));
    assert!(
        check("1").code == Some(2) && check("1").stderr.contains("2 state diagrams"),
        "{}",
        check("1").shown()
    );
}

/// Time that runs backwards is a failure in each format where it is refused, and shown is what is of the lifecycle that is asked for.
#[test]
fn each_format_says_that_time_runs_backwards() {
    let session = shop();
    session.write("back.jsonl", session.read("order.jsonl").replace("\"at_ms\":2", "\"at_ms\":0"));
    let check = ["check", "back.jsonl", "--diagram", "order.mmd", "--monotonic-time", "--format"];
    for (format, told) in [
        ("text", "--monotonic-time does not accept it"),
        ("json", "--monotonic-time does not accept it"),
        ("junit", "failures=\"1\""),
    ] {
        let said = session.run(&[&check[..], &[format]].concat());
        assert!(said.code == Some(1) && said.stdout.contains(told), "{}", said.shown());
    }
    let diagrams =
        ["--diagram", "order=order.mmd", "--diagram", "payment=payment.mmd", "--lifecycle", "payment"];
    for format in ["text", "json", "jsonl"] {
        let said = session.run(&[&["show", "both.jsonl", "--format", format], &diagrams[..]].concat());
        assert!(said.stdout.contains("Closed") && !said.stdout.contains("Shipped\""), "{}", said.shown());
    }
}

/// Each drawing has the first violation of its own lifecycle.
#[test]
fn each_lifecycle_shows_its_own_violation() {
    let session = shop();
    session.write(
        "two.jsonl",
        session.read("both.jsonl").replace("\"pay\"", "\"steal\"").replace("\"settle\"", "\"steal\""),
    );
    let args = [
        "show",
        "two.jsonl",
        "--format",
        "mermaid",
        "--diagram",
        "order=order.mmd",
        "--diagram",
        "payment=payment.mmd",
    ];
    // Two states of each drawing, and a state of its legend.
    assert_eq!(session.run(&args).stdout.matches(" trace_illegal\n").count(), 6);
}

#[test]
fn edges_that_any_event_takes_are_told_of() {
    let session = shop();
    let said = session.run(&["check", "order.jsonl", "--diagram", "order.mmd"]);
    let note = "note: order.mmd: any event takes 1 of the 3 transitions, whose labels are no names of events";
    assert!(said.code == Some(0) && said.stderr.contains(note), "{}", said.shown());
    let said = session.run(&["check", "order.jsonl", "--diagram", "order.mmd", "--strict-events"]);
    assert!(said.code == Some(2) && !said.stderr.contains("note:"), "{}", said.shown());
}

#[test]
fn the_name_of_a_lifecycle_may_have_a_dot() {
    let session = shop();
    session.write("shop.jsonl", session.read("order.jsonl").replace("\"order\"", "\"shop.order\""));
    let said = session.run(&["check", "shop.jsonl", "--diagram", "shop.order=order.mmd"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

/// What a diagram loses on the way is told wherever the diagram is used.
#[test]
fn warnings_are_shown_of_graphs_in_json_and_by_diff() {
    let session = shop();
    session.write("lost.mmd", format!("{ORDER}Shipped --> [*] : at last\n"));
    let graph = session.run(&["diagram", "lost.mmd", "--format", "json"]).stdout;
    session.write("lost.json", &graph);
    for args in [
        &["check", "order.jsonl", "--diagram", "lost.mmd"] as &[&str],
        &["check", "order.jsonl", "--diagram", "lost.json"],
        &["diff", "lost.mmd", "order.mmd"],
        &["diff", "order.mmd", "lost.json"],
    ] {
        let said = session.run(args);
        assert!(
            said.stderr.contains("the label of a transition to `[*]` is not in the graph"),
            "{}",
            said.shown()
        );
    }
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

/// A creation is a transition like the others.
#[test]
fn starts_that_any_event_takes_are_told_of() {
    let session = shop();
    let open = |event: &str| session.write("open.jsonl", line(1, "order", "1", event, None, "Cart"));
    open("teleport");
    let check = ["check", "open.jsonl", "--diagram", "order.mmd"];
    assert_eq!(session.run(&check).code, Some(1));
    session.write("order.mmd", ORDER.replace("[*] --> Cart", "[*] --> Cart : on a call"));
    let said = session.run(&check);
    assert!(said.code == Some(0) && said.stderr.contains("2 of the 3 transitions"), "{}", said.shown());
    let said = session.run(&[&check[..], &["--strict-events"]].concat());
    assert!(
        said.code == Some(2) && said.stderr.contains("order.mmd:2: [*] --> Cart : on a call"),
        "{}",
        said.shown()
    );
    let named = "stateDiagram-v2\n[*] --> Cart : open\nCart --> [*]\n";
    session.write("order.mmd", named);
    let strict = || session.run(&[&check[..], &["--strict-events"]].concat());
    assert_eq!(strict().code, Some(1));
    open("open");
    assert_eq!(strict().code, Some(0));
    session.write("order.mmd", named.replace(" : open", ""));
    let said = strict();
    assert!(said.code == Some(2) && said.stderr.contains("order.mmd:2: [*] --> Cart\n"), "{}", said.shown());
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
fn check_warns_of_a_label_that_mermaid_draws_differently() {
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
fn composite_states_are_checked_as_they_are_drawn() {
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
    assert!(
        said.stderr.contains("any event takes 2 of the transitions:\n  shop.mmd:7: "),
        "{}",
        said.shown()
    );
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
    // A count is added to each label.
    let is_kept = |(written, shown): (&str, &str)| shown.starts_with(written);
    assert!(SHOP.lines().zip(said.stdout.lines()).all(is_kept), "{}", said.shown());
    crate::session::assert_shown("show_marked", &said.stdout);
    // It is a diagram again, with the illegal transition.
    session.write("marked.mmd", &said.stdout);
    let graph = |name: &str| {
        let said = session.run(&["diagram", name, "--format", "json"]);
        let graph: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        let ends = |edge: &serde_json::Value| format!("{} {}", edge["from"], edge["to"]);
        graph["edges"].as_array().unwrap().iter().map(ends).collect::<Vec<_>>()
    };
    let (mut marked, written) = (graph("marked.mmd"), graph("shop.mmd"));
    marked.retain(|edge| !edge.contains("trace_stranger"));
    assert_eq!(marked, written);
}
