//! What must not compile, with the compiler's exact words, and beside each what must.
//!
//! The cases go to `rustc` directly: a case costs some 40 ms where a cargo project per case costs ten times that and a
//! second build of all dependencies. The texts are pinned in `tests/ui/**/*.stderr`; `BLESS=1 cargo test compile_fail`
//! writes them anew.

mod compiles;
mod definition;
mod drift;
mod edit;
mod guide;
mod matrix;
mod mistakes;
mod pinned;
mod rustc;
mod uses;
