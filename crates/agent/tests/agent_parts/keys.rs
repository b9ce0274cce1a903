//! State of plugins and tools.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use runstate_agent::keys::{Changed, Conflict, Key, KeyError, KeyState, Patches, Scope, StateView, Values};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use static_assertions::assert_impl_all;

const COUNT: Key<u32> = Key::run("count");
const KEPT: Key<u32> = Key::run("kept").persistent();
const SEEN: Key<Vec<String>> = Key::thread("seen").persistent();

/// A key is shared by threads even where its values are not.
const _: fn() = || {
    assert_impl_all!(Key<std::rc::Rc<u8>>: Send, Sync);
    assert_impl_all!(StateView: Send, Sync, Clone);
    assert_impl_all!(Patches: Send, Sync);
};

fn setting<T: Serialize + serde::de::DeserializeOwned>(key: &Key<T>, value: T) -> Patches {
    let mut patches = Patches::new();
    patches.set(key, &value).unwrap();
    patches
}

fn removing<T>(key: &Key<T>) -> Patches {
    let mut patches = Patches::new();
    patches.remove(key);
    patches
}

/// The names of the calls of a round are `a`, `b`, `c`, …
fn apply<const N: usize>(state: &mut KeyState, round: [Patches; N]) -> Result<Changed, Conflict> {
    let names = ["a", "b", "c", "d"];
    let round: Vec<_> = names.into_iter().zip(round).collect();
    state.apply(&round)
}

fn changed(changed: &Changed) -> Vec<String> {
    let line = |key: &runstate_agent::keys::ChangedKey| {
        let value = key.value.as_ref().map_or("removed".to_owned(), |value| value.to_string());
        format!("{} {} = {value}", key.scope, key.key)
    };
    changed.iter().map(line).collect()
}

#[test]
fn nothing_is_committed_before_the_round_is() {
    let mut state = KeyState::default();
    let view = state.view();
    let patches = setting(&COUNT, 1);
    assert_eq!(patches.get(&COUNT, &view), Ok(Some(1)));
    assert_eq!(view.get(&COUNT), Ok(None));
    apply(&mut state, [patches]).unwrap();
    assert_eq!(view.get(&COUNT), Ok(None), "a view never changes");
    assert_eq!(state.view().get(&COUNT), Ok(Some(1)));
}

#[test]
fn own_writes_are_read_before_what_is_committed() {
    let mut state = KeyState::default();
    apply(&mut state, [setting(&COUNT, 1)]).unwrap();
    let view = state.view();
    let mut patches = Patches::new();
    assert_eq!(patches.get(&COUNT, &view), Ok(Some(1)));
    patches.set(&COUNT, &2).unwrap();
    assert_eq!(patches.get(&COUNT, &view), Ok(Some(2)));
    patches.remove(&COUNT);
    assert_eq!(patches.get(&COUNT, &view), Ok(None), "removed, not read through to the committed one");
    patches.set(&COUNT, &3).unwrap();
    assert_eq!(patches.get(&COUNT, &view), Ok(Some(3)));
    patches.clear();
    assert!(patches.is_empty());
    assert_eq!(patches.get(&COUNT, &view), Ok(Some(1)));
}

#[test]
fn run_and_thread_scope_have_separate_values() {
    let of_run: Key<u32> = Key::run("same");
    let of_thread: Key<u32> = Key::thread("same");
    let mut state = KeyState::default();
    let (one, two) = (setting(&of_run, 1), setting(&of_thread, 2));
    assert_eq!(one.get(&of_thread, &state.view()), Ok(None));
    let both = apply(&mut state, [one, two]).expect("two keys, no conflict");
    assert_eq!(changed(&both), ["run same = 1", "thread same = 2"]);
    assert_eq!((state.view().get(&of_run), state.view().get(&of_thread)), (Ok(Some(1)), Ok(Some(2))));

    // The next run of the thread.
    let next = KeyState { run: Values::default(), thread: state.thread };
    assert_eq!((next.view().get(&of_run), next.view().get(&of_thread)), (Ok(None), Ok(Some(2))));
}

#[test]
fn two_calls_that_differ_are_a_conflict_and_nothing_is_applied() {
    let mut state = KeyState::default();
    apply(&mut state, [setting(&KEPT, 1)]).unwrap();
    let before = state.clone();
    let rounds = [
        [setting(&KEPT, 2), setting(&KEPT, 3)],
        [setting(&KEPT, 2), removing(&KEPT)],
        [removing(&KEPT), setting(&KEPT, 2)],
        // One of them sets what is there already: it wants that value all the same.
        [setting(&KEPT, 1), setting(&KEPT, 2)],
        [setting(&KEPT, 2), setting(&Key::run("kept"), 2)],
    ];
    for [one, two] in rounds {
        let bystander = setting(&SEEN, vec!["x".to_owned()]);
        let error = apply(&mut state, [bystander, one, two]).unwrap_err();
        assert_eq!((&*error.key, error.scope, &*error.first, &*error.second), ("kept", Scope::Run, "b", "c"));
        assert_eq!(state, before);
    }
    let error = apply(&mut state, [setting(&SEEN, vec![]), removing(&SEEN)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a and b of one round set \"seen\" in the thread differently, and the values written since the last commit are not applied: a key that \
         calls share is set by one call of a round, or to the same value by all"
    );
}

#[test]
fn calls_that_agree_are_no_conflict() {
    let mut state = KeyState::default();
    let agreed = apply(&mut state, [setting(&KEPT, 2), Patches::new(), setting(&KEPT, 2)]).unwrap();
    assert_eq!(changed(&agreed), ["run kept = 2"]);
    // The order of an object's fields is no difference.
    let object: Key<Value> = Key::run("object");
    let text = |text: &str| serde_json::from_str(text).unwrap();
    let round = [setting(&object, text(r#"{"a":1,"b":2}"#)), setting(&object, text(r#"{"b":2,"a":1}"#))];
    apply(&mut state, round).unwrap();
    let gone = apply(&mut state, [removing(&KEPT), removing(&KEPT)]).unwrap();
    assert_eq!(changed(&gone), ["run kept = removed"]);
}

#[test]
fn call_overrides_itself_but_not_a_call_that_agreed() {
    let mut state = KeyState::default();
    state.apply(&[("a", setting(&COUNT, 1)), ("a", setting(&COUNT, 2))]).unwrap();
    assert_eq!(state.view().get(&COUNT), Ok(Some(2)));

    let a = |value| ("a", setting(&COUNT, value));
    let b = |value| ("b", setting(&COUNT, value));
    let error = state.apply(&[a(5), b(5), a(6)]).unwrap_err();
    assert_eq!((&*error.first, &*error.second), ("b", "a"));
    let error = state.apply(&[a(5), b(5), b(6)]).unwrap_err();
    assert_eq!((&*error.first, &*error.second), ("a", "b"));
    state.apply(&[a(5), b(5), a(5), b(5)]).unwrap();
    assert_eq!(state.view().get(&COUNT), Ok(Some(5)));
}

#[test]
fn changed_is_what_is_another_than_before() {
    let mut state = KeyState::default();
    let first = apply(&mut state, [setting(&KEPT, 1), setting(&COUNT, 7), removing(&SEEN)]).unwrap();
    assert_eq!(changed(&first), ["run count = 7", "run kept = 1"], "what is not there cannot be removed");
    let again = apply(&mut state, [setting(&KEPT, 1), setting(&COUNT, 7)]).unwrap();
    assert!(again.is_empty(), "{again:?}");
    assert!(apply(&mut state, [Patches::new()]).unwrap().is_empty());
    assert!(!first.is_empty());
}

#[test]
fn a_delta_has_the_persistent_keys_alone() {
    let mut state = KeyState::default();
    let round = [setting(&KEPT, 1), setting(&COUNT, 7), setting(&SEEN, vec!["x".into()])];
    let changed = apply(&mut state, round).unwrap();
    let (kept, seen) = (json!(1), json!(["x"]));
    assert!(changed.to_store().eq([(Scope::Run, "kept", Some(&kept)), (Scope::Thread, "seen", Some(&seen))]));

    // A key that is not persistent any more has to go from the store, though it keeps a value.
    let volatile = setting(&Key::<u32>::run("kept"), 1);
    let changed = apply(&mut state, [volatile, removing(&COUNT)]).unwrap();
    assert_eq!(changed.iter().count(), 2);
    assert!(changed.to_store().eq([(Scope::Run, "kept", None)]));
    assert_eq!(state.view().get(&KEPT), Ok(Some(1)));
    assert_eq!(state.run.is_persistent("kept"), Some(false));
    let removed = apply(&mut state, [removing(&KEPT)]).unwrap();
    assert_eq!((removed.iter().count(), removed.to_store().count()), (1, 0));
}

#[test]
fn only_persistent_values_are_stored() {
    let mut state = KeyState::default();
    apply(&mut state, [setting(&COUNT, 7), setting(&KEPT, 1), setting(&SEEN, vec!["x".into()])]).unwrap();
    let json = serde_json::to_value(&state).unwrap();
    assert_eq!(json, json!({ "run": { "kept": 1 }, "thread": { "seen": ["x"] } }));
    let read: KeyState = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(read.view().get(&KEPT), Ok(Some(1)));
    assert_eq!(read.view().get(&COUNT), Ok(None));
    assert_eq!(serde_json::to_value(&read).unwrap(), json);

    let mut volatile = KeyState::default();
    apply(&mut volatile, [setting(&COUNT, 7)]).unwrap();
    assert_eq!(serde_json::to_string(&volatile).unwrap(), "{}");
    assert_eq!(serde_json::from_str::<KeyState>("{}").unwrap(), KeyState::default());
}

#[test]
fn malformed_stored_key_state_is_refused() {
    let deep = format!(r#"{{"run":{{"a":{}{}}}}}"#, "[".repeat(97), "]".repeat(97));
    for (json, why) in [
        (deep.as_str(), "the value of \"a\" nests deeper than 96 levels"),
        (r#"{"run":{"a":1,"a":2}}"#, "two values have the name \"a\""),
        (r#"{"run":[1]}"#, "invalid type: sequence, expected an object of values by the names of their keys"),
        (r#"{"global":{}}"#, "unknown field `global`"),
    ] {
        let error = serde_json::from_str::<KeyState>(json).unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
    }
    let fits = deep.replace(&"[".repeat(97), &"[".repeat(96)).replace(&"]".repeat(97), &"]".repeat(96));
    assert!(serde_json::from_str::<KeyState>(&fits).is_ok());
}

#[test]
fn values_of_another_type_are_told_with_key_and_types() {
    let mut state = KeyState::default();
    apply(&mut state, [setting(&Key::run("count"), "seven".to_owned())]).unwrap();
    let expected = "the value of \"count\" in the run is no u32: invalid type: string \"seven\", expected u32; a key \
                    has one type wherever it is used";
    assert_eq!(state.view().get(&COUNT).unwrap_err().to_string(), expected);
    assert_eq!(Patches::new().get(&COUNT, &state.view()).unwrap_err().to_string(), expected);
    let own = setting(&Key::run("count"), true).get(&COUNT, &state.view()).unwrap_err();
    assert!(matches!(own, KeyError::Type { key, scope: Scope::Run, expected: "u32", .. } if key == "count"));
}

/// Writes a text and reads a number.
#[derive(Debug, PartialEq)]
struct OneWay;

impl Serialize for OneWay {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("one way")
    }
}

impl<'de> Deserialize<'de> for OneWay {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u8::deserialize(deserializer).map(|_| OneWay)
    }
}

#[test]
fn unserializable_value_is_refused_and_changes_nothing() {
    let mut patches = setting(&COUNT, 1);
    let before = patches.clone();
    let pairs: Key<BTreeMap<(u8, u8), u8>> = Key::run("pairs");
    let error = patches.set(&pairs, &BTreeMap::from([((1, 2), 3)])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a value for \"pairs\" in the run cannot be kept as JSON: key must be a string"
    );
    let error = patches.set(&Key::thread("way"), &OneWay).unwrap_err();
    assert!(
        matches!(error, KeyError::Unwritable { scope: Scope::Thread, ref key, .. } if key == "way"),
        "{error:?}"
    );
    assert!(patches.set(&Key::run("share"), &f64::INFINITY).is_err());
    assert_eq!(patches, before);
}

#[test]
fn values_nest_96_levels_and_no_more() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let key: Key<Value> = Key::run("deep").persistent();
    let mut patches = Patches::new();
    patches.set(&key, &nested(96)).unwrap();
    let error = patches.set(&key, &nested(97)).unwrap_err();
    assert_eq!(error.to_string(), "a value for \"deep\" in the run nests deeper than 96 levels");
    assert_eq!(patches.get(&key, &StateView::default()), Ok(Some(nested(96))), "it keeps what it had");

    let mut restored = KeyState::default();
    restored.restore(Scope::Thread, "deep", Some(nested(96))).unwrap();
    let error = restored.restore(Scope::Thread, "deep", Some(nested(97))).unwrap_err();
    assert!(matches!(error, KeyError::TooDeep { scope: Scope::Thread, .. }), "{error:?}");
    assert_eq!(restored.view().value(Scope::Thread, "deep"), Some(&nested(96)));

    // What is as deep as can be is read again from a file that holds it.
    let mut state = KeyState::default();
    apply(&mut state, [patches]).unwrap();
    let json = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<KeyState>(&json).unwrap(), state);
}

#[test]
fn snapshots_share_their_values() {
    let mut state = KeyState::default();
    apply(&mut state, [setting(&SEEN, vec!["x".into()]), setting(&COUNT, 1)]).unwrap();
    let view = state.view();
    let at = |view: &StateView| std::ptr::from_ref(view.value(Scope::Thread, "seen").unwrap());
    assert_eq!(at(&view), at(&state.view()));

    // A commit beside a snapshot leaves the values that it does not touch where they are.
    apply(&mut state, [setting(&Key::<u32>::thread("other"), 2), setting(&COUNT, 2)]).unwrap();
    assert_eq!(at(&view), at(&state.view()));
    assert_eq!((view.get(&COUNT), state.view().get(&COUNT)), (Ok(Some(1)), Ok(Some(2))));
    assert_eq!(view.of(Scope::Thread).iter().count(), 1);
}

#[test]
fn names_at_run_time_are_names_like_others() {
    let made = Key::<u32>::named(String::from("count"), Scope::Run);
    assert_eq!(setting(&made, 5).get(&COUNT, &StateView::default()), Ok(Some(5)));
    assert_eq!(made.clone().persistent().is_persistent(), !made.is_persistent());
    assert_eq!(format!("{KEPT:?}"), r#"Key { name: "kept", scope: Run, persistent: true }"#);
}

/// What a call does: sets or removes one of three keys in one of two scopes, to one of three values.
type Write = (bool, u8, Option<u8>);

fn key_of((thread, name, _): Write) -> Key<u8> {
    let scope = if thread { Scope::Thread } else { Scope::Run };
    Key::named(format!("k{name}"), scope).persistent()
}

fn contents(state: &KeyState) -> BTreeMap<(bool, String), u64> {
    let of = |thread, values: &Values| -> Vec<_> {
        values.iter().map(|(name, value)| ((thread, name.to_owned()), value.as_u64().unwrap())).collect()
    };
    of(false, &state.run).into_iter().chain(of(true, &state.thread)).collect()
}

proptest! {
    /// Rounds against a plain model: each call's last write counts, two that differ refuse the round, and what changed is what
    /// differs from before. A delta, applied to what was stored, gives what is stored.
    #[test]
    fn rounds_agree_with_a_plain_model(
        rounds in vec(vec(vec((any::<bool>(), 0..3_u8, proptest::option::of(0..2_u8)), 0..4), 0..4), 0..6),
    ) {
        let mut state = KeyState::default();
        let mut stored = KeyState::default();
        for round in rounds {
            let before = contents(&state);
            let mut wanted: BTreeMap<(bool, String), BTreeSet<Option<u8>>> = BTreeMap::new();
            let mut patches = Vec::new();
            for writes in &round {
                let mut last = BTreeMap::new();
                let mut patch = Patches::new();
                for &write in writes {
                    match write.2 {
                        Some(value) => patch.set(&key_of(write), &value).unwrap(),
                        None => patch.remove(&key_of(write)),
                    }
                    last.insert((write.0, format!("k{}", write.1)), write.2);
                }
                for (key, to) in last {
                    wanted.entry(key).or_default().insert(to);
                }
                patches.push(patch);
            }
            let names: Vec<_> = (0..patches.len()).map(|i| format!("call_{i}")).collect();
            let round: Vec<_> = names.iter().map(String::as_str).zip(patches).collect();
            let agreed = wanted.values().all(|wishes| wishes.len() == 1);
            match state.apply(&round) {
                Err(conflict) => {
                    prop_assert!(!agreed);
                    prop_assert_eq!(contents(&state), before);
                    let key = (conflict.scope == Scope::Thread, conflict.key);
                    prop_assert!(wanted[&key].len() > 1, "{key:?} is no conflict");
                    prop_assert_ne!(conflict.first, conflict.second);
                }
                Ok(changed) => {
                    prop_assert!(agreed);
                    let mut after = before.clone();
                    for (key, to) in wanted {
                        match to.into_iter().next().unwrap() {
                            Some(value) => after.insert(key, u64::from(value)),
                            None => after.remove(&key),
                        };
                    }
                    prop_assert_eq!(contents(&state), after.clone());
                    let told: BTreeSet<_> =
                        changed.iter().map(|key| (key.scope == Scope::Thread, key.key.to_string())).collect();
                    let keys: BTreeSet<_> = before.keys().chain(after.keys()).cloned().collect();
                    let differ = keys.into_iter().filter(|key| before.get(key) != after.get(key)).collect();
                    prop_assert_eq!(told, differ);
                    for (scope, name, value) in changed.to_store() {
                        stored.restore(scope, name, value.cloned()).unwrap();
                    }
                    prop_assert_eq!(&stored, &state);
                }
            }
            let json = serde_json::to_string(&state).unwrap();
            prop_assert_eq!(&serde_json::from_str::<KeyState>(&json).unwrap(), &state);
        }
    }
}
