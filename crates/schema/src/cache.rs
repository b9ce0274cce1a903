//! Compiled schemas.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::Checked;
use crate::budget::MOST_BYTES;

/// The maximum of kept schemas. A tool has one, and a ticket may bring another one each time.
const MOST: usize = 256;
/// The maximum of bytes of their texts. A compiled schema is larger than its text, and is not counted.
const MOST_OF_ALL: usize = 4 << 20;

type Compiled = Result<Arc<Checked>, String>;

/// Compiled schemas by their text. A full cache is emptied: schemas in use return at the cost of one compilation.
#[derive(Default)]
pub(super) struct Cache(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    schemas: HashMap<String, Compiled>,
    bytes: usize,
}

impl Cache {
    /// The compiled schema. The lock is not held while a schema compiles.
    pub(super) fn get(
        &self,
        schema: &Value,
        compile: fn(&Value, usize) -> Result<Checked, String>,
    ) -> Compiled {
        let text = schema.to_string();
        if let Some(known) = self.lock().schemas.get(&text) {
            return known.clone();
        }
        let compiled = compile(schema, text.len()).map(Arc::new);
        // A schema above the limit is not kept.
        if text.len() > MOST_BYTES {
            return compiled;
        }
        let mut kept = self.lock();
        if kept.schemas.len() >= MOST || kept.bytes + text.len() > MOST_OF_ALL {
            *kept = Kept::default();
        }
        let bytes = text.len();
        // Another thread may have compiled it.
        if kept.schemas.insert(text, compiled.clone()).is_none() {
            kept.bytes += bytes;
        }
        compiled
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        // The content is complete whenever the lock is free.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("schemas", &self.lock().schemas.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;

    use super::*;

    static COMPILED: AtomicUsize = AtomicUsize::new(0);

    fn counted(schema: &Value, bytes: usize) -> Result<Checked, String> {
        COMPILED.fetch_add(1, Ordering::Relaxed);
        crate::compile(schema, bytes)
    }

    /// Also a refused schema: a tool or a ticket may bring it repeatedly.
    #[test]
    fn a_schema_is_compiled_once() {
        let (cache, none) = (Cache::default(), json!({ "$ref": "#" }));
        for _ in 0..3 {
            cache.get(&json!({ "type": "string" }), counted).unwrap();
            cache.get(&none, counted).unwrap_err();
        }
        assert_eq!(COMPILED.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn schemas_of_4_mib_are_kept_and_no_more() {
        let cache = Cache::default();
        // Each text has 64 KiB.
        let schema = |number: usize| json!({ "title": format!("{number:065524}") });
        assert_eq!(schema(0).to_string().len(), MOST_BYTES);
        let known = |number| cache.lock().schemas.contains_key(&schema(number).to_string());
        for number in 0..64 {
            cache.get(&schema(number), crate::compile).unwrap();
        }
        assert!((0..64).all(known), "64 of them have 4 MiB");
        cache.get(&json!(true), crate::compile).unwrap();
        assert!(!(0..64).any(known), "they have more");
    }
}
