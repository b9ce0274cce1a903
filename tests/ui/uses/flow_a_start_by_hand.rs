use runstate::tool_execution::Started;

#[cfg(illegal)]
pub fn literal() -> Started {
    Started { call: "call_1".to_owned() }
}

#[cfg(not(illegal))]
pub fn read(started: &Started) -> &str {
    started.call()
}
