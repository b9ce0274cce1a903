//! The texts of `tests/corpus`, held against the built-in phrases and drift detection.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use runstate::stream::drift::{DriftDetector, DriftKind};
use runstate::stream::guardrail::{Guardrail, OutputFacts, Patterns, Severity};

/// Lines of a list: number, kind and half, and the text.
fn texts(list: &str, folder: &str) -> Vec<(String, String, String)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let lines = fs::read_to_string(corpus.join(list)).unwrap();
    let read = |line: &str| {
        let (number, rest) = line.split_once(',').unwrap();
        let kind = rest.split_once(',').unwrap().0;
        let half = line.rsplit_once(',').unwrap().1;
        let text = fs::read_to_string(corpus.join(folder).join(format!("{number}.txt"))).unwrap();
        (kind.to_owned(), half.to_owned(), text)
    };
    lines.lines().skip(1).map(read).collect()
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
    let mut flagged: BTreeMap<String, Vec<(String, Vec<&str>)>> = BTreeMap::new();
    for (kind, half, text) in texts("manifest.csv", "ordinary") {
        let (kinds, worst) = found(&mut rule, &text);
        assert!(worst <= Some(Severity::Warning));
        if !kinds.is_empty() {
            flagged.entry(half).or_default().push((kind, kinds));
        }
    }
    // Of 254 and 255 texts. Texts that are written to provoke a finding are among them.
    assert!(flagged["tune"].len() <= 2, "{:?}", flagged["tune"]);
    assert!(flagged["measure"].len() <= 4, "{} of the texts to measure", flagged["measure"].len());
}

#[test]
fn most_true_texts_are_found() {
    let mut rule = Patterns::builtin();
    let mut counts: BTreeMap<(String, String), [usize; 2]> = BTreeMap::new();
    for (kind, half, text) in texts("true.csv", "true") {
        let is_found = found(&mut rule, &text).0.contains(&kind.as_str());
        let [found, of] = counts.entry((half, kind)).or_default();
        (*found, *of) = (*found + usize::from(is_found), *of + 1);
    }
    let total = |half: &str| {
        let counts = counts.iter().filter(|((of, _), _)| of == half).map(|(_, [found, of])| (found, of));
        counts.fold((0, 0), |(found, of), (more, all)| (found + more, of + all))
    };
    let ((tune, tune_of), (measure, measure_of)) = (total("tune"), total("measure"));
    assert!(tune * 10 >= tune_of * 9, "{tune} of {tune_of}");
    assert!(measure * 100 >= measure_of * 68, "{measure} of {measure_of}");
    // These are found by their surface, which texts of other hands do not share.
    let weak = ["tone_shift", "format_collapse", "leak", "placeholder"];
    for ((half, kind), [found, of]) in counts {
        assert!(weak.contains(&kind.as_str()) || found * 100 >= of * 60, "{half} {kind}: {found} of {of}");
    }
}
