//! Runs in memory: what the suite says of stores holds.

use runstate_store::MemoryStore;
use runstate_store_conformance::OneHandle;

runstate_store_conformance::store_conformance!(async { OneHandle::new(MemoryStore::with_clock) });
