//! `governed_run`: 15 legal state/event pairs and 66 illegal ones, generated from the table in `tests/proof/governed_run.rs`.
//!
//! A line that does not compile is older than the table, or the lifecycle has another graph than its table. To write this
//! file anew:
//!
//! ```sh
//! : > tests/proof/matrix/governed_run.rs && RUNSTATE_ACCEPT=1 cargo test -p runstate --all-features --test lib proof::matrix
//! ```

use std::rc::Rc;

use runstate::governed_run::*;
use runstate::kernel::Accepts;
use static_assertions::{assert_impl_all, assert_not_impl_any, assert_type_eq_all};

// INIT
assert_impl_all!(GovernedRun<Init>: Accepts<Plan>);
assert_type_eq_all!(<GovernedRun<Init> as Accepts<Plan>>::Next, Planning);
assert_not_impl_any!(GovernedRun<Init>: Accepts<Execute>);
assert_not_impl_any!(GovernedRun<Init>: Accepts<AwaitApproval>);
assert_not_impl_any!(GovernedRun<Init>: Accepts<Approve>);
assert_not_impl_any!(GovernedRun<Init>: Accepts<Verify>);
assert_not_impl_any!(GovernedRun<Init>: Accepts<Audit>);
assert_not_impl_any!(GovernedRun<Init>: Accepts<Complete>);
assert_not_impl_any!(GovernedRun<Init>: Accepts<RollBack>);
assert_impl_all!(GovernedRun<Init>: Accepts<Halt>);
assert_type_eq_all!(<GovernedRun<Init> as Accepts<Halt>>::Next, HaltedUnsafe);
assert_impl_all!(GovernedRun<Init>: Send, Sync);
assert_not_impl_any!(GovernedRun<Init>: Clone, Copy, Default);

// PLANNING
assert_not_impl_any!(GovernedRun<Planning>: Accepts<Plan>);
assert_impl_all!(GovernedRun<Planning>: Accepts<Execute>);
assert_type_eq_all!(<GovernedRun<Planning> as Accepts<Execute>>::Next, Executing);
assert_not_impl_any!(GovernedRun<Planning>: Accepts<AwaitApproval>);
assert_not_impl_any!(GovernedRun<Planning>: Accepts<Approve>);
assert_not_impl_any!(GovernedRun<Planning>: Accepts<Verify>);
assert_not_impl_any!(GovernedRun<Planning>: Accepts<Audit>);
assert_not_impl_any!(GovernedRun<Planning>: Accepts<Complete>);
assert_not_impl_any!(GovernedRun<Planning>: Accepts<RollBack>);
assert_impl_all!(GovernedRun<Planning>: Accepts<Halt>);
assert_type_eq_all!(<GovernedRun<Planning> as Accepts<Halt>>::Next, HaltedUnsafe);
assert_impl_all!(GovernedRun<Planning>: Send, Sync);
assert_not_impl_any!(GovernedRun<Planning>: Clone, Copy, Default);

// EXECUTING
assert_not_impl_any!(GovernedRun<Executing>: Accepts<Plan>);
assert_not_impl_any!(GovernedRun<Executing>: Accepts<Execute>);
assert_impl_all!(GovernedRun<Executing>: Accepts<AwaitApproval>);
assert_type_eq_all!(<GovernedRun<Executing> as Accepts<AwaitApproval>>::Next, AwaitingApproval);
assert_not_impl_any!(GovernedRun<Executing>: Accepts<Approve>);
assert_impl_all!(GovernedRun<Executing>: Accepts<Verify>);
assert_type_eq_all!(<GovernedRun<Executing> as Accepts<Verify>>::Next, Verifying);
assert_not_impl_any!(GovernedRun<Executing>: Accepts<Audit>);
assert_not_impl_any!(GovernedRun<Executing>: Accepts<Complete>);
assert_impl_all!(GovernedRun<Executing>: Accepts<RollBack>);
assert_type_eq_all!(<GovernedRun<Executing> as Accepts<RollBack>>::Next, RolledBack);
assert_impl_all!(GovernedRun<Executing>: Accepts<Halt>);
assert_type_eq_all!(<GovernedRun<Executing> as Accepts<Halt>>::Next, HaltedUnsafe);
assert_impl_all!(GovernedRun<Executing>: Send, Sync);
assert_not_impl_any!(GovernedRun<Executing>: Clone, Copy, Default);

// AWAITING_APPROVAL
assert_not_impl_any!(GovernedRun<AwaitingApproval>: Accepts<Plan>);
assert_not_impl_any!(GovernedRun<AwaitingApproval>: Accepts<Execute>);
assert_not_impl_any!(GovernedRun<AwaitingApproval>: Accepts<AwaitApproval>);
assert_impl_all!(GovernedRun<AwaitingApproval>: Accepts<Approve>);
assert_type_eq_all!(<GovernedRun<AwaitingApproval> as Accepts<Approve>>::Next, Executing);
assert_not_impl_any!(GovernedRun<AwaitingApproval>: Accepts<Verify>);
assert_not_impl_any!(GovernedRun<AwaitingApproval>: Accepts<Audit>);
assert_not_impl_any!(GovernedRun<AwaitingApproval>: Accepts<Complete>);
assert_impl_all!(GovernedRun<AwaitingApproval>: Accepts<RollBack>);
assert_type_eq_all!(<GovernedRun<AwaitingApproval> as Accepts<RollBack>>::Next, RolledBack);
assert_impl_all!(GovernedRun<AwaitingApproval>: Accepts<Halt>);
assert_type_eq_all!(<GovernedRun<AwaitingApproval> as Accepts<Halt>>::Next, HaltedUnsafe);
assert_impl_all!(GovernedRun<AwaitingApproval>: Send, Sync);
assert_not_impl_any!(GovernedRun<AwaitingApproval>: Clone, Copy, Default);

// VERIFYING
assert_not_impl_any!(GovernedRun<Verifying>: Accepts<Plan>);
assert_not_impl_any!(GovernedRun<Verifying>: Accepts<Execute>);
assert_not_impl_any!(GovernedRun<Verifying>: Accepts<AwaitApproval>);
assert_not_impl_any!(GovernedRun<Verifying>: Accepts<Approve>);
assert_not_impl_any!(GovernedRun<Verifying>: Accepts<Verify>);
assert_impl_all!(GovernedRun<Verifying>: Accepts<Audit>);
assert_type_eq_all!(<GovernedRun<Verifying> as Accepts<Audit>>::Next, Auditing);
assert_not_impl_any!(GovernedRun<Verifying>: Accepts<Complete>);
assert_impl_all!(GovernedRun<Verifying>: Accepts<RollBack>);
assert_type_eq_all!(<GovernedRun<Verifying> as Accepts<RollBack>>::Next, RolledBack);
assert_not_impl_any!(GovernedRun<Verifying>: Accepts<Halt>);
assert_impl_all!(GovernedRun<Verifying>: Send, Sync);
assert_not_impl_any!(GovernedRun<Verifying>: Clone, Copy, Default);

// AUDITING
assert_not_impl_any!(GovernedRun<Auditing>: Accepts<Plan>);
assert_not_impl_any!(GovernedRun<Auditing>: Accepts<Execute>);
assert_not_impl_any!(GovernedRun<Auditing>: Accepts<AwaitApproval>);
assert_not_impl_any!(GovernedRun<Auditing>: Accepts<Approve>);
assert_not_impl_any!(GovernedRun<Auditing>: Accepts<Verify>);
assert_not_impl_any!(GovernedRun<Auditing>: Accepts<Audit>);
assert_impl_all!(GovernedRun<Auditing>: Accepts<Complete>);
assert_type_eq_all!(<GovernedRun<Auditing> as Accepts<Complete>>::Next, Completed);
assert_impl_all!(GovernedRun<Auditing>: Accepts<RollBack>);
assert_type_eq_all!(<GovernedRun<Auditing> as Accepts<RollBack>>::Next, RolledBack);
assert_not_impl_any!(GovernedRun<Auditing>: Accepts<Halt>);
assert_impl_all!(GovernedRun<Auditing>: Send, Sync);
assert_not_impl_any!(GovernedRun<Auditing>: Clone, Copy, Default);

// COMPLETE
assert_not_impl_any!(GovernedRun<Completed>: Accepts<Plan>);
assert_not_impl_any!(GovernedRun<Completed>: Accepts<Execute>);
assert_not_impl_any!(GovernedRun<Completed>: Accepts<AwaitApproval>);
assert_not_impl_any!(GovernedRun<Completed>: Accepts<Approve>);
assert_not_impl_any!(GovernedRun<Completed>: Accepts<Verify>);
assert_not_impl_any!(GovernedRun<Completed>: Accepts<Audit>);
assert_not_impl_any!(GovernedRun<Completed>: Accepts<Complete>);
assert_not_impl_any!(GovernedRun<Completed>: Accepts<RollBack>);
assert_not_impl_any!(GovernedRun<Completed>: Accepts<Halt>);
assert_impl_all!(GovernedRun<Completed>: Send, Sync);
assert_not_impl_any!(GovernedRun<Completed>: Clone, Copy, Default);

// ROLLED_BACK
assert_not_impl_any!(GovernedRun<RolledBack>: Accepts<Plan>);
assert_not_impl_any!(GovernedRun<RolledBack>: Accepts<Execute>);
assert_not_impl_any!(GovernedRun<RolledBack>: Accepts<AwaitApproval>);
assert_not_impl_any!(GovernedRun<RolledBack>: Accepts<Approve>);
assert_not_impl_any!(GovernedRun<RolledBack>: Accepts<Verify>);
assert_not_impl_any!(GovernedRun<RolledBack>: Accepts<Audit>);
assert_not_impl_any!(GovernedRun<RolledBack>: Accepts<Complete>);
assert_not_impl_any!(GovernedRun<RolledBack>: Accepts<RollBack>);
assert_not_impl_any!(GovernedRun<RolledBack>: Accepts<Halt>);
assert_impl_all!(GovernedRun<RolledBack>: Send, Sync);
assert_not_impl_any!(GovernedRun<RolledBack>: Clone, Copy, Default);

// HALTED_UNSAFE
assert_not_impl_any!(GovernedRun<HaltedUnsafe>: Accepts<Plan>);
assert_not_impl_any!(GovernedRun<HaltedUnsafe>: Accepts<Execute>);
assert_not_impl_any!(GovernedRun<HaltedUnsafe>: Accepts<AwaitApproval>);
assert_not_impl_any!(GovernedRun<HaltedUnsafe>: Accepts<Approve>);
assert_not_impl_any!(GovernedRun<HaltedUnsafe>: Accepts<Verify>);
assert_not_impl_any!(GovernedRun<HaltedUnsafe>: Accepts<Audit>);
assert_not_impl_any!(GovernedRun<HaltedUnsafe>: Accepts<Complete>);
assert_not_impl_any!(GovernedRun<HaltedUnsafe>: Accepts<RollBack>);
assert_not_impl_any!(GovernedRun<HaltedUnsafe>: Accepts<Halt>);
assert_impl_all!(GovernedRun<HaltedUnsafe>: Send, Sync);
assert_not_impl_any!(GovernedRun<HaltedUnsafe>: Clone, Copy, Default);

// In whichever state, and with data that is tied to its thread.
assert_impl_all!(AnyGovernedRun: Send, Sync);
assert_not_impl_any!(AnyGovernedRun: Clone, Copy, Default);
assert_not_impl_any!(GovernedRun<Rc<()>>: Send, Sync);
