//! Fences of code blocks.

use proptest::prelude::*;
use runstate_guardrails::Markdown;

use super::cutting::{at_end, cases, cut, speaks_with, text_of, whole};

const PARTS: &[&str] = &[
    "```", "``", "`", "~~~", "~", "````", "\n", "\n", "\r\n", " ", "    ", "\t", "> ", "rust", "text ", "é",
    "```\n", "\n```", "~~~\n",
];

/// Line by line: the place of the fence that is open after the last one.
fn open_fence(text: &str) -> Option<usize> {
    let mut open: Option<(char, usize, usize)> = None;
    let mut begins = 0;
    for line in text.split('\n') {
        let body = line.trim_start_matches([' ', '\t', '\r', '>']);
        let at = begins + (line.len() - body.len());
        begins += line.len() + 1;
        let mark = match body.chars().next() {
            Some(mark @ ('`' | '~')) => mark,
            _ => continue,
        };
        let info = body.trim_start_matches(mark);
        let length = body.len() - info.len();
        if length < 3 {
            continue;
        }
        match open {
            None if mark == '`' && info.contains('`') => {}
            None => open = Some((mark, length, at)),
            Some((opened_by, least, _)) => {
                if mark == opened_by && length >= least && info.trim_matches([' ', '\t', '\r']).is_empty() {
                    open = None;
                }
            }
        }
    }
    open.map(|(_, _, at)| at)
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn the_open_fence_is_that_of_the_whole_text(tokens in cut(text_of(PARTS, 24))) {
        let mut rule = Markdown::new();
        speaks_with(&mut rule, &tokens, |_| None);
        prop_assert_eq!(at_end(&mut rule, &tokens), Vec::from_iter(open_fence(&tokens.concat())));
    }
}

#[test]
fn fences_open_and_close() {
    let open = |text: &str| -> Vec<usize> { whole(&mut Markdown::new(), text).1 };
    assert_eq!(open("a\n```\ncode\n"), [2]);
    assert_eq!(open("a\n```\ncode\n```"), [0; 0]);
    assert_eq!(open("```rust\ncode\n```  \r\n"), [0; 0]);
    assert_eq!(open("```\ncode\n```rust\n"), [0], "what closes has no information");
    assert_eq!(open("````\n```\n"), [0], "what closes is as long");
    assert_eq!(open("````\n```\n`````"), [0; 0]);
    assert_eq!(open("~~~\n```\n"), [0], "what closes is of the same mark");
    assert_eq!(open("```a```"), [0; 0], "code within a line");
    assert_eq!(open("see ```"), [0; 0], "not at the beginning of a line");
    assert_eq!(open("1. x\n    ```js\n    y\n"), [9], "in a list");
    assert_eq!(open("> ```\n> x\n> ```"), [0; 0], "in a quotation");
    assert_eq!(open(""), [0; 0]);
}
