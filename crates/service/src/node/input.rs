//! INPUT_NORMALIZE, PRECHECK and WALLET_SNAPSHOT.

use runstate::service_pass::{
    Admit, AnyServicePass, Ask, InputNormalize, Normalize, Precheck, ReadWallet, ServicePass,
    ServicePassStatus, WalletSnapshot,
};

use super::{Graph, fatal, sure};
use crate::artifact::{MissingSlot, NeedsInput};
use crate::limit::within;
use crate::rows::TimelineStatus;
use crate::slots::text_of;
use crate::work::Work;

impl Graph {
    pub(super) fn normalize(&self, work: &mut Work, pass: ServicePass<InputNormalize>) -> AnyServicePass {
        let record = work.run.record();
        // An empty intent may have been answered.
        let answer = || record.user_inputs().get("intent").and_then(text_of);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let intent = Some(words(record.intent())).filter(|intent| !intent.is_empty());
        let intent = intent.or_else(|| answer().map(|text| words(&text))).unwrap_or_default();
        work.artifacts.normalized_intent = Some(intent);
        work.artifacts.attempt = Some(pass.record().attempt());
        work.artifacts.max_attempts = Some(pass.record().max_attempts());
        work.ended(ServicePassStatus::InputNormalize, TimelineStatus::Ok, "the intent is normalized");
        pass.normalize(Normalize).into()
    }

    pub(super) fn precheck(&self, work: &mut Work, pass: ServicePass<Precheck>) -> AnyServicePass {
        let mut missing = Vec::new();
        let mut lacks = |slot: &str, got: Option<String>, options: Vec<String>| {
            missing.push(MissingSlot { slot: slot.to_owned(), got, options });
        };
        if work.artifacts.normalized_intent.as_deref().unwrap_or_default().is_empty() {
            lacks("intent", None, Vec::new());
        }
        let record = work.run.record();
        if !record.wallet().is_some_and(|wallet| self.ports.compiler.is_address(wallet)) {
            lacks("wallet_address", record.wallet().map(str::to_owned), Vec::new());
        }
        if record.chain_id().and_then(|id| self.config.chain(id)).is_none() {
            let known = self.config.chains.iter().map(|chain| chain.name.clone()).collect();
            // The answer shows what cannot be used, where it is no id at all.
            let answer = record.user_inputs().get("chain_id").and_then(text_of);
            lacks("chain_id", record.chain_id().map(|id| id.to_string()).or(answer), known);
        }
        let node = ServicePassStatus::Precheck;
        if missing.is_empty() {
            work.ended(node, TimelineStatus::Ok, "intent, wallet and chain are there");
            return pass.admit(Admit).into();
        }
        let slots: Vec<String> = missing.iter().map(|missing| missing.slot.clone()).collect();
        work.artifacts.needs_input = Some(NeedsInput { missing, questions: Vec::new(), resume_from: node });
        work.ended(node, TimelineStatus::NeedsInput, &format!("missing: {}", slots.join(", ")));
        sure(pass.ask(Ask::for_slots(slots))).into()
    }

    pub(super) async fn read_wallet(
        &self,
        work: &mut Work,
        pass: ServicePass<WalletSnapshot>,
    ) -> AnyServicePass {
        let read = match self.chain_and_wallet(&work.run) {
            Ok((chain, wallet)) => {
                let call = self.ports.wallet.snapshot(chain, &wallet);
                within("the wallet", self.config.port_limit, call).await
            }
            Err(error) => Err(error),
        };
        let snapshot = match read {
            Ok(snapshot) => snapshot,
            Err(error) => return fatal(work, pass, error),
        };
        let summary = format!("{} tokens, {} allowances", snapshot.tokens.len(), snapshot.allowances.len());
        work.artifacts.wallet_snapshot = Some(snapshot);
        work.ended(ServicePassStatus::WalletSnapshot, TimelineStatus::Ok, &summary);
        pass.read_wallet(ReadWallet).into()
    }
}
