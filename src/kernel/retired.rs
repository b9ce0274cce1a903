//! The record of a finished machine.

use core::ops::Deref;

use super::machine::Record;

/// The record of a machine that was taken apart, for reading.
///
/// It cannot begin another machine, unless its author implements [`Reusable`].
///
/// ```
/// use runstate::run::{Finish, Run, RunRecord};
/// use runstate::termination::TerminationReason;
///
/// let run = Run::new(RunRecord::new("r1")).finish(Finish::new(TerminationReason::NaturalEnd))?;
/// let (record, _done) = run.into_parts();
/// assert_eq!(record.id(), "r1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail
/// # use runstate::run::{Done, Run, RunRecord};
/// # fn again(run: Run<Done>) {
/// let (record, _done) = run.into_parts();
/// let again = Run::new(record); // expected `RunRecord`, found `Retired<RunRecord>`
/// # }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Retired<R>(R);

/// A record that may begin another machine after its own machine is finished. Only the crate of the record can
/// implement it.
///
/// ```
/// use runstate::kernel::{Record, Retired, Reusable};
///
/// struct Tray {
///     cups: u32,
/// }
/// impl Record for Tray {}
/// impl Reusable for Tray {}
///
/// fn wash(tray: Retired<Tray>) -> Tray {
///     Tray { cups: 0, ..tray.into_inner() }
/// }
/// ```
pub trait Reusable: Record {}

impl<R> Retired<R> {
    #[doc(hidden)]
    pub fn new(record: R) -> Self {
        Retired(record)
    }

    /// Returns the record by value.
    pub fn into_inner(self) -> R
    where
        R: Reusable,
    {
        self.0
    }
}

impl<R> Deref for Retired<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.0
    }
}
