use runstate::diagram::{StateGraph, parse};
use runstate::trace::{Report, Rulebook, Rules, check};
use runstate_review::mermaid;

use crate::fixture::{DIAGRAM, assert_shown, attacks, book, orders};

#[test]
fn the_author_s_diagram_has_counts_colours_and_a_legend() {
    let book = book();
    let drawn = mermaid(Some(DIAGRAM), book.rules("order").unwrap(), &check(&orders(), &book));
    assert_shown("mermaid", &drawn);
    let (before, after) = (parse(DIAGRAM).unwrap(), parse(&drawn).unwrap());
    assert_eq!(after.notes.len(), before.notes.len());
    assert_eq!(after.scopes[0].direction.map(|it| it.0), before.scopes[0].direction.map(|it| it.0));
    assert_eq!(after.transitions.len(), before.transitions.len() + 1, "the illegal one is drawn");
}

/// The diagram of a source with a report on the orders.
fn drawn(source: &str) -> (String, Report) {
    let graph = StateGraph::from_diagram(&parse(source).unwrap(), "order").unwrap();
    let book = Rulebook::for_all(Rules::of_diagram("order", &graph, "shop.mmd"));
    let report = check(&orders(), &book);
    (mermaid(Some(source), book.rules("order").unwrap(), &report), report)
}

#[test]
fn sources_that_take_no_statement_still_give_a_diagram() {
    for source in [
        "stateDiagram-v2\n[*] --> Cart\nCart --> Shipped : a %% b\n",
        "stateDiagram-v2\n[*] --> Cart\nCart --> Shipped:::big\n",
        "stateDiagram-v2\n[*] --> Cart\nCart --> Shipped : #35;1\n",
        "stateDiagram-v2\n[*] --> Cart\nCart --> Cart\nCart --> Shipped : x; y\naccTitle:",
        "stateDiagram-v2\n[*] --> Cart\nstate c <<choice>>\nCart --> c : go\nc --> Shipped : [yes]\nc --> Cart : [no]",
        "---\ntitle: x\n---\nstateDiagram-v2\r\n[*] --> Cart\r\nCart --> Shipped : ship\r\n",
    ] {
        let (drawn, _) = drawn(source);
        assert!(parse(&drawn).is_ok(), "{drawn}");
    }
}

#[test]
fn hostile_names_become_no_statements() {
    let book = book();
    for one in attacks().chunks(2) {
        let mut events = orders();
        let mut last = one[1].clone();
        (last.instance, last.lifecycle, last.run, last.seq) = ("a".into(), "order".into(), "r".into(), 99);
        events.push(last);
        for source in [Some(DIAGRAM), None] {
            let drawn = mermaid(source, book.rules("order").unwrap(), &check(&events, &book));
            let read = parse(&drawn).unwrap();
            assert!(read.clicks.is_empty() && read.transitions.len() < 20, "{drawn}");
        }
    }
}

#[test]
fn the_legend_has_the_colours_that_occur() {
    let legend = |drawn: &str| drawn.lines().filter(|line| line.contains("Legend: ")).count();
    let book = book();
    let rules = book.rules("order").unwrap();
    // One order has been created, and nothing is illegal.
    for source in [Some(DIAGRAM), None] {
        assert_eq!(legend(&mermaid(source, rules, &check(&orders()[..1], &book))), 1);
        assert_eq!(legend(&mermaid(source, rules, &check(&[], &book))), 0);
    }
}

#[test]
fn a_violation_of_another_diagram_of_the_file_is_not_drawn() {
    let graph = |name| StateGraph::from_diagram(&parse(DIAGRAM).unwrap(), name).unwrap();
    let rules = |name| Rules::of_diagram(name, &graph(name), "shop.md");
    let book = Rulebook::new().with(rules("order")).with(rules("parcel"));
    let mut events = orders();
    let mut other = orders()[..1].to_vec();
    other[0].lifecycle = "parcel".into();
    other[0].seq = 7;
    events.extend(other);
    let report = check(&events, &book);
    for source in [Some(DIAGRAM), None] {
        let drawn = mermaid(source, book.rules("parcel").unwrap(), &report);
        assert!(!drawn.contains("Legend: illegal") && !drawn.contains(" : illegal"), "{drawn}");
        assert!(mermaid(source, book.rules("order").unwrap(), &report).contains("illegal"));
    }
}

#[test]
fn each_illegal_transition_between_states_of_the_diagram_is_drawn() {
    let book = book();
    let mut events = orders();
    for (seq, instance) in [(7, "c"), (9, "d"), (11, "e")] {
        events.push(crate::fixture::event(seq, 1_700_007_300_000, instance, "create", None, "Cart"));
        let to = if instance == "e" { "Lost" } else { "Packed" };
        events.push(crate::fixture::event(seq + 1, 1_700_007_300_000, instance, "pack", Some("Cart"), to));
    }
    let report = check(&events, &book);
    for source in [Some(DIAGRAM), None] {
        let drawn = mermaid(source, book.rules("order").unwrap(), &report);
        assert!(drawn.contains("    Cart --> Packed : illegal, trace line 8\n"), "{drawn}");
        assert_eq!(drawn.matches("illegal, trace line").count(), 3, "{drawn}");
        assert!(drawn.contains(
            "    state \"Lost\" as trace_other_1\n    Cart --> trace_other_1 : illegal, trace line 12\n"
        ));
    }
    // Each instance has one listed violation: later ones are counted.
    events.push(crate::fixture::event(13, 1_700_007_300_000, "e", "pack", Some("Lost"), "Packed"));
    let report = check(&events, &book);
    for source in [Some(DIAGRAM), None] {
        let drawn = mermaid(source, book.rules("order").unwrap(), &report);
        assert!(drawn.contains("    state \"1 more illegal event\" as trace_more\n"), "{drawn}");
    }
}

#[test]
fn a_statement_without_room_for_a_count_is_told_and_the_others_have_counts() {
    let (commented, _) = drawn(
        "stateDiagram-v2\n[*] --> Cart\nCart --> WaitingForStock : pay\nCart --> Cancelled %% by a visitor\n",
    );
    assert!(commented.contains("WaitingForStock : pay (1)\n"), "{commented}");
    assert!(commented.contains("Cart --> Cancelled %% by a visitor\n"), "{commented}");
    assert!(commented.contains("state \"1 transition has no count\" as trace_uncounted\n"), "{commented}");
    let (entity, _) =
        drawn("stateDiagram-v2\n[*] --> Cart\nCart --> WaitingForStock : pay #35; y\nCart --> Cart : wait\n");
    assert!(entity.contains("Cart --> Cart : wait (0)\n"), "{entity}");
    assert!(entity.contains("    state \"1 transition has no count\" as trace_uncounted\n"), "{entity}");
    assert!(!entity.contains("#35; y ("), "{entity}");
    let (whole, _) = drawn("stateDiagram-v2\n[*] --> Cart\nCart --> WaitingForStock : pay\n");
    assert!(!whole.contains("no count"), "{whole}");
}

#[test]
fn a_creation_of_the_source_has_its_count() {
    let (one, _) = drawn("stateDiagram-v2\n[*] --> Cart\nCart --> WaitingForStock : pay\n");
    assert!(one.contains("[*] --> Cart : (2)\n") && !one.contains("no count"), "{one}");
    let (named, _) =
        drawn("stateDiagram-v2\n[*] --> Cart : create\n[*] --> Packed\nCart --> WaitingForStock : pay\n");
    assert!(named.contains("[*] --> Cart : create (2)\n"), "{named}");
    assert!(named.contains("[*] --> Packed : (0)\n"), "{named}");
    let (inside, _) = drawn(
        "stateDiagram-v2\n[*] --> Open\nstate Open {\n[*] --> Cart\nCart --> WaitingForStock : pay\n}\nOpen --> Shipped\n",
    );
    assert!(inside.contains("[*] --> Open : (2)\n") && inside.contains("[*] --> Cart\n"), "{inside}");
    // The trace does not tell which of two transitions a creation took.
    let (two, _) =
        drawn("stateDiagram-v2\n[*] --> Cart : create\n[*] --> Cart : open\nCart --> Cart : pay\n");
    assert!(two.contains("state \"2 transitions have no count\" as trace_uncounted\n"), "{two}");
    // The drawing of rules without a source has the count of each initial state, too.
    let source = "stateDiagram-v2\n[*] --> Cart\n[*] --> Packed\nCart --> WaitingForStock : pay\n";
    let graph = StateGraph::from_diagram(&parse(source).unwrap(), "order").unwrap();
    let book = Rulebook::for_all(Rules::of_diagram("order", &graph, "shop.mmd"));
    let own = mermaid(None, book.rules("order").unwrap(), &check(&orders(), &book));
    assert!(own.contains("[*] --> Cart : create (2)\n") && own.contains("[*] --> Packed : create (0)\n"));
}

#[test]
fn states_of_the_author_keep_names_that_the_legend_would_take() {
    let source = "stateDiagram-v2\n[*] --> Cart\nCart --> trace_legend_current : pay\nCart --> legend_illegal\n\
                  trace_other_1 --> trace_stranger_1\ntrace_more --> trace_uncounted %% x\n";
    let graph = StateGraph::from_diagram(&parse(source).unwrap(), "order").unwrap();
    let book = Rulebook::for_all(Rules::of_diagram("order", &graph, "shop.mmd"));
    let mut events = orders();
    events.push(crate::fixture::event(7, 1_700_007_300_000, "d", "create", None, "Elsewhere"));
    events.push(crate::fixture::event(8, 1_700_007_300_000, "d", "go", Some("Elsewhere"), "Cart"));
    let report = check(&events, &book);
    for text in [Some(source), None] {
        let drawn = mermaid(text, book.rules("order").unwrap(), &report);
        let read = parse(&drawn).unwrap();
        for state in parse(source).unwrap().states {
            // The drawing of the rules has other ids for some names.
            let Some(own) = read.state(&state.id) else { continue };
            assert!(own.descriptions.is_empty(), "{drawn}");
        }
        for legend in ["Legend: current at the end", "Legend: illegal"] {
            assert_eq!(drawn.matches(&format!("state \"{legend}\" as ")).count(), 1, "{drawn}");
        }
    }
}

#[test]
fn an_illegal_state_keeps_its_colour_and_has_a_border() {
    let book = book();
    // The illegal event of order b leaves Cart, and order a is in Shipped.
    let report = check(&orders(), &book);
    let drawn = mermaid(Some(DIAGRAM), book.rules("order").unwrap(), &report);
    for class in ["visited", "illegal"] {
        assert!(drawn.contains(&format!("    class Cart trace_{class}\n")), "{drawn}");
    }
    for class in ["current", "illegal"] {
        assert!(drawn.contains(&format!("    class Shipped trace_{class}\n")), "{drawn}");
    }
    assert!(drawn.contains("classDef trace_illegal stroke:"), "{drawn}");
    let own = mermaid(None, book.rules("order").unwrap(), &report);
    let of = |class: &str| {
        let ends = format!(" {class}");
        let line = own.lines().find(|line| line.starts_with("    class ") && line.ends_with(&ends));
        line.unwrap_or_default().to_owned()
    };
    assert!(of("visited").contains("Cart") && of("current").contains("Shipped"), "{own}");
    assert!(of("illegal").contains("Cart,Shipped"), "{own}");
}

#[test]
fn a_long_name_of_an_unknown_state_loses_its_middle() {
    let book = book();
    let mut events = orders()[..1].to_vec();
    let long = format!("{}end", "x".repeat(1 << 20));
    events.push(crate::fixture::event(2, 1_700_000_000_001, "a", "go", Some("Cart"), &long));
    let report = check(&events, &book);
    let shown = format!("state \"{}…{}end\" as ", "x".repeat(55), "x".repeat(21));
    for source in [Some(DIAGRAM), None] {
        let drawn = mermaid(source, book.rules("order").unwrap(), &report);
        assert!(drawn.contains(&shown), "{drawn}");
    }
}
