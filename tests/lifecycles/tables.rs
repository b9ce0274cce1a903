//! The tables in the documents of the five core lifecycles, held against graphs and transcription: what they say of states,
//! edges and captions is checked, not believed.

use crate::proof::{TRANSCRIPTIONS, Table};

const CORE: usize = 5;

/// The rows of all tables in `text` whose header begins with these cells; each row as its trimmed cells.
fn rows<'a>(text: &'a str, header: &[&str]) -> Vec<Vec<&'a str>> {
    let cells = |line: &'a str| -> Option<Vec<&'a str>> {
        let row = line.strip_prefix('|')?.strip_suffix('|')?;
        Some(row.split('|').map(str::trim).collect())
    };
    let mut found = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match cells(line) {
            Some(row) if row.starts_with(header) => inside = true,
            Some(row) if inside && row[0] != "---" => found.push(row),
            Some(_) => {}
            None => inside = false,
        }
    }
    found
}

fn core() -> impl Iterator<Item = (&'static Table, &'static runstate::Document)> {
    TRANSCRIPTIONS.into_iter().zip(runstate::documents()).take(CORE)
}

#[test]
fn the_states_are_those_of_the_graph_in_order() {
    for (_, document) in core() {
        let got: Vec<_> = rows(document.text, &["state", "what is true"]).iter().map(|row| row[0]).collect();
        let expected: Vec<_> = document.graph.states.iter().map(|state| state.name).collect();
        assert_eq!(got, expected, "{}", document.path);
    }
}

#[test]
fn the_drawn_edges_have_the_captions_of_the_source() {
    for (documented, document) in core() {
        let rows: Vec<_> = rows(document.text, &["from", "event", "to", "the document's caption"])
            .iter()
            .map(|row| (row[0], row[1].trim_matches('`'), row[2], row[3].replace('`', "")))
            .collect();
        let expected = documented
            .drawn
            .iter()
            .map(|(from, event, to, caption)| (*from, *event, *to, (*caption).to_owned()));
        assert_eq!(rows, expected.collect::<Vec<_>>(), "{}", document.path);
    }
}

#[test]
fn the_events_are_those_of_the_graph() {
    for (_, document) in core() {
        for row in rows(document.text, &["from", "event", "to"]) {
            for from in row[0].split(", ") {
                let edge = document.graph.edge(from, row[1].trim_matches('`'));
                assert_eq!(edge.map(|edge| edge.to), Some(row[2]), "{}: {from}", document.path);
            }
        }
    }
}

/// One table row stands for several edges from prose; together they are the transcribed ones.
#[test]
fn the_edges_from_prose_are_marked() {
    for (documented, document) in core() {
        let mut got: Vec<_> = rows(document.text, &["from", "event", "to", "why"])
            .iter()
            .inspect(|row| assert!(row[3].starts_with("from prose: "), "{}", document.path))
            .flat_map(|row| {
                row[0].split(", ").map(|from| (from, row[1].trim_matches('`'), row[2])).collect::<Vec<_>>()
            })
            .collect();
        let mut expected: Vec<_> =
            documented.prose.iter().map(|(from, event, to, _)| (*from, *event, *to)).collect();
        got.sort_unstable();
        expected.sort_unstable();
        assert_eq!(got, expected, "{}", document.path);
    }
}

/// Where the sources are silent or disagree, the document of a lifecycle names the decision by its anchor in
/// `docs/decisions.md`. Decisions about replies to decisions concern no lifecycle.
#[test]
fn every_decision_stands_in_a_document() {
    let decisions = include_str!("../../docs/decisions.md");
    let (_, rest) = decisions.split_once("## The two-layer loop").expect("it has that part");
    let (rows, _) = rest.split_once("\n## ").expect("another part follows");
    let anchors: Vec<_> =
        rows.split("<a id=\"").skip(1).map(|row| row.split_once('"').expect("it is closed").0).collect();
    let listed =
        rows.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| decision |")).count();
    assert_eq!(anchors.len(), listed, "each decision has an anchor");
    assert!(listed > 0);
    let elsewhere = ["question-digest", "replies", "actors"];
    for anchor in anchors.into_iter().filter(|anchor| !elsewhere.contains(anchor)) {
        let mut documents = core().filter_map(|(_, document)| document.text.split_once("## Decisions\n"));
        assert!(documents.any(|(_, decided)| decided.contains(&format!("`{anchor}`"))), "{anchor}");
    }
}
