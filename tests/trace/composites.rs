//! Composite states and choices: what is drawn is what is held, counted and told.

use std::collections::BTreeSet;
use std::fmt::Write;

use proptest::prelude::*;
use runstate::diagram::{StateGraph, parse};
use runstate::trace::{Event, Report, Rulebook, Rules, ViolationKind, WantedEdge, check, mark_mermaid};

use super::event;

const SHOP: &str = "stateDiagram-v2
    [*] --> Cart
    Cart --> Payment : pay
    state Payment {
        [*] --> Authorizing
        Authorizing --> Capturing : authorized
        Capturing --> [*]
    }
    Payment --> check
    state check <<choice>>
    check --> Paid : settle [all of it]
    check --> Cart : settle [a part]
    Payment --> Cancelled : cancel
    Cancelled --> [*]
    Paid --> [*]";

fn report(source: &str, steps: &[(&str, &str)]) -> Report {
    let graph = StateGraph::from_diagram(&parse(source).unwrap(), "order").unwrap();
    let book = Rulebook::for_all(Rules::of_diagram("order", &graph, "order.mmd"));
    let mut events: Vec<Event<'static>> = Vec::new();
    for (seq, (name, to)) in (1..).zip(steps) {
        let from = events.last().map(|event| event.to.to_string());
        events.push(event(seq, "o", name, from.as_deref(), to).into_owned());
    }
    check(&events, &book)
}

#[test]
fn coverage_counts_the_arrows_that_are_drawn() {
    let paid = [
        ("create", "Cart"),
        ("pay", "Authorizing"),
        ("authorized", "Capturing"),
        ("settle", "Cart"),
        ("pay", "Authorizing"),
        ("cancel", "Cancelled"),
    ];
    let report = report(SHOP, &paid);
    insta::assert_snapshot!(report.coverage, @"
    order: 5 of 6 edges taken (83.3 %), 1 instance
      never check --> Paid : settle [all of it]
    ");
    let covered = report.coverage.lifecycle("order").unwrap();
    let payment = covered.states.iter().find(|state| state.state == "Payment").unwrap();
    assert_eq!((payment.entered, payment.current), (2, 0));
    assert_eq!(payment.inside, ["Authorizing", "Capturing"]);
    let taken = |edge: &str| report.coverage.require_edge(&edge.parse::<WantedEdge>().unwrap()).ok();
    // As it is drawn, or as states alone say it.
    assert_eq!(taken("Payment:Cancelled"), Some(1));
    assert_eq!(taken("Authorizing:Cancelled"), Some(1));
    assert_eq!(taken("Capturing:Cart"), Some(1));
    assert_eq!(taken("Capturing:Cancelled"), None);
    assert_eq!(taken("check:Paid"), None);
}

#[test]
fn messages_say_how_it_is_drawn() {
    let stray = report(SHOP, &[("create", "Cart"), ("pay", "Payment")]);
    insta::assert_snapshot!(stray.violation.unwrap(), @"
    line 2: parcel o of run r: Payment is a composite state: an event names the state inside of it, such as Authorizing, Capturing
      got    Cart --> Payment : pay
      legal  Cart --> Authorizing : pay, drawn as Cart --> Payment : pay  (order.mmd:3)
      see    order.mmd:4
    ");
    let stray = report(SHOP, &[("create", "Cart"), ("pay", "Authorizing"), ("cancel", "Canceled")]);
    insta::assert_snapshot!(stray.violation.unwrap(), @"
    line 3: parcel o of run r: parcel has no state Canceled; did you mean Cancelled?
      got    Authorizing --> Canceled : cancel
      legal  Authorizing --> Capturing : authorized  (order.mmd:6)
             Authorizing --> Cancelled : cancel, drawn as Payment --> Cancelled : cancel  (order.mmd:13)
      see    order.mmd:5
    ");
    let stray = report(SHOP, &[("create", "Cart"), ("pay", "Authorizing"), ("settle", "Paid")]);
    assert_eq!(stray.violation.unwrap().kind, ViolationKind::IllegalEdge, "it has not been captured");
}

/// An event is needed to end, as the direct way would tell.
#[test]
fn a_label_on_the_way_to_the_end_is_told_of() {
    for ways in
        ["A --> c : check\nc --> [*] : done", "A --> c : check\nc --> [*]", "A --> c\nA --> [*] : done"]
    {
        let source = format!("stateDiagram-v2\nstate c <<choice>>\n[*] --> A\n{ways}\nc --> B : more");
        let graph = StateGraph::from_diagram(&parse(&source).unwrap(), "x").unwrap();
        let told = |it: &String| it.contains("the label of a transition to `[*]` is not in the graph");
        assert!(graph.warnings.iter().any(told), "{source}: {:?}", graph.warnings);
    }
}

#[test]
fn a_composite_state_without_a_start_is_a_state() {
    let source = "stateDiagram-v2
        [*] --> Idle
        Idle --> Busy : begin
        Idle --> Reading : resume
        state Busy {
            Reading --> Writing : read
        }
        Busy --> Idle : stop";
    let fine =
        [("create", "Idle"), ("begin", "Busy"), ("stop", "Idle"), ("resume", "Reading"), ("stop", "Idle")];
    let fine = report(source, &fine);
    assert_eq!(fine.violations, 0, "{fine}");
    let covered = fine.coverage.lifecycle("order").unwrap();
    let busy = covered.states.iter().find(|state| state.state == "Busy").unwrap();
    assert_eq!(
        (busy.entered, busy.inside.as_slice()),
        (2, &["Reading".to_owned(), "Writing".to_owned()][..])
    );
    // Entered from inside of it, and by itself.
    let back = source.replace(
        "Busy --> Idle : stop",
        "Writing --> Busy : back\n Busy --> Busy : again\n Busy --> Idle : stop",
    );
    let steps =
        [("create", "Idle"), ("resume", "Reading"), ("read", "Writing"), ("back", "Busy"), ("again", "Busy")];
    let steps = report(&back, &steps);
    assert_eq!(steps.violations, 0, "{steps}");
    let covered = steps.coverage.lifecycle("order").unwrap();
    let busy = covered.states.iter().find(|state| state.state == "Busy").unwrap();
    assert_eq!((busy.entered, busy.current), (3, 1));
    let diagram = parse(&back).unwrap();
    let graph = StateGraph::from_diagram(&diagram, "order").unwrap();
    let marked = mark_mermaid(&back, &diagram, &Rules::of_diagram("order", &graph, "order.mmd"), &steps);
    assert!(marked.contains("    class Busy trace_current\n"), "{marked}");
    // The way inside is not drawn.
    let inside = report(source, &[("create", "Idle"), ("begin", "Busy"), ("read", "Reading")]);
    assert_eq!(inside.violation.unwrap().kind, ViolationKind::IllegalEdge);
    let start = report(source, &[("create", "Idle"), ("begin", "Reading")]);
    assert_eq!(start.violation.unwrap().kind, ViolationKind::WrongEvent { closest: None });
}

/// A diagram of nodes: first states, then composite states, then choices.
#[derive(Debug, Clone)]
struct Drawing {
    states: usize,
    /// For each node but the choices the composite state that it is in, which comes before it among those.
    inside: Vec<Option<usize>>,
    /// For each composite state: the child that its start leads to, and whether that child also ends it.
    starts: Vec<(Option<usize>, bool)>,
    choices: usize,
    arrows: Vec<(usize, usize, &'static str)>,
}

const LABELS: &[(&str, Option<&str>)] = &[
    ("go", Some("go")),
    ("go [fast]", Some("go")),
    ("stop(now) / log", Some("stop")),
    ("when it is ready", None),
    ("", None),
];
const EVENTS: &[&str] = &["go", "stop", "when it is ready", "teleport", "go [fast]"];

impl Drawing {
    fn composites(&self) -> usize {
        self.starts.len()
    }

    fn is_composite(&self, node: usize) -> bool {
        (self.states..self.states + self.composites()).contains(&node)
    }

    fn is_choice(&self, node: usize) -> bool {
        node >= self.states + self.composites()
    }

    fn name(&self, node: usize) -> String {
        match () {
            () if self.is_choice(node) => format!("C{node}"),
            () if self.is_composite(node) => format!("P{node}"),
            () => format!("S{node}"),
        }
    }

    fn text(&self) -> String {
        let mut text = "stateDiagram-v2\n".to_owned();
        (self.states + self.composites()..self.states + self.composites() + self.choices)
            .for_each(|choice| writeln!(text, "state {} <<choice>>", self.name(choice)).unwrap());
        self.body(None, &mut text);
        text.push_str("[*] --> S0\n");
        for (from, to, label) in &self.arrows {
            let label = if label.is_empty() { String::new() } else { format!(" : {label}") };
            writeln!(text, "{} --> {}{label}", self.name(*from), self.name(*to)).unwrap();
        }
        text
    }

    fn body(&self, of: Option<usize>, text: &mut String) {
        for node in (0..self.states + self.composites()).filter(|node| self.inside[*node] == of) {
            if !self.is_composite(node) {
                writeln!(text, "{}", self.name(node)).unwrap();
                continue;
            }
            writeln!(text, "state {} {{", self.name(node)).unwrap();
            self.body(Some(node), text);
            let (start, is_end) = self.starts[node - self.states];
            if let Some(start) = start {
                writeln!(text, "[*] --> {}", self.name(start)).unwrap();
                if is_end {
                    writeln!(text, "{} --> [*]", self.name(start)).unwrap();
                }
            }
            text.push_str("}\n");
        }
    }

    fn start(&self, composite: usize) -> Option<usize> {
        self.starts[composite - self.states].0
    }

    /// Is the node the other one, or somewhere in it?
    fn is_in(&self, node: usize, other: usize) -> bool {
        node == other || self.inside[node].is_some_and(|of| self.is_in(of, other))
    }

    /// Is the composite state left by its completion, once an instance is in that state?
    fn completes(&self, at: usize, composite: usize) -> bool {
        match self.starts[composite - self.states] {
            (Some(end), true) if self.is_composite(end) => self.is_in(at, end) && self.completes(at, end),
            (Some(end), true) => at == end,
            _ => self.is_in(at, composite),
        }
    }

    /// May an instance leave by the arrow, that is in the state?
    fn leaves(&self, at: usize, (from, _, label): (usize, usize, &str)) -> bool {
        if self.is_choice(from) || !self.is_in(at, from) {
            return false;
        }
        !self.is_composite(from) || !label.is_empty() || at == from || self.completes(at, from)
    }

    /// Where the arrow leads to: the state, the labels and the arrows on the way.
    fn ways(&self, arrow: usize) -> Vec<(usize, Vec<&'static str>, Vec<usize>)> {
        let (_, mut to, label) = self.arrows[arrow];
        let labels: Vec<&'static str> = (!label.is_empty()).then_some(label).into_iter().collect();
        while self.is_composite(to) {
            let Some(start) = self.start(to) else { break };
            to = start;
        }
        if !self.is_choice(to) {
            return vec![(to, labels, vec![arrow])];
        }
        let on = (0..self.arrows.len()).filter(|next| self.arrows[*next].0 == to);
        on.flat_map(|next| self.ways(next))
            .map(|(to, more, arrows)| (to, [labels.clone(), more].concat(), [vec![arrow], arrows].concat()))
            .collect()
    }

    /// What the event takes: arrows, told by their ends and by what an event can tell of their labels.
    fn takes(&self, at: usize, event: Option<&str>, to: usize) -> Option<BTreeSet<(usize, usize, &str)>> {
        let mut fits = Vec::new();
        for arrow in (0..self.arrows.len()).filter(|arrow| self.leaves(at, self.arrows[*arrow])) {
            for (target, labels, arrows) in self.ways(arrow) {
                if target == to {
                    let mut labels = labels.into_iter();
                    let first = labels.next().unwrap_or_default();
                    let whole = labels.fold(first.to_owned(), |whole, label| format!("{whole} [{label}]"));
                    let name = named(first);
                    fits.push((name.map_or(whole, str::to_owned), name.is_some(), arrows));
                }
            }
        }
        let of = |key: &str| {
            let same = fits.iter().filter(|(other, ..)| other == key).flat_map(|(.., arrows)| arrows);
            same.map(|arrow| self.key(*arrow)).collect::<BTreeSet<_>>()
        };
        let Some(event) = event else {
            return Some(fits.iter().flat_map(|(.., arrows)| arrows).map(|it| self.key(*it)).collect());
        };
        let by_name = fits.iter().find(|(key, ..)| key == event);
        by_name.or_else(|| fits.iter().find(|(_, is_held, _)| !is_held)).map(|(key, ..)| of(key))
    }

    fn key(&self, arrow: usize) -> (usize, usize, &str) {
        let (from, to, label) = self.arrows[arrow];
        (from, to, named(label).unwrap_or(label))
    }

    /// The states that an instance can be in.
    fn places(&self) -> Vec<usize> {
        let entered = |node: usize| {
            let by_start = self.starts.iter().any(|(start, _)| *start == Some(node));
            by_start || self.arrows.iter().any(|(_, to, _)| *to == node)
        };
        let is_empty = |node: usize| !self.inside.contains(&Some(node));
        let is_place = |node: &usize| {
            !self.is_composite(*node) || self.start(*node).is_none() && (is_empty(*node) || entered(*node))
        };
        (0..self.states + self.composites()).filter(is_place).collect()
    }
}

fn named(label: &str) -> Option<&'static str> {
    LABELS.iter().find(|(known, _)| *known == label).and_then(|(_, name)| *name)
}

prop_compose! {
    fn drawing()(states in 2..6_usize, composites in 0..4_usize, choices in 0..3_usize)
        (
            states in Just(states),
            choices in Just(choices),
            inside in prop::collection::vec(prop::option::of(any::<prop::sample::Index>()), states + composites),
            starts in prop::collection::vec(prop::option::of((any::<prop::sample::Index>(), any::<bool>())), composites),
            arrows in prop::collection::vec(
                (0..states + composites + choices, 0..states + composites + choices, prop::sample::select(LABELS)),
                1..12,
            ),
        )
    -> Drawing {
        let composites = starts.len();
        let mut drawing = Drawing { states, inside: vec![None; states + composites], starts: Vec::new(), choices, arrows: Vec::new() };
        for (node, of) in inside.iter().enumerate() {
            // A composite state is in an earlier one, so that none is in itself.
            let before = if node < states { composites } else { node - states };
            drawing.inside[node] = of.as_ref().filter(|_| before > 0 && node > 0).map(|of| states + of.index(before));
        }
        for (at, start) in starts.iter().enumerate() {
            let children: Vec<usize> = (0..states + composites).filter(|node| drawing.inside[*node] == Some(states + at)).collect();
            drawing.starts.push(match start {
                Some((start, is_end)) if !children.is_empty() => (Some(*start.get(&children)), *is_end),
                _ => (None, false),
            });
        }
        // Choices lead onward, and each leads somewhere.
        let first = states + composites;
        let onward = arrows.into_iter().filter(|(from, to, _)| *from < first || to > from || *to < first);
        drawing.arrows = onward.map(|(from, to, label)| (from, to, label.0)).collect();
        drawing.arrows.extend((first..first + choices).map(|choice| (choice, 1, "")));
        drawing
    }
}

proptest! {
    #[test]
    fn event_is_accepted_if_a_path_is_drawn_and_its_edges_counted(
        drawing in drawing(),
        steps in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(EVENTS)), 0..30),
    ) {
        let source = drawing.text();
        let graph = StateGraph::from_diagram(&parse(&source).unwrap(), "job").unwrap();
        let places = drawing.places();
        let named: BTreeSet<String> = places.iter().map(|place| drawing.name(*place)).collect();
        prop_assert_eq!(graph.states.iter().map(|state| state.name.clone()).collect::<BTreeSet<_>>(), named, "{}", source);
        let book = Rulebook::for_all(Rules::of_diagram("job", &graph, "job.mmd"));
        let mut at = 0;
        let mut events: Vec<Event<'static>> = vec![event(1, "a", "create", None, "S0").into_owned()];
        let mut counts = std::collections::BTreeMap::new();
        for (way, name) in steps {
            let near: Vec<usize> = places.iter().copied().filter(|to| drawing.takes(at, Some(name), *to).is_some()).collect();
            // Mostly along a way that is drawn, sometimes to any state.
            let to = if way.index(4) > 0 && !near.is_empty() { *way.get(&near) } else { *way.get(&places) };
            let (from, into) = (drawing.name(at), drawing.name(to));
            let before = check(&events, &book).violations;
            events.push(event(events.len() as u64 + 1, "a", name, Some(&from), &into).into_owned());
            let is_accepted = check(&events, &book).violations == before;
            let taken = drawing.takes(at, Some(name), to);
            prop_assert_eq!(is_accepted, taken.is_some(), "{} --> {} : {}\n{}", from, into, name, source);
            match taken {
                Some(arrows) => {
                    at = to;
                    arrows.into_iter().for_each(|arrow| *counts.entry(arrow).or_insert(0_u64) += 1);
                }
                None => drop(events.pop()),
            }
        }
        let coverage = check(&events, &book).coverage;
        let covered = coverage.lifecycle("job").unwrap();
        let all: BTreeSet<_> = places
            .iter()
            .flat_map(|from| places.iter().map(move |to| (*from, *to)))
            .filter_map(|(from, to)| drawing.takes(from, None, to))
            .flatten()
            .collect();
        let expected: BTreeSet<(String, String, &str, u64)> = all
            .into_iter()
            .map(|key| (drawing.name(key.0), drawing.name(key.1), key.2, counts.get(&key).copied().unwrap_or(0)))
            .collect();
        let got: BTreeSet<_> = covered
            .edges
            .iter()
            .map(|edge| (edge.from.clone(), edge.to.clone(), self::named(&edge.event).unwrap_or(&edge.event), edge.taken))
            .collect();
        prop_assert_eq!(got.len(), covered.edges.len());
        prop_assert_eq!(got, expected, "{}", source);
    }
}
