//! Texts that fit a width in columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The minimum width of an instance.
const LEAST: usize = 5;

/// The lifecycle and the instance. Long ones lose their middle, because ids differ at their beginnings and ends.
pub(super) fn short(lifecycle: &str, instance: &str, room: usize) -> String {
    let whole = lifecycle.width() + 1 + instance.width();
    if whole <= room {
        return format!("{lifecycle} {instance}");
    }
    let lifecycle = cut(lifecycle, room.saturating_sub(1 + instance.width().min(LEAST)));
    let room = room.saturating_sub(lifecycle.width() + 1);
    if instance.width() <= room {
        return format!("{lifecycle} {instance}");
    }
    let head = begin(instance, room.saturating_sub(1).div_ceil(2));
    let mut tail = instance.len();
    let left = room.saturating_sub(1 + head.width());
    for (at, _) in instance.char_indices().rev() {
        if instance[at..].width() > left {
            break;
        }
        tail = at;
    }
    cut(&format!("{lifecycle} {head}…{}", &instance[tail..]), lifecycle.width() + 1 + room)
}

/// A text of at most that width; longer text is cut with `…`.
pub(super) fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    match room.checked_sub(1) {
        None => String::new(),
        Some(room) => format!("{}…", begin(text, room)),
    }
}

/// A text in lines of at most that width, broken at blanks. A longer word is left as it is.
pub(super) fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(last) if last.width() + 1 + word.width() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The longest prefix of a text with at most that width.
fn begin(text: &str, room: usize) -> &str {
    let (mut end, mut width) = (0, 0);
    for (at, c) in text.char_indices() {
        let behind = at + c.len_utf8();
        // A combining mark after a character can make it wider than both separately.
        width = (width + c.width().unwrap_or(0)).max(if c.is_ascii() { 0 } else { text[..behind].width() });
        if width > room {
            break;
        }
        end = behind;
    }
    &text[..end]
}
