//! `stream_session`: 7 legal state/event pairs and 23 illegal ones, generated from the table in `tests/proof/stream_session.rs`.
//!
//! A line that does not compile is older than the table, or the lifecycle has another graph than its table. To write this
//! file anew:
//!
//! ```sh
//! : > tests/proof/matrix/stream_session.rs && RUNSTATE_ACCEPT=1 cargo test -p runstate --all-features --test lib proof::matrix
//! ```

use std::rc::Rc;

use runstate::kernel::Accepts;
use runstate::stream_session::*;
use static_assertions::{assert_impl_all, assert_not_impl_any, assert_type_eq_all};

// INIT
assert_impl_all!(StreamSession<Init>: Accepts<Open>);
assert_type_eq_all!(<StreamSession<Init> as Accepts<Open>>::Next, Streaming);
assert_not_impl_any!(StreamSession<Init>: Accepts<Retry>);
assert_not_impl_any!(StreamSession<Init>: Accepts<FallBack>);
assert_not_impl_any!(StreamSession<Init>: Accepts<Complete>);
assert_not_impl_any!(StreamSession<Init>: Accepts<Fail>);
assert_impl_all!(StreamSession<Init>: Send, Sync);
assert_not_impl_any!(StreamSession<Init>: Clone, Copy, Default);

// STREAMING
assert_not_impl_any!(StreamSession<Streaming>: Accepts<Open>);
assert_impl_all!(StreamSession<Streaming>: Accepts<Retry>);
assert_type_eq_all!(<StreamSession<Streaming> as Accepts<Retry>>::Next, Retrying);
assert_impl_all!(StreamSession<Streaming>: Accepts<FallBack>);
assert_type_eq_all!(<StreamSession<Streaming> as Accepts<FallBack>>::Next, FallingBack);
assert_impl_all!(StreamSession<Streaming>: Accepts<Complete>);
assert_type_eq_all!(<StreamSession<Streaming> as Accepts<Complete>>::Next, Completed);
assert_impl_all!(StreamSession<Streaming>: Accepts<Fail>);
assert_type_eq_all!(<StreamSession<Streaming> as Accepts<Fail>>::Next, Errored);
assert_impl_all!(StreamSession<Streaming>: Send, Sync);
assert_not_impl_any!(StreamSession<Streaming>: Clone, Copy, Default);

// RETRYING
assert_impl_all!(StreamSession<Retrying>: Accepts<Open>);
assert_type_eq_all!(<StreamSession<Retrying> as Accepts<Open>>::Next, Streaming);
assert_not_impl_any!(StreamSession<Retrying>: Accepts<Retry>);
assert_not_impl_any!(StreamSession<Retrying>: Accepts<FallBack>);
assert_not_impl_any!(StreamSession<Retrying>: Accepts<Complete>);
assert_not_impl_any!(StreamSession<Retrying>: Accepts<Fail>);
assert_impl_all!(StreamSession<Retrying>: Send, Sync);
assert_not_impl_any!(StreamSession<Retrying>: Clone, Copy, Default);

// FALLBACK
assert_impl_all!(StreamSession<FallingBack>: Accepts<Open>);
assert_type_eq_all!(<StreamSession<FallingBack> as Accepts<Open>>::Next, Streaming);
assert_not_impl_any!(StreamSession<FallingBack>: Accepts<Retry>);
assert_not_impl_any!(StreamSession<FallingBack>: Accepts<FallBack>);
assert_not_impl_any!(StreamSession<FallingBack>: Accepts<Complete>);
assert_not_impl_any!(StreamSession<FallingBack>: Accepts<Fail>);
assert_impl_all!(StreamSession<FallingBack>: Send, Sync);
assert_not_impl_any!(StreamSession<FallingBack>: Clone, Copy, Default);

// COMPLETE
assert_not_impl_any!(StreamSession<Completed>: Accepts<Open>);
assert_not_impl_any!(StreamSession<Completed>: Accepts<Retry>);
assert_not_impl_any!(StreamSession<Completed>: Accepts<FallBack>);
assert_not_impl_any!(StreamSession<Completed>: Accepts<Complete>);
assert_not_impl_any!(StreamSession<Completed>: Accepts<Fail>);
assert_impl_all!(StreamSession<Completed>: Send, Sync);
assert_not_impl_any!(StreamSession<Completed>: Clone, Copy, Default);

// ERROR
assert_not_impl_any!(StreamSession<Errored>: Accepts<Open>);
assert_not_impl_any!(StreamSession<Errored>: Accepts<Retry>);
assert_not_impl_any!(StreamSession<Errored>: Accepts<FallBack>);
assert_not_impl_any!(StreamSession<Errored>: Accepts<Complete>);
assert_not_impl_any!(StreamSession<Errored>: Accepts<Fail>);
assert_impl_all!(StreamSession<Errored>: Send, Sync);
assert_not_impl_any!(StreamSession<Errored>: Clone, Copy, Default);

// In whichever state, and with data that is tied to its thread.
assert_impl_all!(AnyStreamSession: Send, Sync);
assert_not_impl_any!(AnyStreamSession: Clone, Copy, Default);
assert_not_impl_any!(StreamSession<Rc<()>>: Send, Sync);
