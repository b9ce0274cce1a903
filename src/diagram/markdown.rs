//! The search for fenced `mermaid` blocks in a Markdown text, with the heading above each of them.

use super::source::Span;

/// A fenced block with `mermaid` in its info string.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fenced {
    pub(super) heading: Option<String>,
    /// The content between the fences, including the line break before the closing fence.
    pub(super) content: Span,
    /// The number of enclosing block quotes: each line of the block begins with that many marks.
    pub(super) quotes: usize,
}

/// An open fence.
struct Fence {
    mark: char,
    length: usize,
    mermaid: bool,
    content: usize,
    quotes: usize,
}

/// A line without its line break, with its start and end offsets.
struct Line<'t> {
    text: &'t str,
    start: usize,
    next: usize,
}

pub(super) fn blocks(text: &str) -> Vec<Fenced> {
    let mut found = Vec::new();
    let mut heading: Option<String> = None;
    let mut open: Option<Fence> = None;
    let mut in_comment = false;
    let mut in_list = false;
    let mut paragraph: Option<&str> = None;
    let mut depth = 0;
    for line in lines(text) {
        if let Some(fence) = &open {
            let (quotes, inner) = unquote(line.text, fence.quotes);
            // The end of a block quote closes its open blocks too.
            let is_over = quotes < fence.quotes;
            if is_over || closes(fence, line.text[inner..].trim()) {
                if fence.mermaid {
                    found.push(Fenced {
                        heading: heading.clone(),
                        content: Span::new(fence.content, line.start),
                        quotes: fence.quotes,
                    });
                }
                open = None;
            }
            if !is_over {
                continue;
            }
        }
        let (quotes, inner) = unquote(line.text, usize::MAX);
        let text = &line.text[inner..];
        let bare = text.trim();
        // A line below a block quote is no underline of its content.
        if quotes != depth {
            (depth, paragraph) = (quotes, None);
        }
        if in_comment {
            in_comment = !bare.contains("-->");
            continue;
        }
        if bare.starts_with("<!--") {
            in_comment = !bare.contains("-->");
            continue;
        }
        let indent = text.chars().take_while(|c| matches!(c, ' ' | '\t')).map(width).sum::<usize>();
        if is_item(bare) {
            in_list = true;
        } else if indent == 0 && !bare.is_empty() {
            in_list = false;
        }
        // Four spaces make an indented code block, except inside a list.
        if indent >= 4 && !in_list {
            continue;
        }
        // A fence may follow directly after the mark of a list item.
        if let Some(fence) = opens(bare, line.next).or_else(|| opens(behind_item(bare), line.next)) {
            open = Some(Fence { quotes, ..fence });
            paragraph = None;
            continue;
        }
        if let Some(title) = atx(bare) {
            heading = Some(title.to_owned());
            paragraph = None;
        } else if let (Some(title), true) = (paragraph, is_underline(bare)) {
            heading = Some(title.to_owned());
            paragraph = None;
        } else {
            paragraph = (!bare.is_empty() && indent < 4 && !is_item(bare)).then_some(bare);
        }
    }
    if let Some(fence) = open
        && fence.mermaid
    {
        found.push(Fenced { heading, content: Span::new(fence.content, text.len()), quotes: fence.quotes });
    }
    found
}

fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let feed = if rest[end..].starts_with("\r\n") { 2 } else { usize::from(end < rest.len()) };
        let line = Line { text: &rest[..end], start, next: start + end + feed };
        start = line.next;
        Some(line)
    })
}

/// Returns the number of block quote marks at the beginning of a line, `most` at most, and the offset of the rest.
pub(super) fn unquote(line: &str, most: usize) -> (usize, usize) {
    let (mut quotes, mut at) = (0, 0);
    while quotes < most {
        let rest = &line[at..];
        let bare = rest.trim_start_matches(' ');
        let Some(behind) = bare.strip_prefix('>').filter(|_| rest.len() - bare.len() < 4) else { break };
        quotes += 1;
        at = line.len() - behind.strip_prefix(' ').unwrap_or(behind).len();
    }
    (quotes, at)
}

fn width(c: char) -> usize {
    if c == '\t' { 4 } else { 1 }
}

fn opens(bare: &str, content: usize) -> Option<Fence> {
    let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = bare.trim_start_matches(mark);
    let length = bare.len() - info.len();
    if length < 3 || (mark == '`' && info.contains('`')) {
        return None;
    }
    let language = info.split_whitespace().next().unwrap_or("");
    Some(Fence { mark, length, mermaid: language.eq_ignore_ascii_case("mermaid"), content, quotes: 0 })
}

fn closes(fence: &Fence, bare: &str) -> bool {
    bare.len() >= fence.length && bare.chars().all(|c| c == fence.mark)
}

/// The title of a line such as `## Title ##`.
fn atx(bare: &str) -> Option<&str> {
    let title = bare.trim_start_matches('#');
    let level = bare.len() - title.len();
    if !(1..=6).contains(&level) || !(title.is_empty() || title.starts_with([' ', '\t'])) {
        return None;
    }
    let title = title.trim();
    let closed = title.trim_end_matches('#');
    Some(if closed.is_empty() || closed.ends_with([' ', '\t']) { closed.trim() } else { title })
}

fn is_underline(bare: &str) -> bool {
    let mark = bare.chars().next();
    matches!(mark, Some('=' | '-')) && bare.chars().all(|c| Some(c) == mark)
}

fn is_item(bare: &str) -> bool {
    behind_item(bare).len() < bare.len() || matches!(bare, "-" | "*" | "+")
}

/// Returns the text after `- `, `* `, `+ `, `1. ` or `1) `.
fn behind_item(bare: &str) -> &str {
    let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = if digits.len() < bare.len() {
        digits.strip_prefix(['.', ')'])
    } else {
        bare.strip_prefix(['-', '*', '+'])
    };
    mark.and_then(|rest| rest.strip_prefix([' ', '\t'])).map_or(bare, str::trim_start)
}
