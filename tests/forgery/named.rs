//! A trait that is in scope where a lifecycle is defined, with a method of the name of one that the definition uses.

use runstate::lifecycle;
use serde::{Deserialize, Serialize};

trait Named {
    fn name(&self) -> &'static str {
        "Torn"
    }
    fn status(&self) -> &'static str {
        "Torn"
    }
}

impl<T> Named for T {}

#[derive(Debug, Serialize, Deserialize)]
pub struct Note {}

impl runstate::kernel::Record for Note {}

lifecycle! {
    /// A slip of paper.
    mod slip: Slip(Note), AnySlip;
    version 1;
    diagram "slip.md";
    status SlipStatus { Blank, Torn }
    event SlipEvent { Tear }
    [*]   --> Blank;
    Blank --> Torn : tear(Tear);
    Torn  --> [*];
}

#[test]
fn a_trait_in_scope_does_not_name_a_status() {
    assert_eq!("Torn", Named::name(&1));
    assert_eq!("Torn", Named::status(&1));
    let slip = AnySlip::new(Note {});
    let status = runstate::kernel::Stateful::status(&slip);
    assert_eq!(status.to_string(), "Blank");
    assert_eq!(serde_json::to_string(&status).unwrap(), "\"Blank\"");
    assert_eq!(format!("{:?}", runstate::snapshot::Snapshot::of(&slip).unwrap().status()), "\"Blank\"");
}
