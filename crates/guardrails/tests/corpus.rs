//! The texts of `crates/guardrails/tests/corpus`, held against the built-in phrases and drift detection.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use runstate_guardrails::drift::{DriftDetector, DriftKind};
use runstate_guardrails::{Guardrail, OutputFacts, Patterns, Severity};

/// The parts of the corpus, in the order in which they were made. The fifth and the sixth have no ordinary texts, and
/// the eighth and the ninth have no true ones.
const PARTS: [&str; 9] = ["", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"];

/// The columns of the figures.
const TUNE: usize = 0;
const MEASURE: usize = 1;

/// Of each text that a list names: its kind, its column, and the text.
fn texts(list: &str, folder: &str) -> Vec<(String, usize, String)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut all = vec![];
    for part in PARTS {
        let part_of = corpus.join(part);
        if matches!((part, folder), ("fifth" | "sixth", "ordinary") | ("eighth" | "ninth", "true")) {
            continue;
        }
        for line in fs::read_to_string(part_of.join(list)).unwrap().lines().skip(1) {
            let (number, rest) = line.split_once(',').unwrap();
            let kind = rest.split_once(',').unwrap().0;
            let text = fs::read_to_string(part_of.join(folder).join(format!("{number}.txt"))).unwrap();
            // No text of these was read to change a pattern.
            let column = match (part, folder) {
                ("seventh", "true") | ("eighth", "ordinary") => MEASURE,
                ("ninth", "ordinary") if line.ends_with(",measure") => MEASURE,
                _ => TUNE,
            };
            all.push((kind.to_owned(), column, text));
        }
    }
    all
}

/// Kinds that are found in a text, as the corpus names them, and the worst severity.
fn found(rule: &mut Patterns, text: &str) -> (Vec<&'static str>, Option<Severity>) {
    rule.reset();
    rule.streaming(text, text);
    let said = rule.complete(text, &OutputFacts::TEXT);
    let names = [
        ("refusal", "refusal"),
        ("meta-commentary", "meta"),
        ("instruction-leak", "leak"),
        ("placeholder", "placeholder"),
    ];
    let mut kinds: Vec<&str> = names
        .into_iter()
        .filter(|(name, _)| said.iter().any(|said| said.message.ends_with(name)))
        .map(|(_, kind)| kind)
        .collect();
    let drifts = |kind: &DriftKind| DriftDetector::of([*kind]).token(text).is_some();
    kinds.extend(DriftKind::ALL.into_iter().filter(drifts).map(DriftKind::name));
    (kinds, said.into_iter().map(|said| said.severity).max())
}

#[test]
fn few_ordinary_texts_are_flagged_and_none_at_error() {
    let mut rule = Patterns::builtin();
    let mut counts: BTreeMap<(usize, String), [usize; 2]> = BTreeMap::new();
    let mut failed = 0;
    for (kind, column, text) in texts("manifest.csv", "ordinary") {
        let (kinds, worst) = found(&mut rule, &text);
        let mut detector = DriftDetector::new();
        let drift = detector.token(&text);
        let is_drifted = drift.as_ref().is_some_and(|drift| detector.fails(drift));
        failed += usize::from(worst > Some(Severity::Warning) || is_drifted);
        // `source/rust` and `own/letter` are of the kinds `source` and `own`.
        let kind = kind.split('/').next().unwrap().to_owned();
        let [flagged, of] = counts.entry((column, kind)).or_default();
        (*flagged, *of) = (*flagged + usize::from(!kinds.is_empty()), *of + 1);
    }
    assert_eq!(failed, 0, "without a word of the user no ordinary text fails an attempt");
    // Of the texts that others wrote fewer than one in a hundred are warned of.
    for (column, least) in [(TUNE, 1_000), (MEASURE, 200)] {
        let drawn = counts.iter().filter(|((of, kind), _)| *of == column && kind != "own");
        let [flagged, of] = drawn.fold([0, 0], |[flagged, of], (_, [more, all])| [flagged + more, of + all]);
        assert!(flagged * 100 < of && of >= least, "column {column}: {flagged} of {of}");
    }
    assert_figures(&counts, "flagged ordinary texts");
}

#[test]
fn true_texts_are_found_as_often_as_the_figures_say() {
    let mut rule = Patterns::builtin();
    let mut counts: BTreeMap<(usize, String), [usize; 2]> = BTreeMap::new();
    for (kind, column, text) in texts("true.csv", "true") {
        let is_found = found(&mut rule, &text).0.contains(&kind.as_str());
        let [found, of] = counts.entry((column, kind)).or_default();
        (*found, *of) = (*found + usize::from(is_found), *of + 1);
    }
    // More than four in five.
    for (column, least) in [(TUNE, 600), (MEASURE, 100)] {
        let of_column = counts.iter().filter(|((of, _), _)| *of == column);
        let [found, of] = of_column.fold([0, 0], |[found, of], (_, [more, all])| [found + more, of + all]);
        assert!(found * 5 > of * 4 && of >= least, "column {column}: {found} of {of}");
    }
    assert_figures(&counts, "true texts found");
}

/// The figures by kind, as docs/rules.md has them.
fn assert_figures(counts: &BTreeMap<(usize, String), [usize; 2]>, what: &str) {
    let columns: BTreeSet<usize> = counts.keys().map(|(column, _)| *column).collect();
    let kinds: BTreeSet<&str> = counts.keys().map(|(_, kind)| kind.as_str()).collect();
    let row = |name: &str, is_meant: &dyn Fn(&str) -> bool| {
        let cells = columns.iter().map(|column| {
            let of = counts.iter().filter(|((of, kind), _)| of == column && is_meant(kind));
            let [count, of] = of.fold([0, 0], |[count, of], (_, [more, all])| [count + more, of + all]);
            format!(" {count} of {of} |")
        });
        format!("| {name} |{}", cells.collect::<String>())
    };
    let mut rows = vec![];
    rows.extend(kinds.into_iter().map(|kind| row(kind, &|of| of == kind)));
    rows.push(row("all", &|_| true));
    let heads: String = columns.iter().map(|of| format!(" {} |", ["tune", "measure"][*of])).collect();
    let rule = " --- |".repeat(columns.len());
    let table = format!("| {what} |{heads}\n| --- |{rule}\n{}\n", rows.join("\n"));
    let docs = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md")).unwrap();
    assert!(docs.contains(&table), "docs/rules.md has other figures:\n{table}");
}
