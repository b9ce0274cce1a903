//! The record of a service run.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::record::record;
use super::{AnyServiceRun, Resume};
use crate::kernel::{Graph, Observer, Record};

record! { AnyServiceRun:
    /// The record of a service run: the data that all its states share, such as its intent and the user's answers.
    pub struct ServiceRunRecord {
        run_id: String,
        intent: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wallet: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chain_id: Option<u64>,
        user_inputs: BTreeMap<String, Value>,
        #[serde(skip)]
        observer: Observer,
    }
}

impl ServiceRunRecord {
    /// Makes the record of a run with this intent. The id is also the checkpoint's `thread_id`.
    pub fn new(run_id: impl Into<String>, intent: impl Into<String>) -> Self {
        ServiceRunRecord {
            run_id: run_id.into(),
            intent: intent.into(),
            wallet: None,
            chain_id: None,
            user_inputs: BTreeMap::new(),
            observer: Observer::default(),
        }
    }

    /// Sets the wallet. Default: none, which the graph asks for.
    pub fn for_wallet(mut self, wallet: impl Into<String>) -> Self {
        self.wallet = Some(wallet.into());
        self
    }

    /// Sets the chain. Default: none, which the graph asks for.
    pub fn on_chain(mut self, chain_id: u64) -> Self {
        self.chain_id = Some(chain_id);
        self
    }

    /// Sets the observer of all transitions. Default: none.
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The run's id.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// The intent of the user.
    pub fn intent(&self) -> &str {
        &self.intent
    }

    /// The address of the wallet.
    pub fn wallet(&self) -> Option<&str> {
        self.wallet.as_deref()
    }

    /// The id of the chain.
    pub fn chain_id(&self) -> Option<u64> {
        self.chain_id
    }

    /// All answers of the user, over all resumes.
    pub fn user_inputs(&self) -> &BTreeMap<String, Value> {
        &self.user_inputs
    }

    pub(super) fn merge(&mut self, resume: Resume) {
        let Resume { answers, intent, wallet, chain_id } = resume;
        self.user_inputs.extend(answers);
        if let Some(intent) = intent {
            self.intent = intent;
        }
        self.wallet = wallet.or(self.wallet.take());
        self.chain_id = chain_id.or(self.chain_id);
    }
}

impl Record for ServiceRunRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }

    /// A new run has no answers.
    fn created(&mut self, _: &'static Graph) {
        self.user_inputs.clear();
    }
}
