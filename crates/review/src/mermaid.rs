//! The author's diagram with the results of a check.

use runstate::diagram::{Diagram, Endpoint, EventLabel, ScopeId, StateId, parse};
use runstate::trace::{EdgeCount, LifecycleCoverage, Report, Rules, Violation, mark_mermaid, to_mermaid};

use crate::text::name;

/// The maximum number of drawn violations beside the first one.
const OTHERS: usize = 20;

/// Adds the results of a check to the author's diagram, or to the diagram of the rules without a source.
///
/// The source stays as it is: composites, choices, notes, the direction, comments and styles. Each label has the number of
/// times that its transition was taken, in brackets behind it. Entered states, current states and the states of the first
/// violation of the lifecycle have colours, and a legend explains the colours that occur. Illegal transitions are drawn with
/// their lines of the trace: that of the first violation, and up to twenty others. A state of its own counts the illegal events
/// without one. The report lists one violation of each instance; [`Checker::most_violations`](runstate::trace::Checker::most_violations)
/// sets the number. A transition whose statement cannot take a count, such as one with a comment behind it, has none; a state of
/// its own says how many these are.
///
/// A source that cannot take these statements, for instance since it ends inside one, has fewer of them.
///
/// # Example
/// ```
/// use runstate::diagram::{StateGraph, parse};
/// use runstate::trace::{Event, Rulebook, Rules, check};
/// use runstate_review::mermaid;
///
/// let source = "stateDiagram-v2\n    direction LR\n    [*] --> Idle\n    Idle --> Busy : begin [now]\n    Busy --> Idle\n";
/// let graph = StateGraph::from_diagram(&parse(source).unwrap(), "job").unwrap();
/// let book = Rulebook::for_all(Rules::of_diagram("job", &graph, "job.mmd"));
/// let line = |seq: u64, event: &str, from: &str, to: &str| {
///     let text = format!(
///         r#"{{"seq":{seq},"at_ms":0,"run":"r","lifecycle":"job","instance":"j","event":"{event}","from":{from},"to":"{to}"}}"#
///     );
///     Event::from_json(&text).unwrap().into_owned()
/// };
/// let events = [line(1, "create", "null", "Idle"), line(2, "begin", "\"Idle\"", "Busy"), line(3, "stop", "\"Busy\"", "Done")];
/// let drawn = mermaid(Some(source), book.rules("job").unwrap(), &check(&events, &book));
/// assert!(drawn.starts_with("stateDiagram-v2\n    direction LR\n    [*] --> Idle : (1)\n    Idle --> Busy : begin [now] (1)\n    Busy --> Idle : (0)\n"));
/// assert!(drawn.contains("    Busy --> trace_stranger_2 : illegal, trace line 3\n"));
/// assert!(parse(&drawn).is_ok());
/// ```
pub fn mermaid(source: Option<&str>, rules: &Rules, report: &Report) -> String {
    let marked = source.and_then(|source| {
        let diagram = parse(source).ok()?;
        let marked = mark_mermaid(source, &diagram, rules, report);
        // Where the source ends inside a statement, it has no part in the result.
        let appended = marked.strip_prefix(source.trim_end())?.to_owned();
        Some((source, diagram, appended))
    });
    let Some((source, diagram, appended)) = marked else {
        let drawn = to_mermaid(rules, Some(report));
        let first = of_rules(rules, report).next();
        let others =
            parse(&drawn).map(|read| others(&drawn, &read, rules, report, first)).unwrap_or_default();
        let legend = legend("legend_", "", &drawn, &drawn);
        return first_valid([format!("{drawn}{others}{legend}"), format!("{drawn}{legend}"), drawn]);
    };
    // The marks name the line of the first violation of these rules; another diagram may be in the same file.
    let line =
        appended.lines().rev().find_map(|line| line.trim().strip_prefix("%% trace line ")?.split_once(':'));
    let is_marked = |it: &&Violation| line.is_some_and(|(line, _)| line.parse() == Ok(it.line));
    let violation = report.violation.iter().chain(&report.others).find(is_marked);
    let illegal = violation.map(|it| illegal(&diagram, &appended, it)).unwrap_or_default();
    let others = others(source, &diagram, rules, report, violation);
    let legend = legend("trace_legend_", "trace_", source, &appended);
    let plain = source.trim_end();
    let covered = report.coverage.lifecycle(rules.name());
    let (counted, uncounted) =
        covered.map_or((plain.to_owned(), 0), |covered| counted(plain, &diagram, covered));
    let legend = legend + &without_count(source, uncounted);
    let drawn = first_valid([
        format!("{counted}{appended}{illegal}{others}{legend}"),
        format!("{counted}{appended}{illegal}{legend}"),
        format!("{counted}{appended}{legend}"),
        format!("{plain}{appended}{legend}"),
        format!("{plain}{appended}"),
    ]);
    // The ends of lines are those of this program, whatever editor wrote the source.
    drawn.replace("\r\n", "\n")
}

/// The first text that is a diagram, or else the last one.
fn first_valid<const N: usize>(texts: [String; N]) -> String {
    let mut last = String::new();
    for text in texts {
        if parse(&text).is_ok() {
            return text;
        }
        last = text;
    }
    last
}

/// A state that counts the transitions without a count.
fn without_count(source: &str, transitions: usize) -> String {
    let id = unused("trace_uncounted", source);
    match transitions {
        0 => String::new(),
        1 => line(&format!("state \"1 transition has no count\" as {id}")),
        more => line(&format!("state \"{more} transitions have no count\" as {id}")),
    }
}

/// The id with `_` behind it, until the source does not have it.
fn unused(id: &str, source: &str) -> String {
    let mut id = id.to_owned();
    while source.contains(&id) {
        id.push('_');
    }
    id
}

/// The source with a count behind each label, and the number of transitions whose statements cannot take one.
fn counted(source: &str, diagram: &Diagram, covered: &LifecycleCoverage) -> (String, usize) {
    let mut counts = Vec::new();
    let mut uncounted = 0;
    let mut starts = Vec::new();
    for (place, transition) in diagram.transitions.iter().enumerate() {
        let label = transition.label.as_ref().filter(|label| !label.text.is_empty());
        let shown = |taken: u64| match label {
            Some(label) => (label.span.end, place, format!(" ({taken})")),
            None => (transition.span.end, place, format!(" : ({taken})")),
        };
        if let (Endpoint::Start(ScopeId::ROOT), Endpoint::State(to)) = (transition.from, transition.to) {
            let state = covered.states.iter().find(|state| state.state == diagram[to].id);
            starts.push((to, state.map(|state| (state.created, shown(state.created)))));
            continue;
        }
        let (Endpoint::State(from), Endpoint::State(to)) = (transition.from, transition.to) else { continue };
        let (from, to) = (diagram[from].id.as_str(), diagram[to].id.as_str());
        let text = label.map_or("", |label| &label.text);
        let Some(edge) = covered.edges.iter().find(|edge| is_drawn_as(edge, from, text, to)) else {
            // A label with an entity, for instance, is another text in the diagram.
            uncounted += usize::from(from.contains('#') || to.contains('#') || text.contains('#'));
            continue;
        };
        counts.push(shown(edge.taken));
    }
    uncounted += with_starts(&mut counts, &starts, covered);
    counts.sort_by_key(|(at, ..)| *at);
    if let Some(out) = with_counts(source, diagram, &counts) {
        return (out, uncounted);
    }
    // A comment behind a transition, for instance, would contain the count.
    let all = counts.len();
    counts.retain(|count| with_counts(source, diagram, std::slice::from_ref(count)).is_some());
    match with_counts(source, diagram, &counts) {
        Some(out) => (out, uncounted + all - counts.len()),
        None => (source.to_owned(), uncounted + all),
    }
}

/// A transition from `[*]`, as its target with the number of creations and the count.
type Start = (StateId, Option<(u64, Count)>);
/// The end of a label or a statement, the number of the transition, and the text behind it.
type Count = (usize, usize, String);

/// Adds the counts of transitions from `[*]`. Returns the number of those without one: of two transitions to one state, the
/// trace does not tell which one was taken.
fn with_starts(counts: &mut Vec<Count>, starts: &[Start], covered: &LifecycleCoverage) -> usize {
    let is_single = |to: &StateId| starts.iter().filter(|(other, _)| other == to).count() == 1;
    let certain: Vec<&(u64, Count)> =
        starts.iter().filter(|(to, _)| is_single(to)).filter_map(|(_, count)| count.as_ref()).collect();
    // A composite state counts the creations in its states, which may have transitions of their own.
    let is_inside = |name: &str| covered.states.iter().any(|state| state.inside.iter().any(|it| it == name));
    let outermost = covered.states.iter().filter(|state| !is_inside(&state.state));
    let created: u64 = outermost.map(|state| state.created).sum();
    if certain.len() == starts.len() && certain.iter().map(|(created, _)| created).sum::<u64>() != created {
        return starts.len();
    }
    counts.extend(certain.iter().map(|(_, count)| count.clone()));
    starts.len() - certain.len()
}

/// The source with these counts; none where one changes more than its label.
fn with_counts(source: &str, diagram: &Diagram, counts: &[Count]) -> Option<String> {
    let mut out = source.to_owned();
    for (at, _, shown) in counts.iter().rev() {
        if !out.is_char_boundary(*at) {
            return None;
        }
        out.insert_str(*at, shown);
    }
    let read = parse(&out).ok()?;
    let is_as_meant = |(_, place, shown): &Count| {
        let label = |diagram: &Diagram| diagram.transitions.get(*place).and_then(|it| it.label.clone());
        let before = label(diagram).map(|label| label.text).unwrap_or_default();
        let after = label(&read).map(|label| label.text).unwrap_or_default();
        let shown = if before.is_empty() { shown.trim_start_matches([' ', ':']) } else { shown };
        after == format!("{before}{shown}")
    };
    (read.transitions.len() == diagram.transitions.len() && counts.iter().all(is_as_meant)).then_some(out)
}

fn is_drawn_as(edge: &EdgeCount, from: &str, label: &str, to: &str) -> bool {
    let name = |label| EventLabel::parse(label).map_or(label, |label| label.event);
    edge.from == from && edge.to == to && name(&edge.event) == name(label)
}

/// The illegal transition, between states of the diagram and the generated states of the marks; empty if a state has no id.
fn illegal(diagram: &Diagram, marks: &str, violation: &Violation) -> String {
    let mut strangers = marks.lines().filter_map(|line| {
        let (_, id) = line.trim().strip_prefix("state ")?.rsplit_once(" as ")?;
        id.starts_with("trace_stranger_").then(|| id.to_owned())
    });
    let mut id = |name: &str| diagram.state(name).map(|state| state.id.clone()).or_else(|| strangers.next());
    let from = match violation.from.as_deref() {
        None => Some("[*]".to_owned()),
        Some(from) => id(from),
    };
    let is_loop = violation.from.as_deref() == Some(&*violation.to);
    let to = if is_loop { from.clone() } else { id(&violation.to) };
    let ends = from.zip(to).map(|(from, to)| format!("{from} --> {to}"));
    ends.map(|ends| line(&format!("{ends} : illegal, trace line {}", violation.line))).unwrap_or_default()
}

/// The listed violations of these rules.
fn of_rules<'r>(rules: &'r Rules, report: &'r Report) -> impl Iterator<Item = &'r Violation> {
    let all = report.violation.iter().chain(&report.others);
    all.filter(|violation| violation.rules() == Some(rules.name()))
}

/// The illegal transitions of other violations than the marked one, and a state that counts the illegal events without one.
fn others(
    source: &str,
    diagram: &Diagram,
    rules: &Rules,
    report: &Report,
    marked: Option<&Violation>,
) -> String {
    let mut out = String::new();
    let mut strangers: Vec<String> = Vec::new();
    let mut id = |out: &mut String, name: &str| {
        if let Some(state) = diagram.state(name) {
            return state.id.clone();
        }
        let place = strangers.iter().position(|it| it == name).unwrap_or_else(|| {
            strangers.push(name.to_owned());
            let id = unused(&format!("trace_other_{}", strangers.len()), source);
            *out += &line(&format!("state \"{}\" as {id}", text(name)));
            strangers.len() - 1
        });
        unused(&format!("trace_other_{}", place + 1), source)
    };
    let ends = |violation: &Violation| (violation.from.clone(), violation.to.clone());
    let mut drawn = Vec::from_iter(marked.map(ends));
    let mut events = 0;
    for violation in of_rules(rules, report) {
        let ends = ends(violation);
        if drawn.contains(&ends) {
            events += 1;
        } else if drawn.len() <= OTHERS {
            let from = ends.0.as_deref().map_or("[*]".to_owned(), |from| id(&mut out, from));
            let to = id(&mut out, &ends.1);
            out += &line(&format!("{from} --> {to} : illegal, trace line {}", violation.line));
            drawn.push(ends);
            events += 1;
        }
    }
    let all = report.coverage.lifecycle(rules.name()).map_or(events, |covered| covered.violations);
    let id = unused("trace_more", source);
    match all.saturating_sub(events) {
        0 => out,
        1 => out + &line(&format!("state \"1 more illegal event\" as {id}")),
        more => out + &line(&format!("state \"{more} more illegal events\" as {id}")),
    }
}

/// A name as the text of a state: characters with a meaning are entities.
fn text(of: &str) -> String {
    let mut out = String::new();
    for c in name(of).chars() {
        let is_plain = c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '…');
        if is_plain { out.push(c) } else { out += &format!("#{};", u32::from(c)) }
    }
    out
}

/// A state for each colour of the marks. A state is not connected, so that no layout changes.
fn legend(ids: &str, classes: &str, source: &str, marks: &str) -> String {
    let mut out = String::new();
    for (class, text) in [("visited", "visited"), ("current", "current at the end"), ("illegal", "illegal")] {
        let (stated, appended) = (format!(" {classes}{class}"), format!(":::{classes}{class}"));
        let has = |line: &str| {
            line.trim_start().starts_with("class ") && line.ends_with(&stated) || line.ends_with(&appended)
        };
        if marks.lines().any(has) {
            let id = unused(&format!("{ids}{class}"), source);
            out += &line(&format!("state \"Legend: {text}\" as {id}"));
            out += &line(&format!("class {id} {classes}{class}"));
        }
    }
    out
}

fn line(text: &str) -> String {
    format!("    {text}\n")
}
