//! Time spans in human form.

use std::time::Duration;

/// Parses a span: a number with `ms`, `s`, `m`, `h` or `d`.
///
/// # Errors
/// Any other text.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let refuse = || format!("expected a time such as 500ms, 30s, 5m, 12h or 7d, got {text:?}");
    let end = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(refuse)?;
    let number: u64 = text[..end].parse().map_err(|_| refuse())?;
    let ms = match &text[end..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(refuse()),
    };
    number.checked_mul(ms).filter(|ms| *ms > 0).map(Duration::from_millis).ok_or_else(refuse)
}

/// The distance of a time from now, in its most suitable unit.
pub(super) fn away(now_ms: u64, at_ms: u64) -> String {
    let seconds = now_ms.abs_diff(at_ms) / 1_000;
    let span = match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    };
    if at_ms > now_ms { format!("in {span}") } else { format!("{span} ago") }
}

/// The remaining time, in words.
pub(super) fn ahead(left: Duration) -> String {
    away(0, u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_spans_are_parsed_or_refused() {
        assert_eq!(time("7d"), Ok(Duration::from_secs(7 * 86_400)));
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        for wrong in
            ["", "7", "d", "0s", "-1s", "1.5h", "1 s", "7w", "99999999999999999999s", "9999999999999999d"]
        {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn time_spans_are_shown_in_one_unit() {
        assert_eq!(away(10_000, 10_000), "0 s ago");
        assert_eq!(away(3_600_000, 0), "1 h ago");
        assert_eq!(away(0, 119_000), "in 1 min");
        assert_eq!(away(0, 172_800_000), "in 2 d");
    }
}
