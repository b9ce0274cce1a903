use runstate::kernel::{Record, Retired, Reusable};
use runstate::run::{Done, Run, RunRecord, Running};
use runstate::run_flow::FlowRecord;

#[cfg(illegal)]
pub fn again(over: Run<Done>) -> Run<Running> {
    let (record, _) = over.into_parts();
    Run::new(record)
}

#[cfg(illegal)]
pub fn by_value(over: Run<Done>) -> RunRecord {
    over.into_parts().0.into_inner()
}

#[cfg(illegal)]
impl Reusable for FlowRecord {}

#[derive(Debug)]
pub struct Tray;
impl Record for Tray {}
impl Reusable for Tray {}

pub fn tray(tray: Retired<Tray>) -> Tray {
    tray.into_inner()
}

#[cfg(not(illegal))]
pub fn new(over: Run<Done>) -> Run<Running> {
    let (record, _) = over.into_parts();
    Run::new(RunRecord::new(format!("after {}", record.id())))
}

pub type Other = FlowRecord;
