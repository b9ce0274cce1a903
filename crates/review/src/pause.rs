//! Pauses that dwarf all other waits of a trace.

/// The most pauses that are shown as such.
const MOST: usize = 20;
/// A pause is long if it exceeds the sum of all shorter ones by this factor.
const LONG: u64 = 10;

/// The longest time between two events that is no long pause. Many long pauses are no exception, so there is none then.
pub(crate) fn longest_to_scale(pauses: &[u64]) -> u64 {
    let mut sorted: Vec<u64> = pauses.iter().copied().filter(|pause| *pause > 0).collect();
    sorted.sort_unstable();
    let (mut sum, mut limit) = (0_u64, u64::MAX);
    for pause in &sorted {
        if sum > 0 && *pause > sum.saturating_mul(LONG) {
            // `sum` is at least each pause before.
            // The last of such jumps counts: one between two short pauses has no effect.
            limit = sum;
        }
        sum = sum.saturating_add(*pause);
    }
    if sorted.iter().filter(|pause| **pause > limit).count() > MOST { u64::MAX } else { limit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_that_dwarf_all_others_are_long() {
        assert_eq!(longest_to_scale(&[5, 0, 3, 3_600_000, 4, 3_600_000]), 12);
        assert_eq!(longest_to_scale(&[86_400_000, 0, 0]), u64::MAX);
        assert_eq!(longest_to_scale(&[1, 2, 4, 8, 16]), u64::MAX);
        // A pause of 1 ms makes no long one of 20 ms.
        assert_eq!(longest_to_scale(&[1, 20, 7_200_000, 1_500, 1_400, 1_300]), 4_221);
        assert_eq!(longest_to_scale(&[u64::MAX, u64::MAX, 1]), 1);
        assert_eq!(longest_to_scale(&[]), u64::MAX);
        let many: Vec<u64> = [1].into_iter().chain([1_000; 21]).collect();
        assert_eq!((longest_to_scale(&many), longest_to_scale(&many[..21])), (u64::MAX, 1));
    }
}
