//! Calendar dates without time zones, for run ids and the times in files.

/// One day in milliseconds.
pub const DAY_MS: u64 = 86_400_000;

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// The number of days in a month.
pub fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The number of days from 1 January of the year 0 to 1 January of `year`.
fn days_before_year(year: u64) -> u64 {
    let Some(past) = year.checked_sub(1) else { return 0 };
    // The year 0 counts as a leap year.
    year * 365 + 1 + past / 4 - past / 100 + past / 400
}

/// The number of days from the first day of the year 0 to this day.
pub fn days_before(year: u64, month: u64, day: u64) -> u64 {
    days_before_year(year) + (1..month).map(|m| days_in(year, m)).sum::<u64>() + day - 1
}

/// The number of days from the first day of the year 0 to 1 January 1970.
pub const UNIX_DAY: u64 = 719_528;

/// The date that is `days` days after 1 January 1970, as year, month and day.
pub fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let days = days + UNIX_DAY;
    // This estimate with the mean length of a year is off by at most one year.
    let mut year = days * 400 / 146_097;
    while days_before_year(year) > days {
        year -= 1;
    }
    while days_before_year(year + 1) <= days {
        year += 1;
    }
    let mut left = days - days_before_year(year);
    let mut month = 1;
    while left >= days_in(year, month) {
        left -= days_in(year, month);
        month += 1;
    }
    (year, month, left + 1)
}
