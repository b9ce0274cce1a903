//! Durations and times for people.

use std::collections::BTreeSet;
use std::fmt;

use runstate::calendar::{DAY_MS, civil_from_days};

/// A duration in at most two units, rounded down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span(pub(crate) u64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ms, seconds) = (self.0, self.0 / 1000);
        match seconds {
            0 => write!(f, "{ms} ms"),
            1..60 => write!(f, "{seconds}.{:02} s", ms % 1000 / 10),
            60..3600 => write!(f, "{} m {:02} s", seconds / 60, seconds % 60),
            3600..86_400 => write!(f, "{} h {:02} m", seconds / 3600, seconds / 60 % 60),
            _ => write!(f, "{} d {:02} h", seconds / 86_400, seconds / 3600 % 24),
        }
    }
}

/// The precision of times that stand beside one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// Two units.
    Units,
    /// Seconds, in all units.
    Seconds,
    /// Milliseconds, in all units.
    Exact,
}

impl Precision {
    /// The lowest precision in which all different times have different texts.
    pub(crate) fn of(times: impl IntoIterator<Item = u64>) -> Self {
        let sorted: BTreeSet<u64> = times.into_iter().collect();
        let tells_apart = |precision: &Precision| {
            // A later time has no earlier text, so equal texts are neighbours.
            let mut texts = sorted.iter().map(|ms| precision.shown(*ms));
            let first = texts.next().unwrap_or_default();
            texts.try_fold(first, |last, text| (last != text).then_some(text)).is_some()
        };
        [Precision::Units, Precision::Seconds].into_iter().find(tells_apart).unwrap_or(Precision::Exact)
    }

    /// A time as text.
    pub(crate) fn shown(self, ms: u64) -> String {
        match self {
            Precision::Units => Span(ms).to_string(),
            Precision::Seconds if ms < 60_000 => Span(ms).to_string(),
            Precision::Seconds => {
                let exact = Exact(ms).to_string();
                exact.split_once('.').map_or(exact.clone(), |(seconds, _)| format!("{seconds} s"))
            }
            Precision::Exact => Exact(ms).to_string(),
        }
    }
}

/// A time that tells two events apart: to the millisecond, in all its units.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exact(pub(crate) u64);

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ms, seconds) = (self.0 % 1000, self.0 / 1000);
        let (days, hours, minutes, second) =
            (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        match seconds {
            0 => write!(f, "{ms} ms"),
            1..60 => write!(f, "{second}.{ms:03} s"),
            60..3600 => write!(f, "{minutes} m {second:02}.{ms:03} s"),
            3600..86_400 => write!(f, "{hours} h {minutes:02} m {second:02}.{ms:03} s"),
            _ => write!(f, "{days} d {hours:02} h {minutes:02} m {second:02}.{ms:03} s"),
        }
    }
}

/// The date and the time of day of a Unix time in milliseconds. None for times before September 2001, since a virtual clock
/// counts from a number near zero, and for times after the year 9999.
pub(crate) fn utc(at_ms: u64) -> Option<String> {
    const FIRST: u64 = 1_000_000_000_000;
    const LAST: u64 = 253_402_300_799_999;
    if !(FIRST..=LAST).contains(&at_ms) {
        return None;
    }
    let (year, month, day) = civil_from_days(at_ms / DAY_MS);
    let ms = at_ms % DAY_MS;
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    Some(format!("{year}-{month:02}-{day:02} {hours:02}:{minutes:02}:{seconds:02}.{:03} UTC", ms % 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_times_have_different_texts() {
        let shown = |times: &[u64]| {
            let precision = Precision::of(times.iter().copied());
            times.iter().map(|ms| precision.shown(*ms)).collect::<Vec<_>>().join(", ")
        };
        const HOUR: u64 = 3_600_000;
        assert_eq!(shown(&[0, 1_250, HOUR, HOUR]), "0 ms, 1.25 s, 1 h 00 m, 1 h 00 m");
        assert_eq!(shown(&[1_250, HOUR + 1_000, HOUR]), "1.25 s, 1 h 00 m 01 s, 1 h 00 m 00 s");
        assert_eq!(shown(&[HOUR, HOUR + 1]), "1 h 00 m 00.000 s, 1 h 00 m 00.001 s");
        assert_eq!(shown(&[5_001, 5_002, 7]), "5.001 s, 5.002 s, 7 ms");
        assert_eq!(shown(&[24 * HOUR, 24 * HOUR + 60_000]), "1 d 00 h 00 m 00 s, 1 d 00 h 01 m 00 s");
        assert_eq!(shown(&[]), "");
    }

    #[test]
    fn unix_times_are_dates_and_virtual_times_are_none() {
        assert_eq!(utc(1_700_000_001_250).as_deref(), Some("2023-11-14 22:13:21.250 UTC"));
        assert_eq!((utc(0), utc(7_382_005), utc(u64::MAX)), (None, None, None));
        assert_eq!(Exact(93_784_005).to_string(), "1 d 02 h 03 m 04.005 s");
        assert_eq!(
            (Exact(999).to_string(), Exact(61_000).to_string()),
            ("999 ms".to_owned(), "1 m 01.000 s".to_owned())
        );
        assert_eq!(utc(253_402_300_799_999).as_deref(), Some("9999-12-31 23:59:59.999 UTC"));
    }
}
