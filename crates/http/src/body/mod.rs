//! The bodies of requests and answers.

mod answer;
mod request;

pub(crate) use answer::{
    AnyRunBody, HandoutBody, ListBody, PollBody, RowsBody, RunBody, UnreadableRow, entry, step, time, timed,
};
pub(crate) use request::{
    ApproveBody, CreateBody, IncludeText, NoBody, RejectBody, ResumeBody, StatusText, SubmittedBody,
};
