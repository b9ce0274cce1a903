//! Reviews of traces, and their renderers.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod agreement;
mod diff;
mod findings;
mod fixture;
mod gantt;
mod html;
mod markdown;
mod mermaid;
mod model;
mod perfetto;
mod snapshot;
mod timeline;
