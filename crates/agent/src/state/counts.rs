//! The counters of a run, and the tools offered in its last step.

use serde::ser::SerializeMap;

use super::super::stop::StopCounters;
use super::{Offer, RunState};

/// The counters of a run and the tools offered in its last step, as of the last commit. The next commit writes only
/// the changes. Most commits of a step change none.
#[derive(Debug)]
pub(crate) struct Counts {
    steps: u32,
    offer: Offer,
    flows: u32,
    events: u64,
    counters: StopCounters,
}

impl Counts {
    /// Writes the values that differ from the saved ones.
    pub(crate) fn write<M: SerializeMap>(state: &RunState, map: &mut M) -> Result<(), M::Error> {
        let saved = state.saved.as_ref();
        let events = state.events + state.following;
        if saved.is_none_or(|saved| saved.steps != state.steps) {
            map.serialize_entry("steps", &state.steps)?;
        }
        // A missing field means no change; at first it means all tools. `null` resets it to all tools.
        let is_first = state.commits == 0 && state.offer.is_all();
        if saved.map_or(!is_first, |saved| saved.offer != state.offer) {
            map.serialize_entry("offer", &state.offer)?;
        }
        if saved.is_none_or(|saved| saved.flows != state.flows) {
            map.serialize_entry("flows", &state.flows)?;
        }
        if saved.is_none_or(|saved| saved.events != events) {
            map.serialize_entry("events", &events)?;
        }
        if saved.is_none_or(|saved| saved.counters != state.counters) {
            map.serialize_entry("counters", &state.counters)?;
        }
        Ok(())
    }

    /// Records the current values as saved. The numbers of later events are not part of them, and are written again.
    /// Numbers only grow.
    pub(super) fn save(state: &mut RunState) {
        let RunState { steps, flows, events, .. } = *state;
        match &mut state.saved {
            Some(saved) => {
                (saved.steps, saved.flows, saved.events) = (steps, flows, events);
                if saved.offer != state.offer {
                    saved.offer.clone_from(&state.offer);
                }
                if saved.counters != state.counters {
                    saved.counters.clone_from(&state.counters);
                }
            }
            None => {
                let (offer, counters) = (state.offer.clone(), state.counters.clone());
                state.saved = Some(Counts { steps, offer, flows, events, counters });
            }
        }
    }
}
