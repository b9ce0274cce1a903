//! `tool_call`: 13 legal state/event pairs and 29 illegal ones, generated from the table in `tests/proof/tool_call.rs`.
//!
//! A line that does not compile is older than the table, or the lifecycle has another graph than its table. To write this
//! file anew:
//!
//! ```sh
//! : > tests/proof/matrix/tool_call.rs && RUNSTATE_ACCEPT=1 cargo test -p runstate --all-features --test lib proof::matrix
//! ```

use std::rc::Rc;

use runstate::kernel::Accepts;
use runstate::tool_call::*;
use static_assertions::{assert_impl_all, assert_not_impl_any, assert_type_eq_all};

// New
assert_impl_all!(ToolCall<New>: Accepts<Start>);
assert_type_eq_all!(<ToolCall<New> as Accepts<Start>>::Next, Running);
assert_impl_all!(ToolCall<New>: Accepts<Suspend>);
assert_type_eq_all!(<ToolCall<New> as Accepts<Suspend>>::Next, Suspended);
assert_not_impl_any!(ToolCall<New>: Accepts<Resume>);
assert_not_impl_any!(ToolCall<New>: Accepts<Succeed>);
assert_not_impl_any!(ToolCall<New>: Accepts<Fail>);
assert_not_impl_any!(ToolCall<New>: Accepts<Cancel>);
assert_impl_all!(ToolCall<New>: Send, Sync);
assert_not_impl_any!(ToolCall<New>: Clone, Copy, Default);

// Running
assert_not_impl_any!(ToolCall<Running>: Accepts<Start>);
assert_impl_all!(ToolCall<Running>: Accepts<Suspend>);
assert_type_eq_all!(<ToolCall<Running> as Accepts<Suspend>>::Next, Suspended);
assert_not_impl_any!(ToolCall<Running>: Accepts<Resume>);
assert_impl_all!(ToolCall<Running>: Accepts<Succeed>);
assert_type_eq_all!(<ToolCall<Running> as Accepts<Succeed>>::Next, Succeeded);
assert_impl_all!(ToolCall<Running>: Accepts<Fail>);
assert_type_eq_all!(<ToolCall<Running> as Accepts<Fail>>::Next, Failed);
assert_impl_all!(ToolCall<Running>: Accepts<Cancel>);
assert_type_eq_all!(<ToolCall<Running> as Accepts<Cancel>>::Next, Cancelled);
assert_impl_all!(ToolCall<Running>: Send, Sync);
assert_not_impl_any!(ToolCall<Running>: Clone, Copy, Default);

// Suspended
assert_not_impl_any!(ToolCall<Suspended>: Accepts<Start>);
assert_not_impl_any!(ToolCall<Suspended>: Accepts<Suspend>);
assert_impl_all!(ToolCall<Suspended>: Accepts<Resume>);
assert_type_eq_all!(<ToolCall<Suspended> as Accepts<Resume>>::Next, Resuming);
assert_not_impl_any!(ToolCall<Suspended>: Accepts<Succeed>);
assert_not_impl_any!(ToolCall<Suspended>: Accepts<Fail>);
assert_impl_all!(ToolCall<Suspended>: Accepts<Cancel>);
assert_type_eq_all!(<ToolCall<Suspended> as Accepts<Cancel>>::Next, Cancelled);
assert_impl_all!(ToolCall<Suspended>: Send, Sync);
assert_not_impl_any!(ToolCall<Suspended>: Clone, Copy, Default);

// Resuming
assert_impl_all!(ToolCall<Resuming>: Accepts<Start>);
assert_type_eq_all!(<ToolCall<Resuming> as Accepts<Start>>::Next, Running);
assert_impl_all!(ToolCall<Resuming>: Accepts<Suspend>);
assert_type_eq_all!(<ToolCall<Resuming> as Accepts<Suspend>>::Next, Suspended);
assert_not_impl_any!(ToolCall<Resuming>: Accepts<Resume>);
assert_impl_all!(ToolCall<Resuming>: Accepts<Succeed>);
assert_type_eq_all!(<ToolCall<Resuming> as Accepts<Succeed>>::Next, Succeeded);
assert_impl_all!(ToolCall<Resuming>: Accepts<Fail>);
assert_type_eq_all!(<ToolCall<Resuming> as Accepts<Fail>>::Next, Failed);
assert_impl_all!(ToolCall<Resuming>: Accepts<Cancel>);
assert_type_eq_all!(<ToolCall<Resuming> as Accepts<Cancel>>::Next, Cancelled);
assert_impl_all!(ToolCall<Resuming>: Send, Sync);
assert_not_impl_any!(ToolCall<Resuming>: Clone, Copy, Default);

// Succeeded
assert_not_impl_any!(ToolCall<Succeeded>: Accepts<Start>);
assert_not_impl_any!(ToolCall<Succeeded>: Accepts<Suspend>);
assert_not_impl_any!(ToolCall<Succeeded>: Accepts<Resume>);
assert_not_impl_any!(ToolCall<Succeeded>: Accepts<Succeed>);
assert_not_impl_any!(ToolCall<Succeeded>: Accepts<Fail>);
assert_not_impl_any!(ToolCall<Succeeded>: Accepts<Cancel>);
assert_impl_all!(ToolCall<Succeeded>: Send, Sync);
assert_not_impl_any!(ToolCall<Succeeded>: Clone, Copy, Default);

// Failed
assert_not_impl_any!(ToolCall<Failed>: Accepts<Start>);
assert_not_impl_any!(ToolCall<Failed>: Accepts<Suspend>);
assert_not_impl_any!(ToolCall<Failed>: Accepts<Resume>);
assert_not_impl_any!(ToolCall<Failed>: Accepts<Succeed>);
assert_not_impl_any!(ToolCall<Failed>: Accepts<Fail>);
assert_not_impl_any!(ToolCall<Failed>: Accepts<Cancel>);
assert_impl_all!(ToolCall<Failed>: Send, Sync);
assert_not_impl_any!(ToolCall<Failed>: Clone, Copy, Default);

// Cancelled
assert_not_impl_any!(ToolCall<Cancelled>: Accepts<Start>);
assert_not_impl_any!(ToolCall<Cancelled>: Accepts<Suspend>);
assert_not_impl_any!(ToolCall<Cancelled>: Accepts<Resume>);
assert_not_impl_any!(ToolCall<Cancelled>: Accepts<Succeed>);
assert_not_impl_any!(ToolCall<Cancelled>: Accepts<Fail>);
assert_not_impl_any!(ToolCall<Cancelled>: Accepts<Cancel>);
assert_impl_all!(ToolCall<Cancelled>: Send, Sync);
assert_not_impl_any!(ToolCall<Cancelled>: Clone, Copy, Default);

// In whichever state, and with data that is tied to its thread.
assert_impl_all!(AnyToolCall: Send, Sync);
assert_not_impl_any!(AnyToolCall: Clone, Copy, Default);
assert_not_impl_any!(ToolCall<Rc<()>>: Send, Sync);
