//! `tool_execution`: 11 legal state/event pairs and 38 illegal ones, generated from the table in `tests/proof/tool_execution.rs`.
//!
//! A line that does not compile is older than the table, or the lifecycle has another graph than its table. To write this
//! file anew:
//!
//! ```sh
//! : > tests/proof/matrix/tool_execution.rs && RUNSTATE_ACCEPT=1 cargo test -p runstate --all-features --test lib proof::matrix
//! ```

use std::rc::Rc;

use runstate::kernel::Accepts;
use runstate::tool_execution::*;
use static_assertions::{assert_impl_all, assert_not_impl_any, assert_type_eq_all};

// BeforeToolExecute
assert_impl_all!(ToolExecution<BeforeToolExecute>: Accepts<Block>);
assert_type_eq_all!(<ToolExecution<BeforeToolExecute> as Accepts<Block>>::Next, Blocked);
assert_impl_all!(ToolExecution<BeforeToolExecute>: Accepts<Suspend>);
assert_type_eq_all!(<ToolExecution<BeforeToolExecute> as Accepts<Suspend>>::Next, Suspended);
assert_impl_all!(ToolExecution<BeforeToolExecute>: Accepts<Reject>);
assert_type_eq_all!(<ToolExecution<BeforeToolExecute> as Accepts<Reject>>::Next, Failed);
assert_impl_all!(ToolExecution<BeforeToolExecute>: Accepts<Allow>);
assert_type_eq_all!(<ToolExecution<BeforeToolExecute> as Accepts<Allow>>::Next, ExecuteTool);
assert_not_impl_any!(ToolExecution<BeforeToolExecute>: Accepts<Succeed>);
assert_not_impl_any!(ToolExecution<BeforeToolExecute>: Accepts<Fail>);
assert_not_impl_any!(ToolExecution<BeforeToolExecute>: Accepts<Conclude>);
assert_impl_all!(ToolExecution<BeforeToolExecute>: Send, Sync);
assert_not_impl_any!(ToolExecution<BeforeToolExecute>: Clone, Copy, Default);

// Blocked
assert_not_impl_any!(ToolExecution<Blocked>: Accepts<Block>);
assert_not_impl_any!(ToolExecution<Blocked>: Accepts<Suspend>);
assert_not_impl_any!(ToolExecution<Blocked>: Accepts<Reject>);
assert_not_impl_any!(ToolExecution<Blocked>: Accepts<Allow>);
assert_not_impl_any!(ToolExecution<Blocked>: Accepts<Succeed>);
assert_not_impl_any!(ToolExecution<Blocked>: Accepts<Fail>);
assert_impl_all!(ToolExecution<Blocked>: Accepts<Conclude>);
assert_type_eq_all!(<ToolExecution<Blocked> as Accepts<Conclude>>::Next, AfterToolExecute);
assert_impl_all!(ToolExecution<Blocked>: Send, Sync);
assert_not_impl_any!(ToolExecution<Blocked>: Clone, Copy, Default);

// Suspended
assert_not_impl_any!(ToolExecution<Suspended>: Accepts<Block>);
assert_not_impl_any!(ToolExecution<Suspended>: Accepts<Suspend>);
assert_not_impl_any!(ToolExecution<Suspended>: Accepts<Reject>);
assert_not_impl_any!(ToolExecution<Suspended>: Accepts<Allow>);
assert_not_impl_any!(ToolExecution<Suspended>: Accepts<Succeed>);
assert_not_impl_any!(ToolExecution<Suspended>: Accepts<Fail>);
assert_impl_all!(ToolExecution<Suspended>: Accepts<Conclude>);
assert_type_eq_all!(<ToolExecution<Suspended> as Accepts<Conclude>>::Next, AfterToolExecute);
assert_impl_all!(ToolExecution<Suspended>: Send, Sync);
assert_not_impl_any!(ToolExecution<Suspended>: Clone, Copy, Default);

// Failed
assert_not_impl_any!(ToolExecution<Failed>: Accepts<Block>);
assert_not_impl_any!(ToolExecution<Failed>: Accepts<Suspend>);
assert_not_impl_any!(ToolExecution<Failed>: Accepts<Reject>);
assert_not_impl_any!(ToolExecution<Failed>: Accepts<Allow>);
assert_not_impl_any!(ToolExecution<Failed>: Accepts<Succeed>);
assert_not_impl_any!(ToolExecution<Failed>: Accepts<Fail>);
assert_impl_all!(ToolExecution<Failed>: Accepts<Conclude>);
assert_type_eq_all!(<ToolExecution<Failed> as Accepts<Conclude>>::Next, AfterToolExecute);
assert_impl_all!(ToolExecution<Failed>: Send, Sync);
assert_not_impl_any!(ToolExecution<Failed>: Clone, Copy, Default);

// ExecuteTool
assert_not_impl_any!(ToolExecution<ExecuteTool>: Accepts<Block>);
assert_impl_all!(ToolExecution<ExecuteTool>: Accepts<Suspend>);
assert_type_eq_all!(<ToolExecution<ExecuteTool> as Accepts<Suspend>>::Next, Suspended);
assert_not_impl_any!(ToolExecution<ExecuteTool>: Accepts<Reject>);
assert_not_impl_any!(ToolExecution<ExecuteTool>: Accepts<Allow>);
assert_impl_all!(ToolExecution<ExecuteTool>: Accepts<Succeed>);
assert_type_eq_all!(<ToolExecution<ExecuteTool> as Accepts<Succeed>>::Next, Succeeded);
assert_impl_all!(ToolExecution<ExecuteTool>: Accepts<Fail>);
assert_type_eq_all!(<ToolExecution<ExecuteTool> as Accepts<Fail>>::Next, Failed);
assert_not_impl_any!(ToolExecution<ExecuteTool>: Accepts<Conclude>);
assert_impl_all!(ToolExecution<ExecuteTool>: Send, Sync);
assert_not_impl_any!(ToolExecution<ExecuteTool>: Clone, Copy, Default);

// Succeeded
assert_not_impl_any!(ToolExecution<Succeeded>: Accepts<Block>);
assert_not_impl_any!(ToolExecution<Succeeded>: Accepts<Suspend>);
assert_not_impl_any!(ToolExecution<Succeeded>: Accepts<Reject>);
assert_not_impl_any!(ToolExecution<Succeeded>: Accepts<Allow>);
assert_not_impl_any!(ToolExecution<Succeeded>: Accepts<Succeed>);
assert_not_impl_any!(ToolExecution<Succeeded>: Accepts<Fail>);
assert_impl_all!(ToolExecution<Succeeded>: Accepts<Conclude>);
assert_type_eq_all!(<ToolExecution<Succeeded> as Accepts<Conclude>>::Next, AfterToolExecute);
assert_impl_all!(ToolExecution<Succeeded>: Send, Sync);
assert_not_impl_any!(ToolExecution<Succeeded>: Clone, Copy, Default);

// AfterToolExecute
assert_not_impl_any!(ToolExecution<AfterToolExecute>: Accepts<Block>);
assert_not_impl_any!(ToolExecution<AfterToolExecute>: Accepts<Suspend>);
assert_not_impl_any!(ToolExecution<AfterToolExecute>: Accepts<Reject>);
assert_not_impl_any!(ToolExecution<AfterToolExecute>: Accepts<Allow>);
assert_not_impl_any!(ToolExecution<AfterToolExecute>: Accepts<Succeed>);
assert_not_impl_any!(ToolExecution<AfterToolExecute>: Accepts<Fail>);
assert_not_impl_any!(ToolExecution<AfterToolExecute>: Accepts<Conclude>);
assert_impl_all!(ToolExecution<AfterToolExecute>: Send, Sync);
assert_not_impl_any!(ToolExecution<AfterToolExecute>: Clone, Copy, Default);

// In whichever state, and with data that is tied to its thread.
assert_impl_all!(AnyToolExecution: Send, Sync);
assert_not_impl_any!(AnyToolExecution: Clone, Copy, Default);
assert_not_impl_any!(ToolExecution<Rc<()>>: Send, Sync);
