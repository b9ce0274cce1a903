use pulldown_cmark::{Event, Options, Parser, Tag};
use runstate::trace::check;
use runstate_review::{Entry, Interruption, ReviewBuilder, Summary, markdown};

use crate::fixture::{assert_shown, attacks, book, event, orders, review};

#[test]
fn the_summary_of_two_traces_matches_its_snapshot() {
    assert_shown("markdown", &markdown(&[review(&orders()), review(&orders()[..2])]));
}

#[test]
fn hostile_texts_are_code_or_plain_text() {
    let unseen = |c: char| c.is_control() && c != '\n' || c == '\u{202e}' || c == '\u{2028}';
    for one in attacks().chunks(2) {
        let summary = markdown(&[review(one)]);
        assert!(!summary.contains(unseen) && summary.len() < 10_000, "{summary}");
        let mut code = Vec::new();
        for event in Parser::new_ext(&summary, Options::ENABLE_TABLES) {
            match event {
                Event::Html(text) | Event::InlineHtml(text) => {
                    let text = text.trim();
                    let is_ours = text.starts_with("<details><summary>Not taken: order</summary>");
                    assert!(is_ours || ["</details>", "<code>", "</code>"].contains(&text), "{text}");
                }
                Event::Start(tag @ (Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_))) => {
                    panic!("{tag:?}")
                }
                Event::Code(text) => code.push(text),
                _ => {}
            }
        }
        let name = one[1].instance.to_string();
        let is_plain = name.len() < 80 && !name.contains(unseen) && !name.trim().is_empty();
        assert!(!is_plain || code.iter().any(|text| **text == *name), "{name}: {code:?}");
    }
}

#[test]
fn violation_of_the_last_trace_is_never_left_out() {
    let good = [event(1, 0, "a", "create", None, "Cart")];
    let bad = [event(1, 0, "a", "create", None, "Shipped")];
    let mut reviews: Vec<_> = (0..60).map(|_| review(&good)).collect();
    reviews.push(review(&bad));
    let summary = markdown(&reviews);
    assert!(summary.contains("❌ violates") && summary.contains("### Violations in"), "{summary}");
    // A selector of pictures is an escape on a terminal.
    assert!(!summary.contains('\u{fe0f}'));
}

/// The texts of the cells of the first table.
fn cells(summary: &str) -> Vec<Vec<String>> {
    let (mut rows, mut is_in_cell) = (Vec::new(), false);
    for event in Parser::new_ext(summary, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::TableRow) => rows.push(Vec::new()),
            Event::Start(Tag::TableCell) if !rows.is_empty() => {
                is_in_cell = true;
                rows.last_mut().unwrap().push(String::new());
            }
            Event::End(pulldown_cmark::TagEnd::TableCell) => is_in_cell = false,
            Event::End(pulldown_cmark::TagEnd::Table) => break,
            Event::Text(text) | Event::Code(text) if is_in_cell => {
                rows.last_mut().unwrap().last_mut().unwrap().push_str(&text);
            }
            _ => {}
        }
    }
    rows
}

#[test]
fn bars_in_names_end_no_cell() {
    for title in ["a|b", r"a\|b", r"|\\|`|", "| x | y |", r"\"] {
        let mut summary = Summary::new("Traces", "trace");
        summary.report(title, &check(&orders(), &book()));
        let rows = cells(&summary.to_string());
        assert_eq!(rows, [[title, "❌ violates", "6", "2", "1"]], "{summary}");
    }
}

#[test]
fn a_summary_of_many_violations_stays_below_its_limit_and_counts_the_rest() {
    let long = "x".repeat(290);
    let events: Vec<_> =
        (1..=60).map(|seq| event(seq, 0, &format!("{seq}-{long}"), &long, None, &long)).collect();
    let reviews: Vec<_> = (0..50).map(|_| review(&events)).collect();
    let summary = markdown(&reviews);
    assert!(summary.len() < Summary::MOST_BYTES, "{}", summary.len());
    assert!(summary.contains("\n### Coverage\n"), "the coverage has room");
    let last = summary.trim_end().lines().last().unwrap();
    assert!(
        last.starts_with("**The summary is shortened to 1 MB: ") && last.ends_with(" parts are left out.**"),
        "{last}"
    );
    // Without the limit it would be longer.
    assert!(markdown(&reviews[..10]).len() * 5 > Summary::MOST_BYTES);
    assert!(!markdown(&reviews[..1]).contains("shortened"));
}

#[test]
fn entries_demands_and_blocks_are_shown() {
    let mut summary = Summary::new("Scenarios", "scenario");
    summary.report("orders", &check(&orders(), &book()));
    summary.entry(Entry::good("cart", "as expected").report(&check(&orders()[..2], &book())));
    summary.entry(Entry::bad("pay", "differs").line("missed: a *step*").block("diff", "-a\n```\n+b\n"));
    summary.entry(Entry::open("new", "new"));
    summary.demand("at least 90 % of the edges", Some("got 75 %"));
    summary.demand("edge Cart:Paid", None::<String>);
    assert_shown("markdown_summary", &summary.to_string());
}

#[test]
fn an_interrupted_trace_is_named_with_its_loss() {
    let error = runstate::trace::JsonlReader::new(&br#"{"seq":1"#[..]).read().unwrap_err();
    let book = book();
    let mut builder = ReviewBuilder::new("cut.jsonl", &book);
    orders()[..2].iter().zip(1..).for_each(|(event, line)| builder.event(line, event));
    builder.interrupted(Interruption::of(&error, 0));
    let review = builder.finish();
    assert!(review.breaches().is_empty());
    let summary = markdown(std::slice::from_ref(&review));
    assert!(summary.contains("| `cut.jsonl` | ⚠ interrupted | 2 | 1 | 0 |"), "{summary}");
    assert!(summary.contains("- the trace is not whole&#58; line 1 is cut, since its writer"), "{summary}");
    let page = runstate_review::html(&review);
    assert!(page.contains("<strong>The trace is not whole:</strong> line 1 is cut"), "{page}");
    assert!(page.contains(">interrupted: 2 events, 1 instance</p>"), "{page}");
    // Its problem may quote a secret.
    let error = runstate::trace::JsonlReader::new(&br#"{"seq":"hunter2"}"#[..]).read().unwrap_err();
    for hide in [true, false] {
        let mut builder = ReviewBuilder::new("x", &book);
        builder = if hide { builder.hide_values() } else { builder.redact("hunter2") };
        builder.interrupted(Interruption::of(&error, 0));
        assert!(!runstate_review::html(&builder.finish()).contains("hunter2"));
    }
}

#[test]
fn unmet_demand_is_never_left_out() {
    let mut summary = Summary::new("Scenarios", "scenario");
    for number in 0..60 {
        summary.demand(format!("edge {number}"), (number == 55).then_some("never taken"));
    }
    let text = summary.to_string();
    assert!(text.contains("- ❌ edge 55: never taken"), "{text}");
    assert!(text.contains("- and 10 further demands"), "{text}");
}

#[test]
fn an_incomplete_trace_names_its_unfinished_instances() {
    let summary = markdown(&[review(&orders()[..2])]);
    assert!(summary.contains("⚠ incomplete"), "{summary}");
    assert!(summary.contains("- order a waits in WaitingForStock since line 2\n"), "{summary}");
}

#[test]
fn a_trace_with_unchecked_lifecycles_conforms_in_part() {
    let (book, mut events) = (book(), orders());
    events.truncate(1);
    events.push(event(2, 1_700_000_000_500, "a", "cancel", Some("Cart"), "Cancelled"));
    let mut other = events[0].clone();
    (other.lifecycle, other.seq) = ("parcel".into(), 3);
    events.push(other);
    let mut builder = ReviewBuilder::new("mixed", &book);
    (1..).zip(&events).for_each(|(line, event)| builder.event(line, event));
    let summary = markdown(&[builder.finish()]);
    assert!(summary.contains("| `mixed` | ⚠ conforms in part | 3 | 2 | 0 |"), "{summary}");
    assert!(summary.contains("- not checked, since there is no diagram&#58; parcel\n"), "{summary}");
}
