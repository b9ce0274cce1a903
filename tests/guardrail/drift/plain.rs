//! The checks once more, as plain as can be: each looks at the whole text and gives the highest confidence at any place in it.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::guardrail::words::{Word, words};

fn ended(text: &str) -> Vec<Word> {
    words(text).into_iter().filter(|word| word.known.is_some()).collect()
}

fn highest(confidences: impl Iterator<Item = f64>) -> f64 {
    confidences.fold(0.0, f64::max)
}

pub fn repetition(text: &str) -> f64 {
    let in_word = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '\u{2019}');
    let is_glued = |word: &Word| {
        let before = text[..word.at].chars().rev().find(|c| !in_word(c));
        let after = word.known.and_then(|known| text[known..].chars().next());
        before.is_some_and(|c| "/\\=@".contains(c)) || after.is_some_and(|c| "/=".contains(c))
    };
    let words = ended(text).into_iter().filter(|word| word.has_letter() && !is_glued(word));
    let words: Vec<String> = words.map(|word| word.text).collect();
    let groups: Vec<&[String]> = words.windows(3).collect();
    highest((60..=groups.len()).map(|end| {
        let window = &groups[end.saturating_sub(118)..end];
        let distinct: HashSet<_> = window.iter().collect();
        1.0 - distinct.len() as f64 / window.len() as f64
    }))
}

/// Where the phrases of that pattern are known to have ended: with the character after them.
fn marks(text: &str, pattern: &Regex) -> Vec<(usize, String)> {
    // What stands for itself is the end of a word, which the pattern does not know.
    let text = text.replace('\u{2019}', "'").replace('日', "—");
    pattern.captures_iter(&text).map(|found| (found.get(1).unwrap().end(), found[1].to_lowercase())).collect()
}

pub fn hedging(text: &str) -> f64 {
    static HEDGES: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)\b(maybe|i\s+think|it's\s+possible|perhaps)\b[\s\S]").unwrap());
    // The typographic apostrophe is three bytes and the plain one is one: places are those of the plain text.
    let text = text.replace('\u{2019}', "'");
    let words: Vec<usize> = ended(&text).iter().map(|word| word.known.unwrap()).collect();
    let hedges: Vec<usize> = marks(&text, &HEDGES).into_iter().map(|(end, _)| end).collect();
    // A hedge counts with the word that its last character is of.
    let numbers: Vec<usize> =
        hedges.iter().map(|end| words.iter().filter(|known| *known < end).count()).collect();
    highest((60..=words.len()).map(|count| {
        // At this many words, all hedges have come that are known before the next word has ended, and the last one with them.
        let until = words.get(count).copied().unwrap_or(usize::MAX);
        let hedges = hedges
            .iter()
            .zip(&numbers)
            .filter(|(end, number)| **end <= until && **number + 100 >= count)
            .count();
        (hedges as f64 * 10.0 / count.min(100) as f64).min(1.0)
    }))
}

/// Formal or casual, and strong or not.
fn signs(text: &str) -> Vec<(bool, bool)> {
    static MARKS: LazyLock<Regex> = LazyLock::new(|| {
        let strong = r"thus|therefore|with\s+respect\s+to|yeah|gonna|wow";
        Regex::new(&format!(r"(?i)\b({strong}|it's|don't)\b[\s\S]")).unwrap()
    });
    let text = text.replace('\u{2019}', "'");
    let mut signs: Vec<(usize, (bool, bool))> = marks(&text, &MARKS)
        .into_iter()
        .map(|(end, mark)| {
            let formal = mark.starts_with('t') || mark.starts_with("with");
            (end, (formal, formal || ["yeah", "gonna", "wow"].contains(&mark.as_str())))
        })
        .collect();
    let glued = |word: &Word| {
        let before = text[..word.at].chars().rev().find(|c| !c.is_alphanumeric() && !matches!(c, '_' | '\''));
        let after = word.known.and_then(|known| text[known..].chars().next());
        before.is_some_and(|c| "/\\=@.".contains(c)) || after.is_some_and(|c| "/=(".contains(c))
    };
    for word in ended(&text) {
        let (Some(known), letters) = (word.known, word.text.chars().all(char::is_alphabetic)) else {
            continue;
        };
        let marked = signs.iter().any(|(end, _)| *end == known);
        if letters && word.text.chars().count() >= 8 && !marked && !glued(&word) {
            signs.push((known, (true, false)));
        }
    }
    signs.sort_by_key(|(end, _)| *end);
    signs.into_iter().map(|(_, sign)| sign).collect()
}

pub fn tone(text: &str) -> f64 {
    let signs = signs(text);
    let strong = |window: &[(bool, bool)], of| window.iter().filter(|sign| **sign == (of, true)).count();
    highest((20..=signs.len()).map(|end| {
        let (first, last) = (&signs[..10], &signs[end - 10..end]);
        let formal = |window: &[(bool, bool)]| window.iter().filter(|(formal, _)| *formal).count();
        let (formal_side, casual_side) =
            if formal(first) > formal(last) { (first, last) } else { (last, first) };
        if strong(casual_side, false) < 3 || strong(formal_side, true) < 2 {
            return 0.0;
        }
        ((formal(formal_side) - formal(casual_side)) as f64 / 8.5).min(1.0)
    }))
}

pub fn format(text: &str) -> f64 {
    static STRUCTURED: LazyLock<Regex> = LazyLock::new(|| {
        let values = "([,;|]\\S|\t).*([,;|]\\S|\t)";
        let marks = "[#|>{}\\[\\]\"<]|[-*+•](\\s|-|\\*)|[0-9]+[.)]|[A-Za-z][.)]\\s|[A-Za-z][A-Za-z0-9]*:\\s";
        Regex::new(&format!("^({marks}|.*{values})")).unwrap()
    });
    let prose =
        |c: char| c.is_alphanumeric() || c.is_whitespace() || ",.'’\":;?!-()%&–—/“”‘€$£+*_".contains(c);
    let (whole, _) = text.rsplit_once('\n').unwrap_or_default();
    let (mut lines, mut first, mut run, mut collapsed) = (0, 0, 0u32, false);
    for line in whole.split('\n').filter(|line| !line.trim().is_empty()) {
        let structured = STRUCTURED.is_match(line.trim_start());
        lines += 1;
        if lines <= 8 {
            first += u32::from(structured);
            continue;
        }
        let inked = line.trim();
        let loose = !structured
            && !inked.ends_with([';', ':', '('])
            && inked.chars().all(prose)
            && line.chars().count() <= 72;
        run = if loose {
            run + 1
        } else if structured {
            0
        } else {
            run.saturating_sub(3)
        };
        collapsed |= run >= 7;
    }
    if collapsed { f64::from(first) / 8.0 } else { 0.0 }
}

pub fn entropy(text: &str) -> f64 {
    let mut before = '\n';
    let mut seen = HashSet::new();
    let mut read = vec![];
    for c in text.chars() {
        let hash = u32::from(before).wrapping_mul(0x9E37_79B1);
        let pair = hash.wrapping_add(u32::from(c).wrapping_mul(0x85EB_CA6B)) >> 18;
        read.push((seen.insert(pair), c == ' ' || (c == '\n' && before != '\n')));
        before = c;
    }
    let count = |pairs: &[(bool, bool)]| pairs.iter().filter(|(new, _)| *new).count() as f64 / 160.0;
    highest((480..=read.len()).map(|end| {
        let (text, window) = (&read[..end - 160], &read[end - 160..end]);
        let spaces = text.iter().filter(|(_, space)| *space).count() as f64 / text.len() as f64;
        let known = count(&read[end - 320..end - 160]) <= 0.4 && spaces >= 0.155;
        if known { (count(window) / 0.86).min(1.0) } else { 0.0 }
    }))
}
