//! `service_run`: 11 legal state/event pairs and 110 illegal ones, generated from the table in `tests/proof/service_run.rs`.
//!
//! A line that does not compile is older than the table, or the lifecycle has another graph than its table. To write this
//! file anew:
//!
//! ```sh
//! : > tests/proof/matrix/service_run.rs && RUNSTATE_ACCEPT=1 cargo test -p runstate --all-features --test lib proof::matrix
//! ```

use std::rc::Rc;

use runstate::kernel::Accepts;
use runstate::service_run::*;
use static_assertions::{assert_impl_all, assert_not_impl_any, assert_type_eq_all};

// CREATED
assert_impl_all!(ServiceRun<Created>: Accepts<Start>);
assert_type_eq_all!(<ServiceRun<Created> as Accepts<Start>>::Next, Running);
assert_not_impl_any!(ServiceRun<Created>: Accepts<Ready>);
assert_not_impl_any!(ServiceRun<Created>: Accepts<Pause>);
assert_not_impl_any!(ServiceRun<Created>: Accepts<Block>);
assert_not_impl_any!(ServiceRun<Created>: Accepts<Fail>);
assert_not_impl_any!(ServiceRun<Created>: Accepts<Resume>);
assert_not_impl_any!(ServiceRun<Created>: Accepts<Approve>);
assert_not_impl_any!(ServiceRun<Created>: Accepts<Reject>);
assert_not_impl_any!(ServiceRun<Created>: Accepts<Submit>);
assert_not_impl_any!(ServiceRun<Created>: Accepts<Confirm>);
assert_not_impl_any!(ServiceRun<Created>: Accepts<Revert>);
assert_impl_all!(ServiceRun<Created>: Send, Sync);
assert_not_impl_any!(ServiceRun<Created>: Clone, Copy, Default);

// RUNNING
assert_not_impl_any!(ServiceRun<Running>: Accepts<Start>);
assert_impl_all!(ServiceRun<Running>: Accepts<Ready>);
assert_type_eq_all!(<ServiceRun<Running> as Accepts<Ready>>::Next, AwaitingApproval);
assert_impl_all!(ServiceRun<Running>: Accepts<Pause>);
assert_type_eq_all!(<ServiceRun<Running> as Accepts<Pause>>::Next, Paused);
assert_impl_all!(ServiceRun<Running>: Accepts<Block>);
assert_type_eq_all!(<ServiceRun<Running> as Accepts<Block>>::Next, Blocked);
assert_impl_all!(ServiceRun<Running>: Accepts<Fail>);
assert_type_eq_all!(<ServiceRun<Running> as Accepts<Fail>>::Next, Failed);
assert_not_impl_any!(ServiceRun<Running>: Accepts<Resume>);
assert_not_impl_any!(ServiceRun<Running>: Accepts<Approve>);
assert_not_impl_any!(ServiceRun<Running>: Accepts<Reject>);
assert_not_impl_any!(ServiceRun<Running>: Accepts<Submit>);
assert_not_impl_any!(ServiceRun<Running>: Accepts<Confirm>);
assert_not_impl_any!(ServiceRun<Running>: Accepts<Revert>);
assert_impl_all!(ServiceRun<Running>: Send, Sync);
assert_not_impl_any!(ServiceRun<Running>: Clone, Copy, Default);

// PAUSED
assert_not_impl_any!(ServiceRun<Paused>: Accepts<Start>);
assert_not_impl_any!(ServiceRun<Paused>: Accepts<Ready>);
assert_not_impl_any!(ServiceRun<Paused>: Accepts<Pause>);
assert_not_impl_any!(ServiceRun<Paused>: Accepts<Block>);
assert_not_impl_any!(ServiceRun<Paused>: Accepts<Fail>);
assert_impl_all!(ServiceRun<Paused>: Accepts<Resume>);
assert_type_eq_all!(<ServiceRun<Paused> as Accepts<Resume>>::Next, Running);
assert_not_impl_any!(ServiceRun<Paused>: Accepts<Approve>);
assert_not_impl_any!(ServiceRun<Paused>: Accepts<Reject>);
assert_not_impl_any!(ServiceRun<Paused>: Accepts<Submit>);
assert_not_impl_any!(ServiceRun<Paused>: Accepts<Confirm>);
assert_not_impl_any!(ServiceRun<Paused>: Accepts<Revert>);
assert_impl_all!(ServiceRun<Paused>: Send, Sync);
assert_not_impl_any!(ServiceRun<Paused>: Clone, Copy, Default);

// AWAITING_APPROVAL
assert_not_impl_any!(ServiceRun<AwaitingApproval>: Accepts<Start>);
assert_not_impl_any!(ServiceRun<AwaitingApproval>: Accepts<Ready>);
assert_not_impl_any!(ServiceRun<AwaitingApproval>: Accepts<Pause>);
assert_not_impl_any!(ServiceRun<AwaitingApproval>: Accepts<Block>);
assert_not_impl_any!(ServiceRun<AwaitingApproval>: Accepts<Fail>);
assert_not_impl_any!(ServiceRun<AwaitingApproval>: Accepts<Resume>);
assert_impl_all!(ServiceRun<AwaitingApproval>: Accepts<Approve>);
assert_type_eq_all!(<ServiceRun<AwaitingApproval> as Accepts<Approve>>::Next, ApprovedReady);
assert_impl_all!(ServiceRun<AwaitingApproval>: Accepts<Reject>);
assert_type_eq_all!(<ServiceRun<AwaitingApproval> as Accepts<Reject>>::Next, Rejected);
assert_not_impl_any!(ServiceRun<AwaitingApproval>: Accepts<Submit>);
assert_not_impl_any!(ServiceRun<AwaitingApproval>: Accepts<Confirm>);
assert_not_impl_any!(ServiceRun<AwaitingApproval>: Accepts<Revert>);
assert_impl_all!(ServiceRun<AwaitingApproval>: Send, Sync);
assert_not_impl_any!(ServiceRun<AwaitingApproval>: Clone, Copy, Default);

// APPROVED_READY
assert_not_impl_any!(ServiceRun<ApprovedReady>: Accepts<Start>);
assert_not_impl_any!(ServiceRun<ApprovedReady>: Accepts<Ready>);
assert_not_impl_any!(ServiceRun<ApprovedReady>: Accepts<Pause>);
assert_not_impl_any!(ServiceRun<ApprovedReady>: Accepts<Block>);
assert_not_impl_any!(ServiceRun<ApprovedReady>: Accepts<Fail>);
assert_not_impl_any!(ServiceRun<ApprovedReady>: Accepts<Resume>);
assert_not_impl_any!(ServiceRun<ApprovedReady>: Accepts<Approve>);
assert_not_impl_any!(ServiceRun<ApprovedReady>: Accepts<Reject>);
assert_impl_all!(ServiceRun<ApprovedReady>: Accepts<Submit>);
assert_type_eq_all!(<ServiceRun<ApprovedReady> as Accepts<Submit>>::Next, Submitted);
assert_not_impl_any!(ServiceRun<ApprovedReady>: Accepts<Confirm>);
assert_not_impl_any!(ServiceRun<ApprovedReady>: Accepts<Revert>);
assert_impl_all!(ServiceRun<ApprovedReady>: Send, Sync);
assert_not_impl_any!(ServiceRun<ApprovedReady>: Clone, Copy, Default);

// SUBMITTED
assert_not_impl_any!(ServiceRun<Submitted>: Accepts<Start>);
assert_not_impl_any!(ServiceRun<Submitted>: Accepts<Ready>);
assert_not_impl_any!(ServiceRun<Submitted>: Accepts<Pause>);
assert_not_impl_any!(ServiceRun<Submitted>: Accepts<Block>);
assert_not_impl_any!(ServiceRun<Submitted>: Accepts<Fail>);
assert_not_impl_any!(ServiceRun<Submitted>: Accepts<Resume>);
assert_not_impl_any!(ServiceRun<Submitted>: Accepts<Approve>);
assert_not_impl_any!(ServiceRun<Submitted>: Accepts<Reject>);
assert_not_impl_any!(ServiceRun<Submitted>: Accepts<Submit>);
assert_impl_all!(ServiceRun<Submitted>: Accepts<Confirm>);
assert_type_eq_all!(<ServiceRun<Submitted> as Accepts<Confirm>>::Next, Confirmed);
assert_impl_all!(ServiceRun<Submitted>: Accepts<Revert>);
assert_type_eq_all!(<ServiceRun<Submitted> as Accepts<Revert>>::Next, Reverted);
assert_impl_all!(ServiceRun<Submitted>: Send, Sync);
assert_not_impl_any!(ServiceRun<Submitted>: Clone, Copy, Default);

// CONFIRMED
assert_not_impl_any!(ServiceRun<Confirmed>: Accepts<Start>);
assert_not_impl_any!(ServiceRun<Confirmed>: Accepts<Ready>);
assert_not_impl_any!(ServiceRun<Confirmed>: Accepts<Pause>);
assert_not_impl_any!(ServiceRun<Confirmed>: Accepts<Block>);
assert_not_impl_any!(ServiceRun<Confirmed>: Accepts<Fail>);
assert_not_impl_any!(ServiceRun<Confirmed>: Accepts<Resume>);
assert_not_impl_any!(ServiceRun<Confirmed>: Accepts<Approve>);
assert_not_impl_any!(ServiceRun<Confirmed>: Accepts<Reject>);
assert_not_impl_any!(ServiceRun<Confirmed>: Accepts<Submit>);
assert_not_impl_any!(ServiceRun<Confirmed>: Accepts<Confirm>);
assert_not_impl_any!(ServiceRun<Confirmed>: Accepts<Revert>);
assert_impl_all!(ServiceRun<Confirmed>: Send, Sync);
assert_not_impl_any!(ServiceRun<Confirmed>: Clone, Copy, Default);

// REVERTED
assert_not_impl_any!(ServiceRun<Reverted>: Accepts<Start>);
assert_not_impl_any!(ServiceRun<Reverted>: Accepts<Ready>);
assert_not_impl_any!(ServiceRun<Reverted>: Accepts<Pause>);
assert_not_impl_any!(ServiceRun<Reverted>: Accepts<Block>);
assert_not_impl_any!(ServiceRun<Reverted>: Accepts<Fail>);
assert_not_impl_any!(ServiceRun<Reverted>: Accepts<Resume>);
assert_not_impl_any!(ServiceRun<Reverted>: Accepts<Approve>);
assert_not_impl_any!(ServiceRun<Reverted>: Accepts<Reject>);
assert_not_impl_any!(ServiceRun<Reverted>: Accepts<Submit>);
assert_not_impl_any!(ServiceRun<Reverted>: Accepts<Confirm>);
assert_not_impl_any!(ServiceRun<Reverted>: Accepts<Revert>);
assert_impl_all!(ServiceRun<Reverted>: Send, Sync);
assert_not_impl_any!(ServiceRun<Reverted>: Clone, Copy, Default);

// BLOCKED
assert_not_impl_any!(ServiceRun<Blocked>: Accepts<Start>);
assert_not_impl_any!(ServiceRun<Blocked>: Accepts<Ready>);
assert_not_impl_any!(ServiceRun<Blocked>: Accepts<Pause>);
assert_not_impl_any!(ServiceRun<Blocked>: Accepts<Block>);
assert_not_impl_any!(ServiceRun<Blocked>: Accepts<Fail>);
assert_not_impl_any!(ServiceRun<Blocked>: Accepts<Resume>);
assert_not_impl_any!(ServiceRun<Blocked>: Accepts<Approve>);
assert_not_impl_any!(ServiceRun<Blocked>: Accepts<Reject>);
assert_not_impl_any!(ServiceRun<Blocked>: Accepts<Submit>);
assert_not_impl_any!(ServiceRun<Blocked>: Accepts<Confirm>);
assert_not_impl_any!(ServiceRun<Blocked>: Accepts<Revert>);
assert_impl_all!(ServiceRun<Blocked>: Send, Sync);
assert_not_impl_any!(ServiceRun<Blocked>: Clone, Copy, Default);

// FAILED
assert_not_impl_any!(ServiceRun<Failed>: Accepts<Start>);
assert_not_impl_any!(ServiceRun<Failed>: Accepts<Ready>);
assert_not_impl_any!(ServiceRun<Failed>: Accepts<Pause>);
assert_not_impl_any!(ServiceRun<Failed>: Accepts<Block>);
assert_not_impl_any!(ServiceRun<Failed>: Accepts<Fail>);
assert_not_impl_any!(ServiceRun<Failed>: Accepts<Resume>);
assert_not_impl_any!(ServiceRun<Failed>: Accepts<Approve>);
assert_not_impl_any!(ServiceRun<Failed>: Accepts<Reject>);
assert_not_impl_any!(ServiceRun<Failed>: Accepts<Submit>);
assert_not_impl_any!(ServiceRun<Failed>: Accepts<Confirm>);
assert_not_impl_any!(ServiceRun<Failed>: Accepts<Revert>);
assert_impl_all!(ServiceRun<Failed>: Send, Sync);
assert_not_impl_any!(ServiceRun<Failed>: Clone, Copy, Default);

// REJECTED
assert_not_impl_any!(ServiceRun<Rejected>: Accepts<Start>);
assert_not_impl_any!(ServiceRun<Rejected>: Accepts<Ready>);
assert_not_impl_any!(ServiceRun<Rejected>: Accepts<Pause>);
assert_not_impl_any!(ServiceRun<Rejected>: Accepts<Block>);
assert_not_impl_any!(ServiceRun<Rejected>: Accepts<Fail>);
assert_not_impl_any!(ServiceRun<Rejected>: Accepts<Resume>);
assert_not_impl_any!(ServiceRun<Rejected>: Accepts<Approve>);
assert_not_impl_any!(ServiceRun<Rejected>: Accepts<Reject>);
assert_not_impl_any!(ServiceRun<Rejected>: Accepts<Submit>);
assert_not_impl_any!(ServiceRun<Rejected>: Accepts<Confirm>);
assert_not_impl_any!(ServiceRun<Rejected>: Accepts<Revert>);
assert_impl_all!(ServiceRun<Rejected>: Send, Sync);
assert_not_impl_any!(ServiceRun<Rejected>: Clone, Copy, Default);

// In whichever state, and with data that is tied to its thread.
assert_impl_all!(AnyServiceRun: Send, Sync);
assert_not_impl_any!(AnyServiceRun: Clone, Copy, Default);
assert_not_impl_any!(ServiceRun<Rc<()>>: Send, Sync);
