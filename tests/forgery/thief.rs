//! A lifecycle of one's own with the record of a documented one.

use runstate::lifecycle;
use runstate::run_flow::FlowRecord;

lifecycle! {
    /// A thief of records.
    pub(crate) mod thief: Thief(FlowRecord), AnyThief;
    version 1;
    diagram "thief.md";
    status ThiefStatus { Idle, Gone }
    event ThiefEvent { Leave }
    [*]  --> Idle;
    Idle --> Gone : leave(Leave);
    Gone --> [*];
}
