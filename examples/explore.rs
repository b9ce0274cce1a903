//! A proof that a run is never done while one of its calls is open. A violation is printed with its shortest path.
//!
//! ```sh
//! cargo run --release --features testing --example explore -- 6          # the documented rule
//! cargo run --release --features testing --example explore -- 6 hasty    # a run that may be done at any time
//! cargo run --release --features testing --example explore -- 8 free     # no rule and no invariant: 17 M states
//! ```
use runstate::testing::{
    CompositionState, CompositionStep, Unproven, run_and_calls, run_invariant, run_rule,
};

fn main() -> Result<(), Unproven<CompositionState, CompositionStep>> {
    let mut arguments = std::env::args().skip(1);
    let calls = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(6);
    let composition = run_and_calls(calls);
    let explored = match arguments.next().as_deref() {
        Some("free") => composition.explore(|_, _, _| true, |_| true)?,
        Some("hasty") => composition.explore(|_, _, _| true, run_invariant)?,
        _ => composition.explore(run_rule, run_invariant)?,
    };
    println!("a run and {calls} calls: {explored}");
    Ok(())
}
