//! Patterns for the model's answers, and which of them each matches: written down, and not computed by an engine.

/// The pattern, and the steps whose answers match. In step 2 the model says "step 2".
const PATTERNS: [(&str, &[u32]); 4] =
    [("^step 1$", &[1]), ("p [23]", &[2, 3]), ("^step [3-5]$", &[3, 4, 5]), ("^Step|stop", &[])];

/// So many patterns there are.
pub(super) const MANY: usize = PATTERNS.len();

/// A pattern, by its number.
pub(super) fn pattern(number: usize) -> &'static str {
    PATTERNS[number % MANY].0
}

/// Does what the model says in a step match? None for a pattern that is not of here. No run has so many steps that `p [23]` would
/// match a number of two digits.
pub fn pattern_matches(pattern: &str, step: u32) -> Option<bool> {
    let (_, steps) = PATTERNS.iter().find(|(known, _)| *known == pattern)?;
    let first_digit = step.to_string().bytes().next().map_or(0, |digit| u32::from(digit - b'0'));
    let anchored = pattern.ends_with('$');
    Some(steps.contains(&if anchored { step } else { first_digit }))
}
