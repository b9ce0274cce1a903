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
    let words: Vec<String> = ended(text).into_iter().filter(Word::has_letter).map(|word| word.text).collect();
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

pub fn tone(text: &str) -> f64 {
    static MARKS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(thus|therefore|with\s+respect\s+to|yeah|gonna|wow)\b[\s\S]").unwrap()
    });
    let formal: Vec<bool> = marks(text, &MARKS)
        .iter()
        .map(|(_, mark)| !["yeah", "gonna", "wow"].contains(&mark.as_str()))
        .collect();
    let share = |marks: &[bool]| marks.iter().filter(|formal| **formal).count() as f64 / 8.0;
    highest((16..=formal.len()).map(|end| (share(&formal[..8]) - share(&formal[end - 8..end])).abs()))
}

pub fn format(text: &str) -> f64 {
    static STRUCTURED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("^\\s*([#|>`{}\\[\\]\"<]|[-*+•](\\s|-)|[0-9]+[.)])").unwrap());
    let mut lines = vec![];
    let (whole, rest) = text.rsplit_once('\n').unwrap_or(("", text));
    for (line, over) in whole.split('\n').map(|line| (line, true)).chain([(rest, false)]) {
        let chars: Vec<char> = line.chars().collect();
        for (place, piece) in chars.chunks(400).enumerate() {
            let piece: String = piece.iter().collect();
            let counts = (place > 0 || !piece.trim().is_empty()) && (over || piece.chars().count() == 400);
            if counts {
                lines.push(place == 0 && STRUCTURED.is_match(&piece));
            }
        }
    }
    let share = |lines: &[bool]| lines.iter().filter(|structured| **structured).count() as f64 / 10.0;
    highest((20..=lines.len()).map(|end| share(&lines[..10]) - share(&lines[end - 10..end])))
}

pub fn entropy(text: &str) -> f64 {
    let bytes = text.as_bytes();
    let of_window = |end: usize| {
        let mut counts = [0u32; 256];
        bytes[end - 512..end].iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        counts.iter().filter(|count| **count > 0).fold(0.0, |sum, count| {
            let share = f64::from(*count) / 512.0;
            sum - share * share.log2()
        })
    };
    // Learned are the first full window and each 512th after it; compared is each with what was learned before.
    let mut learned: Vec<f64> = vec![];
    let mut peak = 0.0f64;
    for end in 512..=bytes.len() {
        let entropy = of_window(end);
        if learned.len() >= 3 {
            let count = learned.len() as f64;
            let mean = learned.iter().sum::<f64>() / count;
            let variance = learned.iter().map(|entropy| (entropy - mean).powi(2)).sum::<f64>() / count;
            let deviation = variance.sqrt().max(0.15);
            peak = peak.max(((entropy - mean) / deviation - 2.0) / 6.0);
        }
        if (end - 512).is_multiple_of(512) {
            learned.push(entropy);
        }
    }
    peak.min(1.0)
}
