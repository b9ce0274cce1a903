//! Proofs of origin: values that only the code of one `lifecycle!` definition can make.
//!
//! A definition owns a private static, its witness. Its proofs contain a reference to it, and no function or constant
//! of the definition returns that reference. A foreign implementation of a kernel trait can copy a graph; it cannot
//! make a proof that fits.

use core::fmt;
use core::marker::PhantomData;
use core::ptr;

use super::graph::{Edge, Graph};
use super::machine::{Accepts, Stateful};

/// The witness of a definition, in a private static of it. Its address identifies it. Its text is the place of the
/// definition, so that a linker that folds equal data keeps two definitions apart.
#[doc(hidden)]
#[expect(missing_copy_implementations, reason = "a copy has another address")]
pub struct Witness(#[expect(dead_code, reason = "it tells the statics apart")] &'static str);

impl Witness {
    pub const fn at(place: &'static str) -> Self {
        Witness(place)
    }
}

/// Two witnesses are equal when they have one address.
impl PartialEq for Witness {
    #[inline]
    fn eq(&self, other: &Witness) -> bool {
        ptr::eq(self, other)
    }
}

impl Eq for Witness {}

/// A constant text: an address means nothing to a reader.
impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Witness")
    }
}

/// Proof that `M` is a machine of the graph in [`Stateful::GRAPH`], as the constant [`Stateful::PROOF`].
///
/// `lifecycle!` makes it. The proof of one type is no proof for another type.
pub struct Proof<M> {
    witness: &'static Witness,
    machine: PhantomData<fn() -> M>,
}

impl<M> Proof<M> {
    #[doc(hidden)]
    pub const fn new(witness: &'static Witness) -> Self {
        Proof { witness, machine: PhantomData }
    }
}

impl<M> fmt::Debug for Proof<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proof(..)")
    }
}

/// The witness of the lifecycle that made the proof of `P`; none when the graph of `P` belongs to another lifecycle.
#[cfg(feature = "snapshot")]
pub(crate) fn proven_witness<P: Stateful>() -> Option<&'static Witness> {
    let witness = P::PROOF.witness;
    P::GRAPH.has_witness(witness).then_some(witness)
}

/// Proof that one definition made an [`Accepts`] mark and its transition.
pub struct Mark<M, E> {
    witness: &'static Witness,
    edge: usize,
    of: PhantomData<fn() -> (M, E)>,
}

impl<M, E> Mark<M, E> {
    #[doc(hidden)]
    pub const fn new(witness: &'static Witness, edge: usize) -> Self {
        Mark { witness, edge, of: PhantomData }
    }
}

impl<M, E> fmt::Debug for Mark<M, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mark(..)")
    }
}

/// The transition that a machine `M` takes by the event `E`; none when the machine's own definition did not make the
/// mark.
///
/// The bound `M: Accepts<E>` alone proves nothing: a foreign crate can implement [`Accepts`] for an event of its own.
/// This function compares the mark with the graph. The transition is one of `M::GRAPH`. The names in it come from the
/// definition of `M`. They may equal the names of another lifecycle, and prove nothing.
///
/// ```
/// use runstate::kernel::{Accepts, Mark, Witness, accepted_edge};
/// use runstate::tool_call::{New, Running, Start, ToolCall};
///
/// let edge = accepted_edge::<ToolCall<New>, Start>().expect("the definition made this mark");
/// assert_eq!(edge.to_string(), "New --> Running : start");
///
/// // A mark of another definition is rejected.
/// struct Teleport;
/// static OWN: Witness = Witness::at("here");
/// impl Accepts<Teleport> for ToolCall<New> {
///     type Next = Running;
///     const MARK: Mark<Self, Teleport> = Mark::new(&OWN, 0);
/// }
/// assert!(accepted_edge::<ToolCall<New>, Teleport>().is_none());
/// ```
pub fn accepted_edge<M: Stateful + Accepts<E>, E>() -> Option<&'static Edge> {
    let graph: &'static Graph = M::GRAPH;
    let proofs = [M::PROOF.witness, M::MARK.witness];
    let edge = graph.edges.get(M::MARK.edge)?;
    proofs.iter().all(|witness| graph.has_witness(witness) && edge.has_witness(witness)).then_some(edge)
}

/// The permit to read a `T`, a machine or a record, back from storage.
///
/// Only this crate's readers of stored data make permits. Each permit is for one type: a manual implementation of
/// [`Restore`](super::Restore) gets a permit for itself only.
#[doc(hidden)]
#[derive(Debug)]
pub struct Rehydration<T> {
    /// The lifecycle of the restored machine.
    #[cfg(feature = "lifecycles")]
    witness: &'static Witness,
    of: PhantomData<fn() -> T>,
}

#[cfg(feature = "snapshot")]
impl<T> Rehydration<T> {
    #[cfg_attr(
        not(feature = "lifecycles"),
        expect(unused_variables, reason = "only their records ask for it")
    )]
    pub(crate) fn permit(witness: &'static Witness) -> Self {
        Rehydration {
            #[cfg(feature = "lifecycles")]
            witness,
            of: PhantomData,
        }
    }

    /// Returns whether the permit is for a machine of that graph.
    #[cfg(feature = "lifecycles")]
    pub(crate) fn is_of(&self, graph: &Graph) -> bool {
        graph.has_witness(self.witness)
    }
}
