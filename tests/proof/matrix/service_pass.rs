//! `service_pass`: 27 legal state/event pairs and 142 illegal ones, generated from the table in `tests/proof/service_pass.rs`.
//!
//! A line that does not compile is older than the table, or the lifecycle has another graph than its table. To write this
//! file anew:
//!
//! ```sh
//! : > tests/proof/matrix/service_pass.rs && RUNSTATE_ACCEPT=1 cargo test -p runstate --all-features --test lib proof::matrix
//! ```

use std::rc::Rc;

use runstate::kernel::Accepts;
use runstate::service_pass::*;
use static_assertions::{assert_impl_all, assert_not_impl_any, assert_type_eq_all};

// INPUT_NORMALIZE
assert_impl_all!(ServicePass<InputNormalize>: Accepts<Normalize>);
assert_type_eq_all!(<ServicePass<InputNormalize> as Accepts<Normalize>>::Next, Precheck);
assert_not_impl_any!(ServicePass<InputNormalize>: Accepts<Admit>);
assert_not_impl_any!(ServicePass<InputNormalize>: Accepts<ReadWallet>);
assert_not_impl_any!(ServicePass<InputNormalize>: Accepts<Plan>);
assert_not_impl_any!(ServicePass<InputNormalize>: Accepts<Build>);
assert_not_impl_any!(ServicePass<InputNormalize>: Accepts<Simulate>);
assert_not_impl_any!(ServicePass<InputNormalize>: Accepts<Decide>);
assert_not_impl_any!(ServicePass<InputNormalize>: Accepts<Secure>);
assert_not_impl_any!(ServicePass<InputNormalize>: Accepts<Judge>);
assert_not_impl_any!(ServicePass<InputNormalize>: Accepts<Repair>);
assert_not_impl_any!(ServicePass<InputNormalize>: Accepts<Accept>);
assert_not_impl_any!(ServicePass<InputNormalize>: Accepts<Ask>);
assert_impl_all!(ServicePass<InputNormalize>: Accepts<Finish>);
assert_type_eq_all!(<ServicePass<InputNormalize> as Accepts<Finish>>::Next, Finalize);
assert_impl_all!(ServicePass<InputNormalize>: Send, Sync);
assert_not_impl_any!(ServicePass<InputNormalize>: Clone, Copy, Default);

// PRECHECK
assert_not_impl_any!(ServicePass<Precheck>: Accepts<Normalize>);
assert_impl_all!(ServicePass<Precheck>: Accepts<Admit>);
assert_type_eq_all!(<ServicePass<Precheck> as Accepts<Admit>>::Next, WalletSnapshot);
assert_not_impl_any!(ServicePass<Precheck>: Accepts<ReadWallet>);
assert_not_impl_any!(ServicePass<Precheck>: Accepts<Plan>);
assert_not_impl_any!(ServicePass<Precheck>: Accepts<Build>);
assert_not_impl_any!(ServicePass<Precheck>: Accepts<Simulate>);
assert_not_impl_any!(ServicePass<Precheck>: Accepts<Decide>);
assert_not_impl_any!(ServicePass<Precheck>: Accepts<Secure>);
assert_not_impl_any!(ServicePass<Precheck>: Accepts<Judge>);
assert_not_impl_any!(ServicePass<Precheck>: Accepts<Repair>);
assert_not_impl_any!(ServicePass<Precheck>: Accepts<Accept>);
assert_impl_all!(ServicePass<Precheck>: Accepts<Ask>);
assert_type_eq_all!(<ServicePass<Precheck> as Accepts<Ask>>::Next, Clarify);
assert_impl_all!(ServicePass<Precheck>: Accepts<Finish>);
assert_type_eq_all!(<ServicePass<Precheck> as Accepts<Finish>>::Next, Finalize);
assert_impl_all!(ServicePass<Precheck>: Send, Sync);
assert_not_impl_any!(ServicePass<Precheck>: Clone, Copy, Default);

// WALLET_SNAPSHOT
assert_not_impl_any!(ServicePass<WalletSnapshot>: Accepts<Normalize>);
assert_not_impl_any!(ServicePass<WalletSnapshot>: Accepts<Admit>);
assert_impl_all!(ServicePass<WalletSnapshot>: Accepts<ReadWallet>);
assert_type_eq_all!(<ServicePass<WalletSnapshot> as Accepts<ReadWallet>>::Next, PlanTx);
assert_not_impl_any!(ServicePass<WalletSnapshot>: Accepts<Plan>);
assert_not_impl_any!(ServicePass<WalletSnapshot>: Accepts<Build>);
assert_not_impl_any!(ServicePass<WalletSnapshot>: Accepts<Simulate>);
assert_not_impl_any!(ServicePass<WalletSnapshot>: Accepts<Decide>);
assert_not_impl_any!(ServicePass<WalletSnapshot>: Accepts<Secure>);
assert_not_impl_any!(ServicePass<WalletSnapshot>: Accepts<Judge>);
assert_not_impl_any!(ServicePass<WalletSnapshot>: Accepts<Repair>);
assert_not_impl_any!(ServicePass<WalletSnapshot>: Accepts<Accept>);
assert_not_impl_any!(ServicePass<WalletSnapshot>: Accepts<Ask>);
assert_impl_all!(ServicePass<WalletSnapshot>: Accepts<Finish>);
assert_type_eq_all!(<ServicePass<WalletSnapshot> as Accepts<Finish>>::Next, Finalize);
assert_impl_all!(ServicePass<WalletSnapshot>: Send, Sync);
assert_not_impl_any!(ServicePass<WalletSnapshot>: Clone, Copy, Default);

// PLAN_TX
assert_not_impl_any!(ServicePass<PlanTx>: Accepts<Normalize>);
assert_not_impl_any!(ServicePass<PlanTx>: Accepts<Admit>);
assert_not_impl_any!(ServicePass<PlanTx>: Accepts<ReadWallet>);
assert_impl_all!(ServicePass<PlanTx>: Accepts<Plan>);
assert_type_eq_all!(<ServicePass<PlanTx> as Accepts<Plan>>::Next, BuildTxs);
assert_not_impl_any!(ServicePass<PlanTx>: Accepts<Build>);
assert_not_impl_any!(ServicePass<PlanTx>: Accepts<Simulate>);
assert_not_impl_any!(ServicePass<PlanTx>: Accepts<Decide>);
assert_not_impl_any!(ServicePass<PlanTx>: Accepts<Secure>);
assert_not_impl_any!(ServicePass<PlanTx>: Accepts<Judge>);
assert_not_impl_any!(ServicePass<PlanTx>: Accepts<Repair>);
assert_not_impl_any!(ServicePass<PlanTx>: Accepts<Accept>);
assert_impl_all!(ServicePass<PlanTx>: Accepts<Ask>);
assert_type_eq_all!(<ServicePass<PlanTx> as Accepts<Ask>>::Next, Clarify);
assert_impl_all!(ServicePass<PlanTx>: Accepts<Finish>);
assert_type_eq_all!(<ServicePass<PlanTx> as Accepts<Finish>>::Next, Finalize);
assert_impl_all!(ServicePass<PlanTx>: Send, Sync);
assert_not_impl_any!(ServicePass<PlanTx>: Clone, Copy, Default);

// BUILD_TXS
assert_not_impl_any!(ServicePass<BuildTxs>: Accepts<Normalize>);
assert_not_impl_any!(ServicePass<BuildTxs>: Accepts<Admit>);
assert_not_impl_any!(ServicePass<BuildTxs>: Accepts<ReadWallet>);
assert_not_impl_any!(ServicePass<BuildTxs>: Accepts<Plan>);
assert_impl_all!(ServicePass<BuildTxs>: Accepts<Build>);
assert_type_eq_all!(<ServicePass<BuildTxs> as Accepts<Build>>::Next, SimulateTxs);
assert_not_impl_any!(ServicePass<BuildTxs>: Accepts<Simulate>);
assert_not_impl_any!(ServicePass<BuildTxs>: Accepts<Decide>);
assert_not_impl_any!(ServicePass<BuildTxs>: Accepts<Secure>);
assert_not_impl_any!(ServicePass<BuildTxs>: Accepts<Judge>);
assert_not_impl_any!(ServicePass<BuildTxs>: Accepts<Repair>);
assert_not_impl_any!(ServicePass<BuildTxs>: Accepts<Accept>);
assert_not_impl_any!(ServicePass<BuildTxs>: Accepts<Ask>);
assert_impl_all!(ServicePass<BuildTxs>: Accepts<Finish>);
assert_type_eq_all!(<ServicePass<BuildTxs> as Accepts<Finish>>::Next, Finalize);
assert_impl_all!(ServicePass<BuildTxs>: Send, Sync);
assert_not_impl_any!(ServicePass<BuildTxs>: Clone, Copy, Default);

// SIMULATE_TXS
assert_not_impl_any!(ServicePass<SimulateTxs>: Accepts<Normalize>);
assert_not_impl_any!(ServicePass<SimulateTxs>: Accepts<Admit>);
assert_not_impl_any!(ServicePass<SimulateTxs>: Accepts<ReadWallet>);
assert_not_impl_any!(ServicePass<SimulateTxs>: Accepts<Plan>);
assert_not_impl_any!(ServicePass<SimulateTxs>: Accepts<Build>);
assert_impl_all!(ServicePass<SimulateTxs>: Accepts<Simulate>);
assert_type_eq_all!(<ServicePass<SimulateTxs> as Accepts<Simulate>>::Next, PolicyEval);
assert_not_impl_any!(ServicePass<SimulateTxs>: Accepts<Decide>);
assert_not_impl_any!(ServicePass<SimulateTxs>: Accepts<Secure>);
assert_not_impl_any!(ServicePass<SimulateTxs>: Accepts<Judge>);
assert_not_impl_any!(ServicePass<SimulateTxs>: Accepts<Repair>);
assert_not_impl_any!(ServicePass<SimulateTxs>: Accepts<Accept>);
assert_not_impl_any!(ServicePass<SimulateTxs>: Accepts<Ask>);
assert_impl_all!(ServicePass<SimulateTxs>: Accepts<Finish>);
assert_type_eq_all!(<ServicePass<SimulateTxs> as Accepts<Finish>>::Next, Finalize);
assert_impl_all!(ServicePass<SimulateTxs>: Send, Sync);
assert_not_impl_any!(ServicePass<SimulateTxs>: Clone, Copy, Default);

// POLICY_EVAL
assert_not_impl_any!(ServicePass<PolicyEval>: Accepts<Normalize>);
assert_not_impl_any!(ServicePass<PolicyEval>: Accepts<Admit>);
assert_not_impl_any!(ServicePass<PolicyEval>: Accepts<ReadWallet>);
assert_not_impl_any!(ServicePass<PolicyEval>: Accepts<Plan>);
assert_not_impl_any!(ServicePass<PolicyEval>: Accepts<Build>);
assert_not_impl_any!(ServicePass<PolicyEval>: Accepts<Simulate>);
assert_impl_all!(ServicePass<PolicyEval>: Accepts<Decide>);
assert_type_eq_all!(<ServicePass<PolicyEval> as Accepts<Decide>>::Next, SecurityEval);
assert_not_impl_any!(ServicePass<PolicyEval>: Accepts<Secure>);
assert_not_impl_any!(ServicePass<PolicyEval>: Accepts<Judge>);
assert_not_impl_any!(ServicePass<PolicyEval>: Accepts<Repair>);
assert_not_impl_any!(ServicePass<PolicyEval>: Accepts<Accept>);
assert_not_impl_any!(ServicePass<PolicyEval>: Accepts<Ask>);
assert_impl_all!(ServicePass<PolicyEval>: Accepts<Finish>);
assert_type_eq_all!(<ServicePass<PolicyEval> as Accepts<Finish>>::Next, Finalize);
assert_impl_all!(ServicePass<PolicyEval>: Send, Sync);
assert_not_impl_any!(ServicePass<PolicyEval>: Clone, Copy, Default);

// SECURITY_EVAL
assert_not_impl_any!(ServicePass<SecurityEval>: Accepts<Normalize>);
assert_not_impl_any!(ServicePass<SecurityEval>: Accepts<Admit>);
assert_not_impl_any!(ServicePass<SecurityEval>: Accepts<ReadWallet>);
assert_not_impl_any!(ServicePass<SecurityEval>: Accepts<Plan>);
assert_not_impl_any!(ServicePass<SecurityEval>: Accepts<Build>);
assert_not_impl_any!(ServicePass<SecurityEval>: Accepts<Simulate>);
assert_not_impl_any!(ServicePass<SecurityEval>: Accepts<Decide>);
assert_impl_all!(ServicePass<SecurityEval>: Accepts<Secure>);
assert_type_eq_all!(<ServicePass<SecurityEval> as Accepts<Secure>>::Next, JudgeAgent);
assert_not_impl_any!(ServicePass<SecurityEval>: Accepts<Judge>);
assert_not_impl_any!(ServicePass<SecurityEval>: Accepts<Repair>);
assert_not_impl_any!(ServicePass<SecurityEval>: Accepts<Accept>);
assert_not_impl_any!(ServicePass<SecurityEval>: Accepts<Ask>);
assert_impl_all!(ServicePass<SecurityEval>: Accepts<Finish>);
assert_type_eq_all!(<ServicePass<SecurityEval> as Accepts<Finish>>::Next, Finalize);
assert_impl_all!(ServicePass<SecurityEval>: Send, Sync);
assert_not_impl_any!(ServicePass<SecurityEval>: Clone, Copy, Default);

// JUDGE_AGENT
assert_not_impl_any!(ServicePass<JudgeAgent>: Accepts<Normalize>);
assert_not_impl_any!(ServicePass<JudgeAgent>: Accepts<Admit>);
assert_not_impl_any!(ServicePass<JudgeAgent>: Accepts<ReadWallet>);
assert_not_impl_any!(ServicePass<JudgeAgent>: Accepts<Plan>);
assert_not_impl_any!(ServicePass<JudgeAgent>: Accepts<Build>);
assert_not_impl_any!(ServicePass<JudgeAgent>: Accepts<Simulate>);
assert_not_impl_any!(ServicePass<JudgeAgent>: Accepts<Decide>);
assert_not_impl_any!(ServicePass<JudgeAgent>: Accepts<Secure>);
assert_impl_all!(ServicePass<JudgeAgent>: Accepts<Judge>);
assert_type_eq_all!(<ServicePass<JudgeAgent> as Accepts<Judge>>::Next, RepairRouter);
assert_not_impl_any!(ServicePass<JudgeAgent>: Accepts<Repair>);
assert_not_impl_any!(ServicePass<JudgeAgent>: Accepts<Accept>);
assert_not_impl_any!(ServicePass<JudgeAgent>: Accepts<Ask>);
assert_impl_all!(ServicePass<JudgeAgent>: Accepts<Finish>);
assert_type_eq_all!(<ServicePass<JudgeAgent> as Accepts<Finish>>::Next, Finalize);
assert_impl_all!(ServicePass<JudgeAgent>: Send, Sync);
assert_not_impl_any!(ServicePass<JudgeAgent>: Clone, Copy, Default);

// REPAIR_ROUTER
assert_not_impl_any!(ServicePass<RepairRouter>: Accepts<Normalize>);
assert_not_impl_any!(ServicePass<RepairRouter>: Accepts<Admit>);
assert_not_impl_any!(ServicePass<RepairRouter>: Accepts<ReadWallet>);
assert_not_impl_any!(ServicePass<RepairRouter>: Accepts<Plan>);
assert_not_impl_any!(ServicePass<RepairRouter>: Accepts<Build>);
assert_not_impl_any!(ServicePass<RepairRouter>: Accepts<Simulate>);
assert_not_impl_any!(ServicePass<RepairRouter>: Accepts<Decide>);
assert_not_impl_any!(ServicePass<RepairRouter>: Accepts<Secure>);
assert_not_impl_any!(ServicePass<RepairRouter>: Accepts<Judge>);
assert_impl_all!(ServicePass<RepairRouter>: Accepts<Repair>);
assert_type_eq_all!(<ServicePass<RepairRouter> as Accepts<Repair>>::Next, RepairPlanTx);
assert_impl_all!(ServicePass<RepairRouter>: Accepts<Accept>);
assert_type_eq_all!(<ServicePass<RepairRouter> as Accepts<Accept>>::Next, Clarify);
assert_not_impl_any!(ServicePass<RepairRouter>: Accepts<Ask>);
assert_impl_all!(ServicePass<RepairRouter>: Accepts<Finish>);
assert_type_eq_all!(<ServicePass<RepairRouter> as Accepts<Finish>>::Next, Finalize);
assert_impl_all!(ServicePass<RepairRouter>: Send, Sync);
assert_not_impl_any!(ServicePass<RepairRouter>: Clone, Copy, Default);

// REPAIR_PLAN_TX
assert_not_impl_any!(ServicePass<RepairPlanTx>: Accepts<Normalize>);
assert_not_impl_any!(ServicePass<RepairPlanTx>: Accepts<Admit>);
assert_not_impl_any!(ServicePass<RepairPlanTx>: Accepts<ReadWallet>);
assert_impl_all!(ServicePass<RepairPlanTx>: Accepts<Plan>);
assert_type_eq_all!(<ServicePass<RepairPlanTx> as Accepts<Plan>>::Next, BuildTxs);
assert_not_impl_any!(ServicePass<RepairPlanTx>: Accepts<Build>);
assert_not_impl_any!(ServicePass<RepairPlanTx>: Accepts<Simulate>);
assert_not_impl_any!(ServicePass<RepairPlanTx>: Accepts<Decide>);
assert_not_impl_any!(ServicePass<RepairPlanTx>: Accepts<Secure>);
assert_not_impl_any!(ServicePass<RepairPlanTx>: Accepts<Judge>);
assert_not_impl_any!(ServicePass<RepairPlanTx>: Accepts<Repair>);
assert_not_impl_any!(ServicePass<RepairPlanTx>: Accepts<Accept>);
assert_impl_all!(ServicePass<RepairPlanTx>: Accepts<Ask>);
assert_type_eq_all!(<ServicePass<RepairPlanTx> as Accepts<Ask>>::Next, Clarify);
assert_impl_all!(ServicePass<RepairPlanTx>: Accepts<Finish>);
assert_type_eq_all!(<ServicePass<RepairPlanTx> as Accepts<Finish>>::Next, Finalize);
assert_impl_all!(ServicePass<RepairPlanTx>: Send, Sync);
assert_not_impl_any!(ServicePass<RepairPlanTx>: Clone, Copy, Default);

// CLARIFY
assert_not_impl_any!(ServicePass<Clarify>: Accepts<Normalize>);
assert_not_impl_any!(ServicePass<Clarify>: Accepts<Admit>);
assert_not_impl_any!(ServicePass<Clarify>: Accepts<ReadWallet>);
assert_not_impl_any!(ServicePass<Clarify>: Accepts<Plan>);
assert_not_impl_any!(ServicePass<Clarify>: Accepts<Build>);
assert_not_impl_any!(ServicePass<Clarify>: Accepts<Simulate>);
assert_not_impl_any!(ServicePass<Clarify>: Accepts<Decide>);
assert_not_impl_any!(ServicePass<Clarify>: Accepts<Secure>);
assert_not_impl_any!(ServicePass<Clarify>: Accepts<Judge>);
assert_not_impl_any!(ServicePass<Clarify>: Accepts<Repair>);
assert_not_impl_any!(ServicePass<Clarify>: Accepts<Accept>);
assert_not_impl_any!(ServicePass<Clarify>: Accepts<Ask>);
assert_impl_all!(ServicePass<Clarify>: Accepts<Finish>);
assert_type_eq_all!(<ServicePass<Clarify> as Accepts<Finish>>::Next, Finalize);
assert_impl_all!(ServicePass<Clarify>: Send, Sync);
assert_not_impl_any!(ServicePass<Clarify>: Clone, Copy, Default);

// FINALIZE
assert_not_impl_any!(ServicePass<Finalize>: Accepts<Normalize>);
assert_not_impl_any!(ServicePass<Finalize>: Accepts<Admit>);
assert_not_impl_any!(ServicePass<Finalize>: Accepts<ReadWallet>);
assert_not_impl_any!(ServicePass<Finalize>: Accepts<Plan>);
assert_not_impl_any!(ServicePass<Finalize>: Accepts<Build>);
assert_not_impl_any!(ServicePass<Finalize>: Accepts<Simulate>);
assert_not_impl_any!(ServicePass<Finalize>: Accepts<Decide>);
assert_not_impl_any!(ServicePass<Finalize>: Accepts<Secure>);
assert_not_impl_any!(ServicePass<Finalize>: Accepts<Judge>);
assert_not_impl_any!(ServicePass<Finalize>: Accepts<Repair>);
assert_not_impl_any!(ServicePass<Finalize>: Accepts<Accept>);
assert_not_impl_any!(ServicePass<Finalize>: Accepts<Ask>);
assert_not_impl_any!(ServicePass<Finalize>: Accepts<Finish>);
assert_impl_all!(ServicePass<Finalize>: Send, Sync);
assert_not_impl_any!(ServicePass<Finalize>: Clone, Copy, Default);

// In whichever state, and with data that is tied to its thread.
assert_impl_all!(AnyServicePass: Send, Sync);
assert_not_impl_any!(AnyServicePass: Clone, Copy, Default);
assert_not_impl_any!(ServicePass<Rc<()>>: Send, Sync);
