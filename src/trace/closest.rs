//! Suggestions for misspelled names.

/// Finds the known name closest to an unknown one: at most one typing error away, or similar.
///
/// # Example
/// ```
/// use runstate::trace::closest;
///
/// assert_eq!(closest("pya", ["ship", "pay"]), Some("pay"));
/// assert_eq!(closest("teleport", ["ship", "pay"]), None);
/// ```
pub fn closest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Longer names are not compared: the comparison takes time, and a long name is no typing error.
    const LONGEST: usize = 100;
    if name.len() > LONGEST {
        return None;
    }
    let name = name.to_lowercase();
    let near = |known: &str| {
        let known: String = known.chars().take(LONGEST).collect::<String>().to_lowercase();
        let is_slip = name.chars().count() > 2 && strsim::osa_distance(&known, &name) < 2;
        if is_slip { 1.0 } else { strsim::jaro_winkler(&known, &name) }
    };
    let nearest =
        known.into_iter().map(|known| (near(known), known)).max_by(|one, other| one.0.total_cmp(&other.0));
    nearest.filter(|(near, _)| *near > 0.8).map(|(_, known)| known)
}
