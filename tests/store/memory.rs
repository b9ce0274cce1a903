//! Runs in memory: what the suite says of stores holds.

use runstate::store::MemoryStore;
use runstate::testing::store::OneHandle;

runstate::store_conformance!(async { OneHandle::new(MemoryStore::with_clock) });
