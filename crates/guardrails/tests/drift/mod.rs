//! Drift.

mod plain;

use proptest::prelude::*;
use runstate_guardrails::Severity;
use runstate_guardrails::drift::{Drift, DriftDetector, DriftKind};

use super::cutting::{cases, cut_by};

const WORDS: &[&str] = &[
    "the ",
    "river ",
    "stone ",
    "of ",
    "and ",
    "light, ",
    "walks ",
    "7 ",
    "Every ",
    "house. ",
    "sea ",
    "don't ",
    "été ",
    "日",
    "a ",
    "cul-de-sac ",
    "NATO ",
    "(12.5 km) ",
];
const MARKED: &[&str] = &["maybe ", "I think ", "it\u{2019}s  possible ", "perhaps, ", "it "];
const SCRIPTS: &[&str] = &["и ", "вот ", "καὶ ", "שלום ", "გზა ", "日 ", "stone ", "of "];
const LINES: &[&str] =
    &["# Head\n", "  * item\n", "12. twelve\n", "{\"a\": 1},\n", "\n", "and so on\n", " \t\n"];

fn some_of(parts: &'static [&'static str], sizes: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(parts), sizes).prop_map(|parts| parts.concat())
}

fn segment() -> impl Strategy<Value = String> {
    prop_oneof![
        some_of(WORDS, 0..120),
        (some_of(WORDS, 1..12), 1..30usize).prop_map(|(unit, copies)| unit.repeat(copies)),
        (some_of(MARKED, 1..25), some_of(WORDS, 0..60)).prop_map(|(marked, words)| words + &marked),
        (prop::sample::select(MARKED), 1..25usize).prop_map(|(mark, times)| mark.repeat(times)),
        some_of(LINES, 0..25),
        (prop::sample::select(LINES), 1..12usize).prop_map(|(line, times)| line.repeat(times)),
        some_of(SCRIPTS, 0..40),
        // A word that goes round.
        ("[a-c1]{1,13}", 1..60usize).prop_map(|(unit, copies)| unit.repeat(copies)),
        // Noise.
        "[#-&*-9;->@BCDFGKLMQ-SVWXZ^_{-~]{0,700}",
        prop::sample::select(vec!["x", "word "]).prop_map(|unit| unit.repeat(400)),
    ]
}

/// The detector tells at the token after which the plain checks reach the confidence, and tells the same.
fn tells_with(
    kind: DriftKind,
    peak: impl Fn(&str) -> f64,
    tokens: &[String],
    bar: f64,
) -> Result<(), TestCaseError> {
    let text = tokens.concat();
    let ends: Vec<usize> = tokens
        .iter()
        .scan(0, |end, token| {
            *end += token.len();
            Some(*end)
        })
        .collect();
    let mut detector = DriftDetector::of([kind]).everywhere().from_confidence(bar);
    let told: Vec<(usize, Drift)> =
        tokens.iter().enumerate().filter_map(|(at, token)| Some((at, detector.token(token)?))).collect();
    // What a beginning of the text reaches, a longer one reaches too.
    let first = ends.partition_point(|end| peak(&text[..*end]) < bar);
    let Some(end) = ends.get(first) else {
        prop_assert_eq!(told, []);
        return Ok(());
    };
    let peak = peak(&text[..*end]);
    prop_assume!((peak - bar).abs() > 1e-4);
    prop_assert_eq!(told.len(), 1, "{} {} within {:?}", kind, peak, &text[..*end]);
    let (at, drift) = &told[0];
    prop_assert_eq!(*at, first, "{:?}", &text[..*end]);
    prop_assert_eq!(&drift.kinds, &[kind]);
    prop_assert!((drift.confidence - peak).abs() < 1e-4, "{}: {} {}", kind, drift.confidence, peak);
    Ok(())
}

fn drifting() -> impl Strategy<Value = (Vec<String>, f64)> {
    let text = prop::collection::vec(segment(), 1..6).prop_map(|segments| segments.concat());
    let bar = prop::sample::select(vec![0.0999, 0.2999, 0.4999, 0.6999, 0.8999]);
    (text, 1..4u8, any::<u64>(), bar).prop_map(|(text, rarity, seed, bar)| (cut_by(&text, rarity, seed), bar))
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn repetition_is_told_with_the_plain_check((tokens, bar) in drifting()) {
        tells_with(DriftKind::Repetition, plain::repetition, &tokens, bar)?;
    }

    #[test]
    fn hedging_is_told_with_the_plain_check((tokens, bar) in drifting()) {
        tells_with(DriftKind::Hedging, plain::hedging, &tokens, bar)?;
    }

    #[test]
    fn a_spike_of_entropy_is_told_with_the_plain_check((tokens, bar) in drifting()) {
        tells_with(DriftKind::EntropySpike, plain::entropy, &tokens, bar)?;
    }
}

/// Plain prose of some length, none of it said twice.
fn prose(words: usize) -> String {
    let nouns = [
        "river", "stone", "harbour", "winter", "letter", "garden", "engine", "market", "bridge", "candle",
        "meadow",
    ];
    let verbs = ["carries", "holds", "finds", "leaves", "turns", "meets", "crosses"];
    let others = [
        "old", "quiet", "distant", "bright", "narrow", "patient", "heavy", "early", "hidden", "northern",
        "common", "plain", "bare",
    ];
    (0..words / 5)
        .map(|n| format!("the {} {} {} {}. ", others[n % 13], nouns[n % 11], verbs[n % 7], nouns[n * 3 % 10]))
        .collect()
}

fn tells(text: &str) -> Vec<DriftKind> {
    let mut detector = DriftDetector::new();
    cut_by(text, 2, 7).iter().find_map(|token| detector.token(token)).map_or(vec![], |drift| {
        assert!((0.7..=1.0).contains(&drift.confidence), "{drift}");
        drift.kinds
    })
}

#[test]
fn each_kind_is_told_of_a_text_that_shows_it_and_of_no_other() {
    assert_eq!(tells(&prose(1_000)), []);
    assert_eq!(tells(&(prose(200) + &"and so we go on and on. ".repeat(30))), [DriftKind::Repetition]);
    let hedged: String = prose(300).replace(". ", ", perhaps. ");
    assert_eq!(tells(&(prose(100) + &hedged)), [DriftKind::Hedging]);
    let mut seed = 1u32;
    let noise: String = (0..600)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'!' + (seed >> 24) as u8 % 94)
        })
        .collect();
    assert_eq!(tells(&(prose(600) + &noise)), [DriftKind::EntropySpike]);
}

/// A sentence that turns into noise within its line, and a line of noise behind sentences. What stands in lists, tables and code is none.
#[test]
fn a_line_that_turns_into_what_is_no_word_is_told() {
    let sentence = "Of all the roads to the sea it is the one by the old mill that we took, and it was the best of them. ";
    let noise = "]]> ## 0x3f x7 {{ }} ;; q9z vfh= ^^ 4a1 ::: // d8 r2r \\\\ && zz9 <> k3 ;;; %% ## t1 ";
    let spikes = |text: &str| DriftDetector::of([DriftKind::EntropySpike]).token(text).is_some();
    let lines = sentence.repeat(2) + "\n";
    assert!(spikes(&format!("{sentence}{noise}")));
    assert!(spikes(&format!("{lines}{noise}")));
    for quiet in [
        format!("{lines}    {noise}"),
        format!("{lines}| {noise}|\n"),
        format!("{lines}```\n{noise}\n```\n{lines}"),
        format!("{sentence}The years were {}.", "1901, ".repeat(30)),
        format!("{noise}\n{lines}"),
        lines.repeat(20),
    ] {
        assert!(!spikes(&quiet), "{quiet}");
    }
    let salad =
        "of in with to by at than which as for from the that an or if but as so of the then in on at by we ";
    assert!(spikes(&format!("{sentence}{salad}")));
    assert!(
        !spikes(&format!("{sentence}{}", "and then we ".repeat(8))),
        "few words that differ are a circle"
    );
}

/// Data behind a sentence have one shape, and noise has many.
#[test]
fn data_behind_a_sentence_are_no_noise() {
    let sentence = "Of all the roads to the sea it is the one by the old mill that we took, and it was the best of them: ";
    for data in [
        "3:2 1:0 4:4 2:1 ".repeat(8),
        "--jobs=4 --release -v --target=x86_64 -p --no-run --bin=a -q ".repeat(4),
        (0..30).map(|n| format!("https://example.org/a/b{n}?page={n}&of=30 ")).collect(),
        (0..40).map(|n| format!("n{n}={}% ", n * 7 % 101)).collect(),
        "x + y = z; a * b = c; ".repeat(6),
        "v1.2.3 v1.2.4-rc.1 v2.0.0 ".repeat(10),
    ] {
        let detector = |text: &str| DriftDetector::of([DriftKind::EntropySpike]).token(text);
        assert_eq!(detector(&format!("{sentence}{data}")), None, "{data}");
        assert_eq!(detector(&format!("{}\n{data}", sentence.repeat(2))), None, "{data}");
    }
}

/// Words that go round are told long before the window is full of them, unless a number stands in each round.
#[test]
fn a_circle_of_words_is_told_behind_a_long_text() {
    let told = |text: &str| DriftDetector::of([DriftKind::Repetition]).token(text).is_some();
    let round = "the harbour is open again and all the boats are home ";
    assert!(told(&(prose(400) + &round.repeat(5))));
    assert!(!told(&(prose(400) + &round.repeat(3))));
    let counted: String = (0..5).map(|n| format!("{n}: {round}")).collect();
    assert!(!told(&(prose(400) + &counted)));
    // A refrain comes again behind a verse.
    let song: String = (0..4).map(|n| prose(40 + 60 * n)[60 * n..].to_owned() + round).collect();
    assert!(!told(&song));
}

#[test]
fn the_windows_are_as_long_as_they_say() {
    // Seven hedges in a hundred words, the first of them the hundredth before the last.
    let hedged = |between: usize| {
        let text = String::from("maybe ") + &"river ".repeat(between) + &"maybe ".repeat(6);
        DriftDetector::of([DriftKind::Hedging]).token(&text).is_some()
    };
    assert_eq!((hedged(94), hedged(95)), (true, false));
    // Four hedges in the first fifty words.
    let few =
        |words: usize| DriftDetector::of([DriftKind::Hedging]).token(&"perhaps ".repeat(words)).is_some();
    assert_eq!((few(3), few(4)), (false, true));
    // Of one word thirty-three groups of three words, which are thirty-five words: all but the first one came before.
    let circle =
        |words: usize| DriftDetector::of([DriftKind::Repetition]).token(&"so ".repeat(words)).is_some();
    assert_eq!((circle(34), circle(35)), (false, true));
}

#[test]
fn an_attempt_begins_afresh_or_from_its_checkpoint() {
    let circles = "round and round it goes. ".repeat(40);
    let mut detector = DriftDetector::new();
    assert!(detector.token(&circles).is_some());
    assert_eq!(detector.token(&circles), None, "once in an attempt");
    detector.reset();
    assert!(detector.token(&circles).is_some());
    assert!(detector.resume(&circles).is_some(), "the checkpoint itself drifts");

    // The words of the checkpoint are what later text is compared with.
    let (once, more) = (prose(30), prose(30).repeat(3));
    assert_eq!(detector.resume(&once), None);
    assert_eq!(detector.token(&more).unwrap().kinds, [DriftKind::Repetition]);
    detector.reset();
    assert_eq!(detector.token(&more), None);
}

/// Ordinary texts look like drift once in a while: by itself that is a warning, told once, and hides no other drift.
#[test]
fn drift_is_a_warning_unless_it_is_said_to_be_an_error() {
    let hedged = prose(200) + &"maybe so. Perhaps not. ".repeat(5);
    let circles = "round and round it goes. ".repeat(40);
    let mut detector = DriftDetector::of([DriftKind::Hedging, DriftKind::Repetition])
        .severity(DriftKind::Repetition, Severity::Error);
    let warning = detector.token(&(hedged.clone() + "perhaps ")).unwrap();
    assert_eq!((&*warning.kinds, detector.fails(&warning)), (&[DriftKind::Hedging][..], false));
    assert_eq!(detector.token("perhaps maybe "), None, "once");
    let drift = detector.token(&circles).unwrap();
    assert_eq!((&*drift.kinds, detector.fails(&drift)), (&[DriftKind::Repetition][..], true));
    let mut strict = DriftDetector::new().severity(DriftKind::Hedging, Severity::Error);
    let drift = strict.token(&(hedged + "perhaps ")).unwrap();
    assert!(strict.fails(&drift), "{drift}");
    for kind in DriftKind::ALL {
        let drift: Drift =
            serde_json::from_value(serde_json::json!({"kinds": [kind], "confidence": 1.0})).unwrap();
        assert!(!DriftDetector::new().fails(&drift), "{kind}");
        assert!(DriftDetector::new().severity(kind, Severity::Error).fails(&drift), "{kind}");
        assert!(DriftDetector::new().each(Severity::Fatal).fails(&drift), "{kind}");
    }
}

#[test]
fn several_kinds_at_once_are_told_in_order() {
    let text = prose(200) + &"maybe it might, perhaps it seems. ".repeat(40);
    let mut detector = DriftDetector::of([DriftKind::Hedging, DriftKind::Repetition]);
    let drift = detector.token(&text).unwrap();
    assert_eq!(drift.kinds, [DriftKind::Repetition, DriftKind::Hedging]);
    assert_eq!(drift.confidence, 1.0);
    assert_eq!(drift.to_string(), "the output drifts: repetition, hedging (confidence 1.00)");
    let json = serde_json::to_string(&drift).unwrap();
    assert_eq!(json, r#"{"kinds":["repetition","hedging"],"confidence":1.0}"#);
    assert_eq!(DriftDetector::of([]).token(&text), None);
    assert_eq!(
        DriftDetector::of([]).from_confidence(0.0).token(&text),
        None,
        "what is not looked for is not found"
    );
}

#[test]
fn code_and_quotations_drift_only_where_they_are_looked_into() {
    let line = "and then we go on ".repeat(30);
    let lines = "and then we go on\n".repeat(60);
    let of = |text: &str| DriftDetector::of([DriftKind::Repetition]).token(text).is_some();
    for hidden in [
        format!("So:\n```\n{lines}```\n"),
        format!("So:\n~~~ log\n{lines}~~~\n"),
        format!("So:\n\n{}\n", lines.replace("and", "    and")),
        format!("So:\n{}", lines.replace("and", "> and")),
        format!("So: `{line}` it is."),
        format!("So: \"{}\" it is.", line.trim_end()),
        format!("So: \u{201C}{line}\u{201D} it is."),
        format!("So: \u{AB}{line}\u{BB} it is."),
    ] {
        assert!(!of(&hidden), "{hidden}");
        assert!(DriftDetector::of([DriftKind::Repetition]).everywhere().token(&hidden).is_some(), "{hidden}");
        assert!(of(&format!("{hidden}\n{line}")), "what follows is prose: {hidden}");
    }
    // A mark that is never closed hides nothing: its paragraph ends it, and so do 1,000 characters.
    for mark in ["\"", "`", "\u{201C}"] {
        assert!(of(&format!("So {mark}{line}\n\nMore.")), "{mark}");
        assert!(of(&format!("So {mark}{}", line.repeat(3))), "{mark}");
        assert!(!of(&format!("So {mark}{line}")), "it may be closed: {mark}");
    }
    // An attempt that begins is in no code.
    let mut detector = DriftDetector::of([DriftKind::Repetition]);
    assert_eq!(detector.token("```\n"), None);
    detector.reset();
    assert!(detector.token(&line).is_some());
}

const MARKS: &[&str] = &[
    "\"",
    "`",
    "``",
    "```\n",
    "\n",
    "\n\n",
    "> ",
    "    ",
    "- ",
    "\u{201C}",
    "\u{201D}",
    "\u{2018}",
    "\u{2019}",
    "round and ",
    "round it goes ",
    "round and round it goes and ",
    "maybe ",
    "NATO ",
    "日",
];

proptest! {
    #![proptest_config(cases(400))]

    /// However a text with code and quotations is cut, the same is told once all of it is there.
    #[test]
    fn a_cut_makes_no_difference_to_drift(text in some_of(MARKS, 0..200), rarity in 1..4u8, seed in any::<u64>()) {
        let told = |tokens: &[String]| {
            let mut detector = DriftDetector::new().from_confidence(0.2);
            let mut kinds: Vec<DriftKind> =
                tokens.iter().filter_map(|token| detector.token(token)).flat_map(|drift| drift.kinds).collect();
            kinds.sort();
            kinds
        };
        let chars: Vec<String> = text.chars().map(String::from).collect();
        let whole = told(std::slice::from_ref(&text));
        prop_assert_eq!(&told(&chars), &whole);
        prop_assert_eq!(&told(&cut_by(&text, rarity, seed)), &whole);
    }
}
