//! What any store does, here as well.

use std::sync::Arc;

use runstate_agent::async_trait;
use runstate_runtime::clock::SetClock;
use runstate_store::RunStore;
use runstate_store_conformance::Bench;

use crate::cluster::{self, Place};

#[async_trait]
impl Bench for Place {
    async fn store(&self) -> Arc<dyn RunStore> {
        let options = self.options().connections(4).clock(self.clock.clone());
        Arc::new(runstate_postgres::PostgresStore::connect(options).await.unwrap())
    }

    fn clock(&self) -> &SetClock {
        &self.clock
    }
}

runstate_store_conformance::store_conformance!({
    let Some(server) = cluster::shared() else { return };
    async { Place::on(server) }
});
