//! Answers of unchanged runs.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use axum::body::Bytes;

/// The limit of kept answers.
const MOST: usize = 1_000;

/// The largest kept answer, in bytes.
const LARGEST: usize = 16 * 1024;

/// An answer about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The entity tag.
    pub(crate) tag: String,
    /// The body, before its redaction.
    pub(crate) body: Bytes,
}

/// The answers to reads of runs since the last change of the store. All end with the next change, whichever run it is
/// of.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<OfStamp>);

#[derive(Debug, Default)]
struct OfStamp {
    /// The stamp of the store before the answers were read. None without an answer.
    stamp: Option<u64>,
    by_run: HashMap<String, Answer>,
}

impl Kept {
    /// Returns the answer about a run that was read after that stamp of the store.
    pub(crate) fn get(&self, stamp: u64, run: &str) -> Option<Answer> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.stamp == Some(stamp) { kept.by_run.get(run).cloned() } else { None }
    }

    /// Keeps an answer that was read after that stamp of the store.
    pub(crate) fn put(&self, stamp: u64, run: &str, answer: Answer) {
        if answer.body.len() > LARGEST {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.stamp != Some(stamp) || kept.by_run.len() >= MOST {
            kept.stamp = Some(stamp);
            kept.by_run.clear();
        }
        kept.by_run.insert(run.to_owned(), answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &'static str) -> Answer {
        Answer { tag: "\"v1\"".to_owned(), body: Bytes::from_static(body.as_bytes()) }
    }

    #[test]
    fn answers_end_with_the_stamp() {
        let kept = Kept::default();
        kept.put(7, "r1", answer("a"));
        kept.put(7, "r2", answer("b"));
        assert_eq!(kept.get(7, "r1"), Some(answer("a")));
        assert_eq!((kept.get(8, "r1"), kept.get(7, "r3")), (None, None));
        kept.put(8, "r1", answer("c"));
        assert_eq!((kept.get(8, "r1"), kept.get(8, "r2")), (Some(answer("c")), None));
    }

    #[test]
    fn kept_answers_are_bounded() {
        let kept = Kept::default();
        for run in 0..=MOST {
            kept.put(7, &run.to_string(), answer("a"));
        }
        assert!(kept.0.lock().unwrap().by_run.len() <= MOST);
        let large = Answer { body: vec![b'x'; LARGEST + 1].into(), ..answer("") };
        kept.put(7, "large", large);
        assert_eq!(kept.get(7, "large"), None);
    }
}
