//! A minimal crate to build, test and deploy.

/// Returns the larger of two numbers.
pub fn larger(a: u32, b: u32) -> u32 {
    if a > b { a } else { b }
}

#[test]
fn the_larger_one_is_found() {
    assert_eq!((larger(1, 2), larger(2, 1), larger(2, 2)), (2, 2, 2));
}
