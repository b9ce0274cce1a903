//! Surroundings in which a definition must compile, without a warning: one file of `tests/ui/compiles` each.

use super::pinned::{names, ui};
use super::rustc::{Against, compile};

macro_rules! compiles {
    ($($name:ident)+) => {
        $(
            #[test]
            fn $name() {
                let source = ui(concat!("compiles/", stringify!($name), ".rs"));
                if let Err(said) = compile(&source, Against::Kernel, false) {
                    panic!("{said}");
                }
            }
        )+

        #[test]
        fn every_file_has_its_test() {
            assert_eq!(names("compiles", "rs"), [$(stringify!($name)),+]);
        }
    };
}

compiles! {
    under_strict_lints
    with_any_visibility
    with_shadowed_macros
    with_shadowed_prelude
    with_short_names
}
