//! The texts of `tests/corpus`, held against the built-in phrases and drift detection.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use runstate::stream::drift::{DriftDetector, DriftKind};
use runstate::stream::guardrail::{Guardrail, OutputFacts, Patterns, Severity};

/// The parts of the corpus, in the order in which they were made. Half of the last is measured, and no pattern was changed by it.
const PARTS: [&str; 4] = ["", "second", "third", "fourth"];

/// Of each text that a list names: its kind, whether it is measured, and the text.
fn texts(list: &str, folder: &str) -> Vec<(String, bool, String)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut all = vec![];
    for part in PARTS {
        let part_of = corpus.join(part);
        for line in fs::read_to_string(part_of.join(list)).unwrap().lines().skip(1) {
            let (number, rest) = line.split_once(',').unwrap();
            let kind = rest.split_once(',').unwrap().0;
            let text = fs::read_to_string(part_of.join(folder).join(format!("{number}.txt"))).unwrap();
            all.push((kind.to_owned(), part == "fourth" && line.ends_with(",measure"), text));
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
    let mut counts: BTreeMap<(bool, String), [usize; 2]> = BTreeMap::new();
    for (kind, measured, text) in texts("manifest.csv", "ordinary") {
        let (kinds, worst) = found(&mut rule, &text);
        assert!(worst <= Some(Severity::Warning));
        // `source/rust` and `own/letter` are of the kinds `source` and `own`.
        let kind = kind.split('/').next().unwrap().to_owned();
        let [flagged, of] = counts.entry((measured, kind)).or_default();
        (*flagged, *of) = (*flagged + usize::from(!kinds.is_empty()), *of + 1);
    }
    assert_figures(&counts, "flagged ordinary texts");
}

#[test]
fn true_texts_are_found_as_often_as_the_figures_say() {
    let mut rule = Patterns::builtin();
    let mut counts: BTreeMap<(bool, String), [usize; 2]> = BTreeMap::new();
    for (kind, measured, text) in texts("true.csv", "true") {
        let is_found = found(&mut rule, &text).0.contains(&kind.as_str());
        let [found, of] = counts.entry((measured, kind)).or_default();
        (*found, *of) = (*found + usize::from(is_found), *of + 1);
    }
    assert_figures(&counts, "true texts found");
}

/// The figures by kind, as docs/rules.md has them.
fn assert_figures(counts: &BTreeMap<(bool, String), [usize; 2]>, what: &str) {
    let cell = |measured: bool, kind: &str| {
        let [count, of] = counts.get(&(measured, kind.to_owned())).copied().unwrap_or_default();
        format!("{count} of {of}")
    };
    let mut rows = vec![];
    let kinds: BTreeSet<&str> = counts.keys().map(|(_, kind)| kind.as_str()).collect();
    for kind in kinds {
        rows.push(format!("| {kind} | {} | {} |", cell(false, kind), cell(true, kind)));
    }
    let all = |measured: bool| {
        let of = counts.iter().filter(|((of, _), _)| *of == measured).map(|(_, counts)| counts);
        let [count, of] = of.fold([0, 0], |[count, of], [more, all]| [count + more, of + all]);
        format!("{count} of {of}")
    };
    rows.push(format!("| all | {} | {} |", all(false), all(true)));
    let table = format!("| {what} | tune | measure |\n| --- | --- | --- |\n{}\n", rows.join("\n"));
    let docs = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md")).unwrap();
    assert!(docs.contains(&table), "docs/rules.md has other figures:\n{table}");
}
