//! Patterns for the model's answers, with their matches: written down, not computed by an engine.

/// The pattern, and the steps with matching answers. In step 2 the answer is "step 2".
const PATTERNS: [(&str, &[u32]); 4] =
    [("^step 1$", &[1]), ("p [23]", &[2, 3]), ("^step [3-5]$", &[3, 4, 5]), ("^Step|stop", &[])];

/// The number of patterns.
pub(super) const MANY: usize = PATTERNS.len();

/// A pattern, by its number.
pub(super) fn pattern(number: usize) -> &'static str {
    PATTERNS[number % MANY].0
}

/// Does the answer of a step match? `None` for an unknown pattern. No run has enough steps for `p [23]` to match a number of
/// two digits.
pub fn pattern_matches(pattern: &str, step: u32) -> Option<bool> {
    let (_, steps) = PATTERNS.iter().find(|(known, _)| *known == pattern)?;
    let first_digit = step.to_string().bytes().next().map_or(0, |digit| u32::from(digit - b'0'));
    let anchored = pattern.ends_with('$');
    Some(steps.contains(&if anchored { step } else { first_digit }))
}
