//! Environments of LaTeX.

use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;
use runstate_guardrails::{Guardrail, Latex, OutputFacts};

use super::cutting::{at_end, cases, cut, speaks_with, text_of, whole};

const PARTS: &[&str] = &[
    "\\begin{a}",
    "\\end{a}",
    "\\begin{b*}",
    "\\end{b*}",
    "\\begin{verbatim}",
    "\\end{verbatim}",
    "\\begin {a}",
    "\\end{",
    "\\begin",
    "\\",
    "\\\\",
    "{",
    "}",
    "a",
    "end{a}",
    "%",
    "\\%",
    "\n",
    " ",
    "é",
    "\\ends{a}",
    "{a}",
    "\\begin{a",
];

/// The text read from its beginning: the place of the first wrong end, or else of the innermost environment that is open.
fn read(text: &str) -> (Option<usize>, Option<usize>) {
    static VERBATIM: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\\end[ \t]*\{verbatim\}").unwrap());
    static COMMAND: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\\(begin|end)[ \t]*\{([^{}\\%\n]{0,64})\}").unwrap());
    let mut open: Vec<(String, usize)> = vec![];
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if open.last().is_some_and(|(name, _)| name == "verbatim") {
            let Some(end) = VERBATIM.find_at(text, at) else { break };
            open.pop();
            at = end.end();
        } else if let Some(found) = COMMAND.captures(&text[at..]) {
            let name = found[2].to_owned();
            match (&found[1], open.last()) {
                ("begin", _) => open.push((name, at)),
                (_, Some((inner, _))) if *inner == name => drop(open.pop()),
                _ => return (Some(at), None),
            }
            at += found[0].len();
        } else if c == '%' {
            at = text[at..].find('\n').map_or(text.len(), |end| at + end);
        } else if c == '\\' {
            at += 1;
            // With the letters that follow, or the one character.
            let letters = text[at..].find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len() - at);
            at += if letters > 0 { letters } else { text[at..].chars().next().map_or(0, char::len_utf8) };
        } else {
            at += c.len_utf8();
        }
    }
    (None, open.pop().map(|(_, at)| at))
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn latex_mismatch_is_reported_at_its_token(tokens in cut(text_of(PARTS, 14))) {
        let mut rule = Latex::new();
        speaks_with(&mut rule, &tokens, |text| read(text).0);
        let (wrong, open) = read(&tokens.concat());
        prop_assert_eq!(at_end(&mut rule, &tokens), Vec::from_iter(wrong.or(open)));
    }
}

#[test]
fn environments_nest() {
    let open = |text: &str| whole(&mut Latex::new(), text);
    assert_eq!(open(r"\begin{a}\begin{b}\end{b}\end{a}"), (None, vec![]));
    assert_eq!(open(r"\begin{a}\begin{b}\end{a}"), (Some(18), vec![18]));
    assert_eq!(open(r"x\end{a}"), (Some(1), vec![1]));
    assert_eq!(open(r"\begin{a}"), (None, vec![0]));
    assert_eq!(open(r"\\begin{a}"), (None, vec![]), "a line break");
    assert_eq!(open("% \\begin{a}\n"), (None, vec![]), "a comment");
    assert_eq!(open(r"\% \begin{a}"), (None, vec![3]), "no comment");
    assert_eq!(open(r"\begin{verbatim} % \end{a} \\\end{verbatim}"), (None, vec![]));
    assert_eq!(open(r"\begin{lstlisting}\begin{a}\end{lstlisting}"), (None, vec![]));
    assert_eq!(open(&format!("\\begin{{{}}}", "x".repeat(65))), (None, vec![]), "no name is that long");
    assert_eq!(open(&format!("\\begin{{{}}}", "x".repeat(64))), (None, vec![0]), "one of the longest");
    let most = r"\begin{a}".repeat(256) + &r"\end{a}".repeat(256);
    assert_eq!(open(&most), (None, vec![]));
    let deep = r"\begin{a}".repeat(257);
    assert_eq!(open(&deep), (Some(9 * 256), vec![9 * 256]));
}

#[test]
fn the_messages_name_both_environments() {
    let mut rule = Latex::new();
    let text = r"\begin{align*}\end{align}";
    let said = rule.streaming(text, text).unwrap();
    assert_eq!(said.message, r"\end{align} where \begin{align*} is open");
    assert_eq!(rule.complete(text, &OutputFacts::TEXT), [said]);
}
