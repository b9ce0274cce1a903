//! The checks once more, as plain as can be: each looks at the whole text and gives the highest confidence at any place in it.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::words::{Word, words};

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
    let (mut words, mut numbers): (Vec<String>, HashSet<usize>) = (vec![], HashSet::new());
    for word in ended(text).into_iter().filter(|word| !is_glued(word)) {
        if word.has_letter() {
            words.push(word.text);
        } else {
            // A number stands between this group and the one before.
            numbers.insert(words.len().saturating_sub(2));
        }
    }
    let groups: Vec<&[String]> = words.windows(3).collect();
    let shares = (60..=groups.len()).map(|end| {
        let window = &groups[end.saturating_sub(238)..end];
        let distinct: HashSet<_> = window.iter().collect();
        (1.0 - distinct.len() as f64 / window.len() as f64) / 1.1
    });
    let (mut round, mut distance) = (0, 0);
    let rounds = (0..groups.len()).map(|at| {
        let before = (at.saturating_sub(238)..at).rev().find(|before| groups[*before] == groups[at]);
        let now = before.map_or(0, |before| at - before);
        round = if numbers.contains(&at) { 0 } else { round };
        round = if now > 0 && now == distance { round + 1 } else { usize::from(now > 0) };
        distance = now;
        if round < 12 { 0.0 } else { (round as f64 / (3.5 * distance as f64).max(45.0)).min(1.0) }
    });
    highest(rounds).max(highest(shares)).max(circles(text)).max(lines(text))
}

/// Lines with letters that are the same as the one before.
fn lines(text: &str) -> f64 {
    let (whole, _) = text.rsplit_once('\n').unwrap_or_default();
    let (mut before, mut same, mut most) = (None, 0, 0);
    for line in whole.split('\n') {
        let comes_again = before == Some(line) && line.contains(|c: char| c.is_alphabetic() || !c.is_ascii());
        same = if comes_again { same + 1 } else { 0 };
        (before, most) = (Some(line), most.max(same));
    }
    (f64::from(most) / 8.5).min(1.0)
}

/// Runs of letters and digits that go round.
fn circles(text: &str) -> f64 {
    let runs = text.split(|c: char| !c.is_alphanumeric()).map(|run| run.chars().collect::<Vec<char>>());
    highest(runs.map(|run| {
        // Behind the 26 characters that any word may have.
        let run = run.get(26..).unwrap_or_default();
        let turned = |end: usize, places: usize| {
            (places..end).rev().take_while(|at| run[*at] == run[at - places]).count()
        };
        highest((1..=run.len()).map(|end| {
            let most = (1..16).map(|places| turned(end, places)).max().unwrap_or(0);
            (most as f64 / 140.0).min(1.0)
        }))
    }))
}

pub fn hedging(text: &str) -> f64 {
    static HEDGES: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)\b(maybe|i\s+think|it's\s+possible|perhaps)\b[\s\S]").unwrap());
    // The typographic apostrophe is three bytes and the plain one is one: places are those of the plain text.
    let text = text.replace('\u{2019}', "'");
    let words: Vec<usize> = ended(&text).iter().map(|word| word.known.unwrap()).collect();
    // A character that is a word of its own ends a word, which the pattern does not know. A hedge is known with the character after it.
    let spaced = text.replace('日', "—");
    let hedges: Vec<usize> = HEDGES.captures_iter(&spaced).map(|found| found.get(1).unwrap().end()).collect();
    // A hedge counts with the word that its last character is of.
    let numbers: Vec<usize> =
        hedges.iter().map(|end| words.iter().filter(|known| *known < end).count()).collect();
    highest((0..=words.len()).map(|count| {
        // At this many words, all hedges have come that are known before the next word has ended, and the last one with them.
        let until = words.get(count).copied().unwrap_or(usize::MAX);
        let hedges = hedges
            .iter()
            .zip(&numbers)
            .filter(|(end, number)| **end <= until && **number + 100 >= count)
            .count();
        (hedges as f64 * 10.0 / count.clamp(50, 100) as f64).min(1.0)
    }))
}

/// The scripts of the tests: Latin, Greek, Cyrillic, Hebrew, Georgian, and that of 日.
fn script(c: char) -> usize {
    let firsts = ['\u{370}', '\u{400}', '\u{590}', '\u{10a0}', '\u{3040}'];
    firsts.iter().filter(|first| **first <= c).count()
}

/// A token without the marks before and behind it.
fn bare(token: &str) -> &str {
    token.trim_matches(|c| ".,;:!?()[]\"'“”‘’«»„*_`—–…#>|-".contains(c))
}

fn token_script(token: &str) -> Option<usize> {
    bare(token).chars().next().filter(|c| c.is_alphabetic()).map(script)
}

/// A word, a number, or a few marks.
fn is_of_words(token: &str, home: Option<usize>) -> bool {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[0-9]+([.,:/-][0-9]+)*$").unwrap());
    let bare = bare(token);
    if bare.is_empty() {
        return token.chars().count() <= 3;
    }
    if NUMBER.is_match(bare) {
        return bare.chars().filter(char::is_ascii_digit).count() <= 8;
    }
    let parts: Vec<&str> = bare.split(['-', '\'', '’']).collect();
    let cased = |part: &&str| {
        let rest: Vec<char> = part.chars().skip(1).collect();
        let uppers = part.chars().filter(|c| c.is_uppercase()).count();
        !part.is_empty()
            && part.chars().all(char::is_alphabetic)
            && (!rest.iter().any(|c| c.is_uppercase())
                || uppers == part.chars().filter(|c| c.is_uppercase() || c.is_lowercase()).count())
    };
    let letters = parts.iter().flat_map(|part| part.chars());
    let count = letters.clone().count();
    let mute = letters.clone().all(|c| c.is_ascii() && !"aeiouyAEIOUY".contains(c));
    let is_acronym = parts.last().is_some_and(|part| part.chars().filter(|c| c.is_uppercase()).count() > 1);
    parts.iter().all(cased)
        && letters.clone().all(|c| Some(script(c)) == home)
        && (!mute || count <= 3)
        && (!is_acronym || count <= 12)
}

/// The words at the end in a row that no sentence has, of tokens that are words or not.
fn sentence(read: &[Option<&str>]) -> f64 {
    let letters = |word: &str| word.to_lowercase().chars().filter(|c| c.is_alphabetic()).collect::<String>();
    let is_common =
        |word: &str| ["the", "of", "and", "a", "it", "its", "i"].contains(&letters(word).as_str());
    let is_rare = |word: &&Option<&str>| {
        word.is_some_and(|word| {
            letters(word).chars().count() > 2 && word.starts_with(char::is_lowercase) && !is_common(word)
        })
    };
    let rare = read.iter().rev().take_while(is_rare).count();
    let before: Vec<&str> = read[..read.len() - rare].iter().copied().flatten().collect();
    let common = before.iter().filter(|word| is_common(word)).count();
    if before.len() < 20 || common * 5 < before.len() { 0.0 } else { (rare as f64 / 28.5).min(1.0) }
}

/// Characters, those that end a new pair, those that are no white space, and those of words.
type Run = [usize; 4];

fn sum(runs: &[Run]) -> Run {
    runs.iter().fold([0; 4], |all, run| std::array::from_fn(|index| all[index] + run[index]))
}

pub fn entropy(text: &str) -> f64 {
    let mut before = '\n';
    let mut seen = HashSet::new();
    let is_new = |c: char| {
        let pair =
            u32::from(before).wrapping_mul(0x9E37_79B1).wrapping_add(u32::from(c).wrapping_mul(0x85EB_CA6B));
        before = c;
        usize::from(seen.insert(pair >> 18))
    };
    let news: Vec<usize> = text.chars().map(is_new).collect();
    // The runs end with a token and the white space behind it, and with each 23 characters of a token that is too long for a word.
    let (mut runs, mut scripts, mut read, mut turns, mut home) = (vec![], vec![], vec![], 0.0_f64, None);
    let (mut from, mut at, mut chunk, mut token) = (0, 0, 0, String::new());
    for c in text.chars() {
        at += 1;
        if !c.is_whitespace() {
            token.push(c);
            chunk += 1;
            if chunk == 23 {
                runs.push([at - from, news[from..at].iter().sum(), chunk, 0]);
                (from, chunk) = (at, 0);
            }
            continue;
        }
        if token.is_empty() || chunk == 0 {
            token.clear();
            continue;
        }
        if let Some(script) = token_script(&token) {
            home = home.or(Some(script));
            scripts.push(script);
            let last = &scripts[scripts.len().saturating_sub(30)..];
            let changes = last.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64;
            if last.iter().collect::<HashSet<_>>().len() >= 4 {
                turns = turns.max((changes / 21.0).min(1.0));
            }
        }
        let is_word = token.chars().count() <= 22 && is_of_words(&token, home);
        let word = Some(token.clone()).filter(|_| is_word && token_script(&token) == Some(0));
        read.push(word);
        let read: Vec<Option<&str>> = read.iter().map(|word| word.as_deref().map(bare)).collect();
        turns = turns.max(sentence(&read));
        runs.push([at - from, news[from..at].iter().sum(), chunk, if is_word { chunk } else { 0 }]);
        (from, chunk) = (at, 0);
        token.clear();
    }
    let windows = (1..=runs.len()).map(|end| {
        // The window is the shortest that has 160 characters.
        let start = (0..end).rev().find(|start| sum(&runs[*start..end])[0] >= 160).unwrap_or(0);
        let ([_, _, ink, words], [chars, new, ink_now, words_now]) =
            (sum(&runs[..start]), sum(&runs[start..end]));
        if ink < 128 || words * 100 < ink * 85 {
            return 0.0;
        }
        let share = words_now as f64 / ink_now as f64;
        (new as f64 / chars as f64 / 0.757).min(1.0 - share / 0.4).clamp(0.0, 1.0)
    });
    highest(windows).max(turns).max(noise(text))
}

/// A part of a line, as sentences have it.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Common,
    Word,
    Other,
    Odd,
}

fn kind(token: &str) -> Kind {
    let bare = bare(token);
    let letters: Vec<char> = bare.chars().filter(|c| c.is_alphabetic()).collect();
    let is_word = token.chars().count() <= 22 && is_of_words(token, Some(0));
    let is_latin = is_word && token_script(token) == Some(0);
    let lower = letters.iter().flat_map(|c| c.to_lowercase()).collect::<String>();
    let is_item = bare.chars().all(|c| c.is_ascii_digit() || ".,:/-".contains(c))
        && bare.ends_with(|c: char| c.is_ascii_digit())
        && token.strip_suffix(',').is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_digit()));
    let last = bare.rsplit(['-', '\'', '’']).next().unwrap_or_default();
    let is_named = last.chars().any(char::is_uppercase);
    let has_vowel = letters.iter().any(|c| !c.is_ascii() || "aeiouyAEIOUY".contains(*c));
    if is_latin && ["the", "of", "and", "a", "it", "its", "i", "so", "on", "as"].contains(&lower.as_str()) {
        Kind::Common
    } else if is_latin && letters.len() > 2 && has_vowel && !is_named {
        Kind::Word
    } else if is_latin && is_named && (letters.len() > 1 || token.chars().count() == 1)
        || !is_latin && is_item
    {
        Kind::Other
    } else {
        Kind::Odd
    }
}

/// The classes of characters of a token; none of a single character.
fn shape(token: &[char]) -> String {
    let class = |c: &char| match c {
        'a'..='z' => 'a',
        'A'..='Z' => 'A',
        '0'..='9' => '0',
        c if c.is_ascii() => '.',
        _ => 'é',
    };
    let classes: BTreeSet<char> = token.iter().map(class).collect();
    if token.len() < 2 { String::new() } else { classes.into_iter().collect() }
}

/// Have the tokens few shapes, and few of those that data lack?
fn is_data(shapes: &[String]) -> bool {
    let shapes: Vec<&str> = shapes.iter().map(String::as_str).filter(|shape| !shape.is_empty()).collect();
    let no_data = shapes.iter().filter(|shape| ["a", "."].contains(shape) || shape.contains('é')).count();
    shapes.iter().collect::<BTreeSet<_>>().len() < 4 && no_data < 6
}

/// Lines that turn into noise, and words that say nothing, once the first word is Latin.
fn noise(text: &str) -> f64 {
    let count = |kinds: &[Kind], of: &[Kind]| kinds.iter().filter(|kind| of.contains(kind)).count();
    let (mut home, mut is_fenced, mut most) = (None, false, 0.0_f64);
    let (mut lines, mut all): (Vec<Kind>, Vec<(Kind, String)>) = (vec![], vec![]);
    for line in text.split_inclusive('\n') {
        let (mut kinds, mut shapes): (Vec<Kind>, Vec<String>) = (vec![], vec![]);
        let mut is_row = false;
        let indent = line.chars().take_while(|c| c.is_whitespace());
        let indent: usize = indent.map(|c| if c == '\t' { 4 } else { 1 }).sum();
        // The last token of the text may go on.
        let ends = |at: usize| line[at..].contains(char::is_whitespace);
        let mut at = 0;
        for token in line.split(char::is_whitespace) {
            at += token.len();
            let is_whole = ends(at);
            at += line[at..].chars().next().map_or(0, char::len_utf8);
            if token.is_empty() {
                continue;
            }
            let chars: Vec<char> = token.chars().collect();
            let mut pieces: Vec<(Kind, String)> = vec![];
            let cut = chars.len() / 23;
            // Before the first word has ended nothing counts.
            if home == Some(0) {
                pieces.extend(chars.chunks_exact(23).map(|piece| (Kind::Odd, shape(piece))));
            }
            if is_whole && !chars.len().is_multiple_of(23) {
                home = home.or(token_script(token));
                if home == Some(0) {
                    let kind = if cut == 0 { kind(token) } else { Kind::Odd };
                    pieces.push((kind, shape(&chars[23 * cut..])));
                    all.push((kind, bare(token).to_lowercase()));
                    let last = &all[all.len().saturating_sub(24)..];
                    let words: HashSet<_> = last.iter().map(|(_, word)| word).collect();
                    if last.iter().filter(|(kind, _)| *kind == Kind::Common).count() >= 23
                        && words.len() >= 12
                    {
                        most = 1.0;
                    }
                }
            }
            for (piece, shape) in pieces {
                if kinds.is_empty() {
                    let ticks = chars.iter().take_while(|c| **c == '`').count();
                    is_fenced ^= ticks >= 3;
                    is_row = indent >= 4 || is_fenced || ticks >= 3 || "|>$+<[!".contains(chars[0]);
                }
                kinds.push(piece);
                shapes.push(if piece == Kind::Odd { shape } else { String::new() });
                let Some(start) = kinds.len().checked_sub(20).filter(|_| !is_row) else { continue };
                if is_data(&shapes[start..]) {
                    continue;
                }
                let (before, last) = kinds.split_at(start);
                let odd = count(last, &[Kind::Odd]) as f64 / 20.0;
                let share = |of: &[Kind], kinds: &[Kind]| count(of, kinds) as f64 / of.len().max(1) as f64;
                let commons = count(last, &[Kind::Common]);
                if before.len() >= 10
                    && share(before, &[Kind::Common]) >= 0.18
                    && share(before, &[Kind::Common, Kind::Word]) >= 0.7
                    && commons <= 1
                {
                    most = most.max((odd / 0.714).min(1.0));
                }
                if lines.len() >= 20
                    && share(&lines, &[Kind::Common]) >= 0.2
                    && share(&lines, &[Kind::Odd]) <= 0.1
                    && commons == 0
                {
                    most = most.max((odd / 0.928).min(1.0));
                }
            }
        }
        if !is_row && line.ends_with('\n') {
            lines.extend(kinds);
        }
    }
    most
}
