//! `run`: 4 legal state/event pairs and 5 illegal ones, generated from the table in `tests/proof/run.rs`.
//!
//! A line that does not compile is older than the table, or the lifecycle has another graph than its table. To write this
//! file anew:
//!
//! ```sh
//! : > tests/proof/matrix/run.rs && RUNSTATE_ACCEPT=1 cargo test -p runstate --all-features --test lib proof::matrix
//! ```

use std::rc::Rc;

use runstate::kernel::Accepts;
use runstate::run::*;
use static_assertions::{assert_impl_all, assert_not_impl_any, assert_type_eq_all};

// Running
assert_impl_all!(Run<Running>: Accepts<Wait>);
assert_type_eq_all!(<Run<Running> as Accepts<Wait>>::Next, Waiting);
assert_not_impl_any!(Run<Running>: Accepts<Resume>);
assert_impl_all!(Run<Running>: Accepts<Finish>);
assert_type_eq_all!(<Run<Running> as Accepts<Finish>>::Next, Done);
assert_impl_all!(Run<Running>: Send, Sync);
assert_not_impl_any!(Run<Running>: Clone, Copy, Default);

// Waiting
assert_not_impl_any!(Run<Waiting>: Accepts<Wait>);
assert_impl_all!(Run<Waiting>: Accepts<Resume>);
assert_type_eq_all!(<Run<Waiting> as Accepts<Resume>>::Next, Running);
assert_impl_all!(Run<Waiting>: Accepts<Finish>);
assert_type_eq_all!(<Run<Waiting> as Accepts<Finish>>::Next, Done);
assert_impl_all!(Run<Waiting>: Send, Sync);
assert_not_impl_any!(Run<Waiting>: Clone, Copy, Default);

// Done
assert_not_impl_any!(Run<Done>: Accepts<Wait>);
assert_not_impl_any!(Run<Done>: Accepts<Resume>);
assert_not_impl_any!(Run<Done>: Accepts<Finish>);
assert_impl_all!(Run<Done>: Send, Sync);
assert_not_impl_any!(Run<Done>: Clone, Copy, Default);

// In whichever state, and with data that is tied to its thread.
assert_impl_all!(AnyRun: Send, Sync);
assert_not_impl_any!(AnyRun: Clone, Copy, Default);
assert_not_impl_any!(Run<Rc<()>>: Send, Sync);
