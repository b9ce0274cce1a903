//! Ids of calls, as servers accept them.

use std::collections::{HashSet, VecDeque};

/// The ids of a request's calls. Servers refuse a request in which two calls have one id, but a model may give one id to
/// several calls. Each call keeps the id of its model unless an earlier call has it. The ids of equal beginnings of two
/// histories are equal, so that the cache of a server stays valid.
#[derive(Debug, Default)]
pub struct CallIds {
    used: HashSet<String>,
    /// The calls of the last answer without a result: the id of the model, and the id in the request.
    open: VecDeque<(String, String)>,
}

impl CallIds {
    /// Begins an answer.
    pub fn answer(&mut self) {
        self.open.clear();
    }

    /// Returns the id of the answer's next call. `form` is the id of the model with the characters that the server
    /// accepts.
    pub fn call(&mut self, id: &str, form: &str) -> String {
        let form = if form.is_empty() { "call" } else { form };
        let others = (2_u64..).map(|number| format!("{form}_{number}"));
        let mut ids = std::iter::once(form.to_owned()).chain(others);
        let free = ids.find(|sent| !self.used.contains(sent)).unwrap_or_default();
        self.used.insert(free.clone());
        self.open.push_back((id.to_owned(), free.clone()));
        free
    }

    /// Returns the id of the next result of the answer's calls; none if no open call has this id. Results have the order of
    /// their calls.
    pub fn result(&mut self, id: &str) -> Option<String> {
        let place = self.open.iter().position(|(of, _)| of == id)?;
        self.open.remove(place).map(|(_, sent)| sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ids_become_distinct_and_results_follow() {
        let mut ids = CallIds::default();
        let mut sent = Vec::new();
        for answer in [vec!["a", "a", "b"], vec!["a", "a_2", ""]] {
            ids.answer();
            let calls: Vec<String> = answer.iter().map(|id| ids.call(id, id)).collect();
            let results: Vec<String> = answer.iter().map(|id| ids.result(id).unwrap()).collect();
            assert_eq!(calls, results);
            sent.extend(calls);
        }
        assert_eq!(sent, ["a", "a_2", "b", "a_3", "a_2_2", "call"]);
        assert_eq!(ids.result("a"), None);
    }

    #[test]
    fn ids_with_one_form_stay_distinct() {
        let mut ids = CallIds::default();
        assert_eq!([ids.call("a#1", "a_1"), ids.call("a/1", "a_1")], ["a_1", "a_1_2"]);
        assert_eq!(ids.result("a/1").as_deref(), Some("a_1_2"));
    }
}
