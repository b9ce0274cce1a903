//! Cases that are one edit away from a lifecycle that compiles, so that what fails is the edit.

use super::pinned::{assert_pinned, ui};
use super::rustc::{Against, compile, scratch};

/// The file that an edit changes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum In {
    Code,
    Diagram,
}

/// Replaces a text, which is there once, by another.
pub(super) type Edit<'a> = (In, &'a str, &'a str);

const CODE: &str = include_str!("../ui/door.rs");
const DIAGRAM: &str = include_str!("../ui/door.md");

fn edited(file: In, text: &str, edits: &[Edit<'_>]) -> String {
    edits.iter().filter(|edit| edit.0 == file).fold(text.to_owned(), |text, (_, was, becomes)| {
        assert_eq!(text.matches(was).count(), 1, "{was:?} is not there once in:\n{text}");
        text.replacen(was, becomes, 1)
    })
}

/// Compiles the lifecycle with these edits.
pub(super) fn compile_edited(case: &str, edits: &[Edit<'_>], illegal: bool) -> Result<(), String> {
    let dir = scratch(case);
    std::fs::write(dir.join("door.md"), edited(In::Diagram, DIAGRAM, edits)).unwrap();
    let code = dir.join("door.rs");
    std::fs::write(&code, edited(In::Code, CODE, edits)).unwrap();
    compile(&code, Against::Kernel, illegal)
}

/// The lifecycle with these edits must fail in the words of `tests/ui/{case}.stderr`.
pub(super) fn assert_fails(case: &str, edits: &[Edit<'_>]) {
    let said = compile_edited(case, edits, true).expect_err("the edited lifecycle compiles");
    assert_pinned(case, &said);
}

/// The lifecycle with these edits must compile, without a warning.
pub(super) fn assert_compiles(case: &str, edits: &[Edit<'_>]) {
    if let Err(said) = compile_edited(case, edits, false) {
        panic!("{case} does not compile:\n{said}");
    }
}

#[test]
fn the_lifecycle_without_edits_compiles() {
    if let Err(said) = compile(&ui("door.rs"), Against::Kernel, false) {
        panic!("{said}");
    }
}

/// One test per case, and one that no pinned text is left without a case.
macro_rules! edits {
    ($folder:literal: $($name:ident: [$($edit:expr),+ $(,)?];)+) => {
        $(
            #[test]
            fn $name() {
                $crate::compile_fail::edit::assert_fails(concat!($folder, "/", stringify!($name)), &[$($edit),+]);
            }
        )+

        #[test]
        fn every_pinned_text_has_its_case() {
            let mut cases = vec![$(stringify!($name)),+];
            cases.sort_unstable();
            assert_eq!($crate::compile_fail::pinned::names($folder, "stderr"), cases);
        }
    };
}
pub(super) use edits;
