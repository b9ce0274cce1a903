//! Ways in which safe code of another crate tried to get a state, an event or a proof that its flow did not earn. Each stands
//! beside the legal way. What must not compile is in `compile_fail`; `docs/forgery.md` lists both.

mod events;
mod machines;
mod named;
mod proofs;
mod slot;
mod text;
mod thief;
mod twin;
