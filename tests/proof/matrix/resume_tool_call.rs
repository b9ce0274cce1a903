//! `resume_tool_call`: 13 legal state/event pairs and 131 illegal ones, generated from the table in `tests/proof/resume_tool_call.rs`.
//!
//! A line that does not compile is older than the table, or the lifecycle has another graph than its table. To write this
//! file anew:
//!
//! ```sh
//! : > tests/proof/matrix/resume_tool_call.rs && RUNSTATE_ACCEPT=1 cargo test -p runstate --all-features --test lib proof::matrix
//! ```

use std::rc::Rc;

use runstate::kernel::Accepts;
use runstate::resume_tool_call::*;
use static_assertions::{assert_impl_all, assert_not_impl_any, assert_type_eq_all};

// DrainDecisionChannel
assert_impl_all!(ResumeToolCall<DrainDecisionChannel>: Accepts<FindNothing>);
assert_type_eq_all!(<ResumeToolCall<DrainDecisionChannel> as Accepts<FindNothing>>::Next, NoDecision);
assert_impl_all!(ResumeToolCall<DrainDecisionChannel>: Accepts<MatchCall>);
assert_type_eq_all!(<ResumeToolCall<DrainDecisionChannel> as Accepts<MatchCall>>::Next, ResolveDecision);
assert_not_impl_any!(ResumeToolCall<DrainDecisionChannel>: Accepts<Resolve>);
assert_not_impl_any!(ResumeToolCall<DrainDecisionChannel>: Accepts<Persist>);
assert_not_impl_any!(ResumeToolCall<DrainDecisionChannel>: Accepts<Deny>);
assert_not_impl_any!(ResumeToolCall<DrainDecisionChannel>: Accepts<Approve>);
assert_not_impl_any!(ResumeToolCall<DrainDecisionChannel>: Accepts<Execute>);
assert_not_impl_any!(ResumeToolCall<DrainDecisionChannel>: Accepts<Settle>);
assert_not_impl_any!(ResumeToolCall<DrainDecisionChannel>: Accepts<Suspend>);
assert_not_impl_any!(ResumeToolCall<DrainDecisionChannel>: Accepts<Clear>);
assert_not_impl_any!(ResumeToolCall<DrainDecisionChannel>: Accepts<Compare>);
assert_not_impl_any!(ResumeToolCall<DrainDecisionChannel>: Accepts<Close>);
assert_impl_all!(ResumeToolCall<DrainDecisionChannel>: Send, Sync);
assert_not_impl_any!(ResumeToolCall<DrainDecisionChannel>: Clone, Copy, Default);

// NoDecision
assert_not_impl_any!(ResumeToolCall<NoDecision>: Accepts<FindNothing>);
assert_not_impl_any!(ResumeToolCall<NoDecision>: Accepts<MatchCall>);
assert_not_impl_any!(ResumeToolCall<NoDecision>: Accepts<Resolve>);
assert_not_impl_any!(ResumeToolCall<NoDecision>: Accepts<Persist>);
assert_not_impl_any!(ResumeToolCall<NoDecision>: Accepts<Deny>);
assert_not_impl_any!(ResumeToolCall<NoDecision>: Accepts<Approve>);
assert_not_impl_any!(ResumeToolCall<NoDecision>: Accepts<Execute>);
assert_not_impl_any!(ResumeToolCall<NoDecision>: Accepts<Settle>);
assert_not_impl_any!(ResumeToolCall<NoDecision>: Accepts<Suspend>);
assert_not_impl_any!(ResumeToolCall<NoDecision>: Accepts<Clear>);
assert_not_impl_any!(ResumeToolCall<NoDecision>: Accepts<Compare>);
assert_not_impl_any!(ResumeToolCall<NoDecision>: Accepts<Close>);
assert_impl_all!(ResumeToolCall<NoDecision>: Send, Sync);
assert_not_impl_any!(ResumeToolCall<NoDecision>: Clone, Copy, Default);

// ResolveDecision
assert_not_impl_any!(ResumeToolCall<ResolveDecision>: Accepts<FindNothing>);
assert_not_impl_any!(ResumeToolCall<ResolveDecision>: Accepts<MatchCall>);
assert_impl_all!(ResumeToolCall<ResolveDecision>: Accepts<Resolve>);
assert_type_eq_all!(<ResumeToolCall<ResolveDecision> as Accepts<Resolve>>::Next, PersistResumeDecision);
assert_not_impl_any!(ResumeToolCall<ResolveDecision>: Accepts<Persist>);
assert_not_impl_any!(ResumeToolCall<ResolveDecision>: Accepts<Deny>);
assert_not_impl_any!(ResumeToolCall<ResolveDecision>: Accepts<Approve>);
assert_not_impl_any!(ResumeToolCall<ResolveDecision>: Accepts<Execute>);
assert_not_impl_any!(ResumeToolCall<ResolveDecision>: Accepts<Settle>);
assert_not_impl_any!(ResumeToolCall<ResolveDecision>: Accepts<Suspend>);
assert_not_impl_any!(ResumeToolCall<ResolveDecision>: Accepts<Clear>);
assert_not_impl_any!(ResumeToolCall<ResolveDecision>: Accepts<Compare>);
assert_not_impl_any!(ResumeToolCall<ResolveDecision>: Accepts<Close>);
assert_impl_all!(ResumeToolCall<ResolveDecision>: Send, Sync);
assert_not_impl_any!(ResumeToolCall<ResolveDecision>: Clone, Copy, Default);

// PersistResumeDecision
assert_not_impl_any!(ResumeToolCall<PersistResumeDecision>: Accepts<FindNothing>);
assert_not_impl_any!(ResumeToolCall<PersistResumeDecision>: Accepts<MatchCall>);
assert_not_impl_any!(ResumeToolCall<PersistResumeDecision>: Accepts<Resolve>);
assert_impl_all!(ResumeToolCall<PersistResumeDecision>: Accepts<Persist>);
assert_type_eq_all!(<ResumeToolCall<PersistResumeDecision> as Accepts<Persist>>::Next, Replay);
assert_not_impl_any!(ResumeToolCall<PersistResumeDecision>: Accepts<Deny>);
assert_not_impl_any!(ResumeToolCall<PersistResumeDecision>: Accepts<Approve>);
assert_not_impl_any!(ResumeToolCall<PersistResumeDecision>: Accepts<Execute>);
assert_not_impl_any!(ResumeToolCall<PersistResumeDecision>: Accepts<Settle>);
assert_not_impl_any!(ResumeToolCall<PersistResumeDecision>: Accepts<Suspend>);
assert_not_impl_any!(ResumeToolCall<PersistResumeDecision>: Accepts<Clear>);
assert_not_impl_any!(ResumeToolCall<PersistResumeDecision>: Accepts<Compare>);
assert_not_impl_any!(ResumeToolCall<PersistResumeDecision>: Accepts<Close>);
assert_impl_all!(ResumeToolCall<PersistResumeDecision>: Send, Sync);
assert_not_impl_any!(ResumeToolCall<PersistResumeDecision>: Clone, Copy, Default);

// Replay
assert_not_impl_any!(ResumeToolCall<Replay>: Accepts<FindNothing>);
assert_not_impl_any!(ResumeToolCall<Replay>: Accepts<MatchCall>);
assert_not_impl_any!(ResumeToolCall<Replay>: Accepts<Resolve>);
assert_not_impl_any!(ResumeToolCall<Replay>: Accepts<Persist>);
assert_impl_all!(ResumeToolCall<Replay>: Accepts<Deny>);
assert_type_eq_all!(<ResumeToolCall<Replay> as Accepts<Deny>>::Next, ReplayCancel);
assert_impl_all!(ResumeToolCall<Replay>: Accepts<Approve>);
assert_type_eq_all!(<ResumeToolCall<Replay> as Accepts<Approve>>::Next, ReplayResume);
assert_not_impl_any!(ResumeToolCall<Replay>: Accepts<Execute>);
assert_not_impl_any!(ResumeToolCall<Replay>: Accepts<Settle>);
assert_not_impl_any!(ResumeToolCall<Replay>: Accepts<Suspend>);
assert_not_impl_any!(ResumeToolCall<Replay>: Accepts<Clear>);
assert_not_impl_any!(ResumeToolCall<Replay>: Accepts<Compare>);
assert_not_impl_any!(ResumeToolCall<Replay>: Accepts<Close>);
assert_impl_all!(ResumeToolCall<Replay>: Send, Sync);
assert_not_impl_any!(ResumeToolCall<Replay>: Clone, Copy, Default);

// ReplayCancel
assert_not_impl_any!(ResumeToolCall<ReplayCancel>: Accepts<FindNothing>);
assert_not_impl_any!(ResumeToolCall<ReplayCancel>: Accepts<MatchCall>);
assert_not_impl_any!(ResumeToolCall<ReplayCancel>: Accepts<Resolve>);
assert_not_impl_any!(ResumeToolCall<ReplayCancel>: Accepts<Persist>);
assert_not_impl_any!(ResumeToolCall<ReplayCancel>: Accepts<Deny>);
assert_not_impl_any!(ResumeToolCall<ReplayCancel>: Accepts<Approve>);
assert_not_impl_any!(ResumeToolCall<ReplayCancel>: Accepts<Execute>);
assert_not_impl_any!(ResumeToolCall<ReplayCancel>: Accepts<Settle>);
assert_not_impl_any!(ResumeToolCall<ReplayCancel>: Accepts<Suspend>);
assert_impl_all!(ResumeToolCall<ReplayCancel>: Accepts<Clear>);
assert_type_eq_all!(<ResumeToolCall<ReplayCancel> as Accepts<Clear>>::Next, ClearResolved);
assert_not_impl_any!(ResumeToolCall<ReplayCancel>: Accepts<Compare>);
assert_not_impl_any!(ResumeToolCall<ReplayCancel>: Accepts<Close>);
assert_impl_all!(ResumeToolCall<ReplayCancel>: Send, Sync);
assert_not_impl_any!(ResumeToolCall<ReplayCancel>: Clone, Copy, Default);

// ReplayResume
assert_not_impl_any!(ResumeToolCall<ReplayResume>: Accepts<FindNothing>);
assert_not_impl_any!(ResumeToolCall<ReplayResume>: Accepts<MatchCall>);
assert_not_impl_any!(ResumeToolCall<ReplayResume>: Accepts<Resolve>);
assert_not_impl_any!(ResumeToolCall<ReplayResume>: Accepts<Persist>);
assert_not_impl_any!(ResumeToolCall<ReplayResume>: Accepts<Deny>);
assert_not_impl_any!(ResumeToolCall<ReplayResume>: Accepts<Approve>);
assert_impl_all!(ResumeToolCall<ReplayResume>: Accepts<Execute>);
assert_type_eq_all!(<ResumeToolCall<ReplayResume> as Accepts<Execute>>::Next, ExecuteReplayedTool);
assert_not_impl_any!(ResumeToolCall<ReplayResume>: Accepts<Settle>);
assert_not_impl_any!(ResumeToolCall<ReplayResume>: Accepts<Suspend>);
assert_not_impl_any!(ResumeToolCall<ReplayResume>: Accepts<Clear>);
assert_not_impl_any!(ResumeToolCall<ReplayResume>: Accepts<Compare>);
assert_not_impl_any!(ResumeToolCall<ReplayResume>: Accepts<Close>);
assert_impl_all!(ResumeToolCall<ReplayResume>: Send, Sync);
assert_not_impl_any!(ResumeToolCall<ReplayResume>: Clone, Copy, Default);

// ExecuteReplayedTool
assert_not_impl_any!(ResumeToolCall<ExecuteReplayedTool>: Accepts<FindNothing>);
assert_not_impl_any!(ResumeToolCall<ExecuteReplayedTool>: Accepts<MatchCall>);
assert_not_impl_any!(ResumeToolCall<ExecuteReplayedTool>: Accepts<Resolve>);
assert_not_impl_any!(ResumeToolCall<ExecuteReplayedTool>: Accepts<Persist>);
assert_not_impl_any!(ResumeToolCall<ExecuteReplayedTool>: Accepts<Deny>);
assert_not_impl_any!(ResumeToolCall<ExecuteReplayedTool>: Accepts<Approve>);
assert_not_impl_any!(ResumeToolCall<ExecuteReplayedTool>: Accepts<Execute>);
assert_impl_all!(ResumeToolCall<ExecuteReplayedTool>: Accepts<Settle>);
assert_type_eq_all!(<ResumeToolCall<ExecuteReplayedTool> as Accepts<Settle>>::Next, ClearResolved);
assert_impl_all!(ResumeToolCall<ExecuteReplayedTool>: Accepts<Suspend>);
assert_type_eq_all!(<ResumeToolCall<ExecuteReplayedTool> as Accepts<Suspend>>::Next, SetNextSuspended);
assert_not_impl_any!(ResumeToolCall<ExecuteReplayedTool>: Accepts<Clear>);
assert_not_impl_any!(ResumeToolCall<ExecuteReplayedTool>: Accepts<Compare>);
assert_not_impl_any!(ResumeToolCall<ExecuteReplayedTool>: Accepts<Close>);
assert_impl_all!(ResumeToolCall<ExecuteReplayedTool>: Send, Sync);
assert_not_impl_any!(ResumeToolCall<ExecuteReplayedTool>: Clone, Copy, Default);

// SetNextSuspended
assert_not_impl_any!(ResumeToolCall<SetNextSuspended>: Accepts<FindNothing>);
assert_not_impl_any!(ResumeToolCall<SetNextSuspended>: Accepts<MatchCall>);
assert_not_impl_any!(ResumeToolCall<SetNextSuspended>: Accepts<Resolve>);
assert_not_impl_any!(ResumeToolCall<SetNextSuspended>: Accepts<Persist>);
assert_not_impl_any!(ResumeToolCall<SetNextSuspended>: Accepts<Deny>);
assert_not_impl_any!(ResumeToolCall<SetNextSuspended>: Accepts<Approve>);
assert_not_impl_any!(ResumeToolCall<SetNextSuspended>: Accepts<Execute>);
assert_not_impl_any!(ResumeToolCall<SetNextSuspended>: Accepts<Settle>);
assert_not_impl_any!(ResumeToolCall<SetNextSuspended>: Accepts<Suspend>);
assert_impl_all!(ResumeToolCall<SetNextSuspended>: Accepts<Clear>);
assert_type_eq_all!(<ResumeToolCall<SetNextSuspended> as Accepts<Clear>>::Next, ClearResolved);
assert_not_impl_any!(ResumeToolCall<SetNextSuspended>: Accepts<Compare>);
assert_not_impl_any!(ResumeToolCall<SetNextSuspended>: Accepts<Close>);
assert_impl_all!(ResumeToolCall<SetNextSuspended>: Send, Sync);
assert_not_impl_any!(ResumeToolCall<SetNextSuspended>: Clone, Copy, Default);

// ClearResolved
assert_not_impl_any!(ResumeToolCall<ClearResolved>: Accepts<FindNothing>);
assert_not_impl_any!(ResumeToolCall<ClearResolved>: Accepts<MatchCall>);
assert_not_impl_any!(ResumeToolCall<ClearResolved>: Accepts<Resolve>);
assert_not_impl_any!(ResumeToolCall<ClearResolved>: Accepts<Persist>);
assert_not_impl_any!(ResumeToolCall<ClearResolved>: Accepts<Deny>);
assert_not_impl_any!(ResumeToolCall<ClearResolved>: Accepts<Approve>);
assert_not_impl_any!(ResumeToolCall<ClearResolved>: Accepts<Execute>);
assert_not_impl_any!(ResumeToolCall<ClearResolved>: Accepts<Settle>);
assert_not_impl_any!(ResumeToolCall<ClearResolved>: Accepts<Suspend>);
assert_not_impl_any!(ResumeToolCall<ClearResolved>: Accepts<Clear>);
assert_impl_all!(ResumeToolCall<ClearResolved>: Accepts<Compare>);
assert_type_eq_all!(<ResumeToolCall<ClearResolved> as Accepts<Compare>>::Next, SnapshotIfStateChanged);
assert_not_impl_any!(ResumeToolCall<ClearResolved>: Accepts<Close>);
assert_impl_all!(ResumeToolCall<ClearResolved>: Send, Sync);
assert_not_impl_any!(ResumeToolCall<ClearResolved>: Clone, Copy, Default);

// SnapshotIfStateChanged
assert_not_impl_any!(ResumeToolCall<SnapshotIfStateChanged>: Accepts<FindNothing>);
assert_not_impl_any!(ResumeToolCall<SnapshotIfStateChanged>: Accepts<MatchCall>);
assert_not_impl_any!(ResumeToolCall<SnapshotIfStateChanged>: Accepts<Resolve>);
assert_not_impl_any!(ResumeToolCall<SnapshotIfStateChanged>: Accepts<Persist>);
assert_not_impl_any!(ResumeToolCall<SnapshotIfStateChanged>: Accepts<Deny>);
assert_not_impl_any!(ResumeToolCall<SnapshotIfStateChanged>: Accepts<Approve>);
assert_not_impl_any!(ResumeToolCall<SnapshotIfStateChanged>: Accepts<Execute>);
assert_not_impl_any!(ResumeToolCall<SnapshotIfStateChanged>: Accepts<Settle>);
assert_not_impl_any!(ResumeToolCall<SnapshotIfStateChanged>: Accepts<Suspend>);
assert_not_impl_any!(ResumeToolCall<SnapshotIfStateChanged>: Accepts<Clear>);
assert_not_impl_any!(ResumeToolCall<SnapshotIfStateChanged>: Accepts<Compare>);
assert_impl_all!(ResumeToolCall<SnapshotIfStateChanged>: Accepts<Close>);
assert_type_eq_all!(<ResumeToolCall<SnapshotIfStateChanged> as Accepts<Close>>::Next, CommitReplay);
assert_impl_all!(ResumeToolCall<SnapshotIfStateChanged>: Send, Sync);
assert_not_impl_any!(ResumeToolCall<SnapshotIfStateChanged>: Clone, Copy, Default);

// CommitReplay
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Accepts<FindNothing>);
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Accepts<MatchCall>);
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Accepts<Resolve>);
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Accepts<Persist>);
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Accepts<Deny>);
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Accepts<Approve>);
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Accepts<Execute>);
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Accepts<Settle>);
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Accepts<Suspend>);
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Accepts<Clear>);
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Accepts<Compare>);
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Accepts<Close>);
assert_impl_all!(ResumeToolCall<CommitReplay>: Send, Sync);
assert_not_impl_any!(ResumeToolCall<CommitReplay>: Clone, Copy, Default);

// In whichever state, and with data that is tied to its thread.
assert_impl_all!(AnyResumeToolCall: Send, Sync);
assert_not_impl_any!(AnyResumeToolCall: Clone, Copy, Default);
assert_not_impl_any!(ResumeToolCall<Rc<()>>: Send, Sync);
