use runstate::kernel::Fingerprint;
use runstate::snapshot::Migration;

#[cfg(illegal)]
pub const TYPED: Migration = Migration::only_grew("f3f95d98dfbd5d7e");

#[cfg(illegal)]
pub const MISTYPED: Fingerprint = Fingerprint::from_hex("f3f95d98dfbd5d7");

#[cfg(illegal)]
pub const NOT_DRAWN: Fingerprint = Fingerprint::of_diagram("# No diagram\n");

#[cfg(not(illegal))]
pub const COMPUTED: Migration = Migration::only_grew(Fingerprint::of_diagram(include_str!("../door.md")));

#[cfg(not(illegal))]
pub const PRINTED: Fingerprint = Fingerprint::from_hex("f3f95d98dfbd5d7e");

#[cfg(illegal)]
pub const fn used(_: Migration, _: Fingerprint) {}
