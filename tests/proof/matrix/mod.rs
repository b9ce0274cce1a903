//! What compiles: the full matrix of typed states and events of each lifecycle, as static assertions.
//!
//! The files beside this one are generated from the tables of the documents, and from nothing in `src/`; a test holds them
//! against what the tables generate. With `RUNSTATE_ACCEPT=1` it writes them anew.

mod approval;
mod governed_run;
mod resume_tool_call;
mod run;
mod run_flow;
mod service_pass;
mod service_run;
mod stream_session;
mod tool_call;
mod tool_execution;

use std::path::Path;

use super::for_each_lifecycle;
use super::model::{Documented, Table};

/// `snake_case` or `SCREAMING_CASE` as `PascalCase`; a name that is `PascalCase` stays.
fn pascal(name: &str) -> String {
    let has_case =
        name.contains(|c: char| c.is_ascii_lowercase()) && name.contains(|c: char| c.is_ascii_uppercase());
    if has_case {
        return name.to_owned();
    }
    let word = |word: &str| word[..1].to_ascii_uppercase() + &word[1..].to_ascii_lowercase();
    name.split('_').map(word).collect()
}

fn type_of(table: &Table, state: &str) -> String {
    let renamed = table.renamed.iter().find(|(name, _)| *name == state);
    renamed.map_or_else(|| pascal(state), |(_, name)| (*name).to_owned())
}

/// The source of the assertions on one lifecycle.
fn generated(table: &Table) -> String {
    let Table { name, machine, .. } = table;
    let mut uses = ["use runstate::kernel::Accepts;".to_owned(), format!("use runstate::{name}::*;")];
    uses.sort();
    let mut text = format!(
        "//! `{name}`: {} legal state/event pairs and {} illegal ones, generated from the table in `tests/proof/{name}.rs`.\n\
         //!\n\
         //! A line that does not compile is older than the table, or the lifecycle has another graph than its table. To write this\n\
         //! file anew:\n\
         //!\n\
         //! ```sh\n\
         //! : > tests/proof/matrix/{name}.rs && RUNSTATE_ACCEPT=1 cargo test -p runstate --all-features --test lib proof::matrix\n\
         //! ```\n\n\
         use std::rc::Rc;\n\n\
         {}\n\
         use static_assertions::{{assert_impl_all, assert_not_impl_any, assert_type_eq_all}};\n",
        table.edges().count(),
        table.illegal(),
        uses.join("\n")
    );
    for state in table.states {
        let typed = format!("{machine}<{}>", type_of(table, state));
        text.push_str(&format!("\n// {state}\n"));
        for event in table.events {
            let mark = format!("Accepts<{}>", pascal(event));
            match table.to(state, event) {
                Some(to) => {
                    let to = type_of(table, to);
                    text.push_str(&format!("assert_impl_all!({typed}: {mark});\n"));
                    text.push_str(&format!("assert_type_eq_all!(<{typed} as {mark}>::Next, {to});\n"));
                }
                None => text.push_str(&format!("assert_not_impl_any!({typed}: {mark});\n")),
            }
        }
        text.push_str(&format!("assert_impl_all!({typed}: Send, Sync);\n"));
        text.push_str(&format!("assert_not_impl_any!({typed}: Clone, Copy, Default);\n"));
    }
    text.push_str(&format!(
        "\n// In whichever state, and with data that is tied to its thread.\n\
         assert_impl_all!(Any{machine}: Send, Sync);\n\
         assert_not_impl_any!(Any{machine}: Clone, Copy, Default);\n\
         assert_not_impl_any!({machine}<Rc<()>>: Send, Sync);\n"
    ));
    text
}

fn is_as_generated<D: Documented>(_: D) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/proof/matrix/{}.rs", D::TABLE.name));
    let expected = generated(&D::TABLE);
    if std::env::var_os("RUNSTATE_ACCEPT").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let got = std::fs::read_to_string(&path).unwrap();
    assert!(
        got == expected,
        "{} is not what its table generates; write it with RUNSTATE_ACCEPT=1",
        path.display()
    );
}

for_each_lifecycle!(is_as_generated);
