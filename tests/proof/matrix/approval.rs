//! `approval`: 5 legal state/event pairs and 25 illegal ones, generated from the table in `tests/proof/approval.rs`.
//!
//! A line that does not compile is older than the table, or the lifecycle has another graph than its table. To write this
//! file anew:
//!
//! ```sh
//! : > tests/proof/matrix/approval.rs && RUNSTATE_ACCEPT=1 cargo test -p runstate --all-features --test lib proof::matrix
//! ```

use std::rc::Rc;

use runstate::approval::*;
use runstate::kernel::Accepts;
use static_assertions::{assert_impl_all, assert_not_impl_any, assert_type_eq_all};

// REQUEST_APPROVAL
assert_impl_all!(Approval<Requested>: Accepts<Submit>);
assert_type_eq_all!(<Approval<Requested> as Accepts<Submit>>::Next, AwaitingHuman);
assert_not_impl_any!(Approval<Requested>: Accepts<Approve>);
assert_not_impl_any!(Approval<Requested>: Accepts<Reject>);
assert_not_impl_any!(Approval<Requested>: Accepts<Execute>);
assert_not_impl_any!(Approval<Requested>: Accepts<Abort>);
assert_impl_all!(Approval<Requested>: Send, Sync);
assert_not_impl_any!(Approval<Requested>: Clone, Copy, Default);

// AWAITING_HUMAN
assert_not_impl_any!(Approval<AwaitingHuman>: Accepts<Submit>);
assert_impl_all!(Approval<AwaitingHuman>: Accepts<Approve>);
assert_type_eq_all!(<Approval<AwaitingHuman> as Accepts<Approve>>::Next, Approved);
assert_impl_all!(Approval<AwaitingHuman>: Accepts<Reject>);
assert_type_eq_all!(<Approval<AwaitingHuman> as Accepts<Reject>>::Next, Rejected);
assert_not_impl_any!(Approval<AwaitingHuman>: Accepts<Execute>);
assert_not_impl_any!(Approval<AwaitingHuman>: Accepts<Abort>);
assert_impl_all!(Approval<AwaitingHuman>: Send, Sync);
assert_not_impl_any!(Approval<AwaitingHuman>: Clone, Copy, Default);

// APPROVED
assert_not_impl_any!(Approval<Approved>: Accepts<Submit>);
assert_not_impl_any!(Approval<Approved>: Accepts<Approve>);
assert_not_impl_any!(Approval<Approved>: Accepts<Reject>);
assert_impl_all!(Approval<Approved>: Accepts<Execute>);
assert_type_eq_all!(<Approval<Approved> as Accepts<Execute>>::Next, Executed);
assert_not_impl_any!(Approval<Approved>: Accepts<Abort>);
assert_impl_all!(Approval<Approved>: Send, Sync);
assert_not_impl_any!(Approval<Approved>: Clone, Copy, Default);

// REJECTED
assert_not_impl_any!(Approval<Rejected>: Accepts<Submit>);
assert_not_impl_any!(Approval<Rejected>: Accepts<Approve>);
assert_not_impl_any!(Approval<Rejected>: Accepts<Reject>);
assert_not_impl_any!(Approval<Rejected>: Accepts<Execute>);
assert_impl_all!(Approval<Rejected>: Accepts<Abort>);
assert_type_eq_all!(<Approval<Rejected> as Accepts<Abort>>::Next, Aborted);
assert_impl_all!(Approval<Rejected>: Send, Sync);
assert_not_impl_any!(Approval<Rejected>: Clone, Copy, Default);

// EXECUTED
assert_not_impl_any!(Approval<Executed>: Accepts<Submit>);
assert_not_impl_any!(Approval<Executed>: Accepts<Approve>);
assert_not_impl_any!(Approval<Executed>: Accepts<Reject>);
assert_not_impl_any!(Approval<Executed>: Accepts<Execute>);
assert_not_impl_any!(Approval<Executed>: Accepts<Abort>);
assert_impl_all!(Approval<Executed>: Send, Sync);
assert_not_impl_any!(Approval<Executed>: Clone, Copy, Default);

// ABORTED
assert_not_impl_any!(Approval<Aborted>: Accepts<Submit>);
assert_not_impl_any!(Approval<Aborted>: Accepts<Approve>);
assert_not_impl_any!(Approval<Aborted>: Accepts<Reject>);
assert_not_impl_any!(Approval<Aborted>: Accepts<Execute>);
assert_not_impl_any!(Approval<Aborted>: Accepts<Abort>);
assert_impl_all!(Approval<Aborted>: Send, Sync);
assert_not_impl_any!(Approval<Aborted>: Clone, Copy, Default);

// In whichever state, and with data that is tied to its thread.
assert_impl_all!(AnyApproval: Send, Sync);
assert_not_impl_any!(AnyApproval: Clone, Copy, Default);
assert_not_impl_any!(Approval<Rc<()>>: Send, Sync);
