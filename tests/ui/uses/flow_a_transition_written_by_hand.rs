use runstate::kernel::{Edge, Graph};
use runstate::trace::{Event, Recorder};

#[cfg(illegal)]
pub fn pushed(recorder: &Recorder, event: Event<'static>) {
    recorder.push(event);
}

#[cfg(illegal)]
pub fn told(recorder: &Recorder, graph: &'static Graph, edge: &'static Edge) {
    recorder.created(0, graph);
    recorder.moved(0, edge);
}

#[cfg(illegal)]
pub fn told_by_an_observer(recorder: &Recorder, graph: &'static Graph, edge: &'static Edge) {
    recorder.observer("call_1").created(&(), graph);
    recorder.observer("call_1").moved(&(), graph, 0);
}

#[cfg(illegal)]
pub fn stamped() -> Event<'static> {
    Event {
        seq: 1,
        at_ms: 0,
        run: "r1".into(),
        lifecycle: "tool_call".into(),
        instance: "call_1".into(),
        event: "start".into(),
        from: Some("New".into()),
        to: "Running".into(),
        extra: Default::default(),
    }
}

#[cfg(not(illegal))]
pub fn moved(recorder: &Recorder) -> Vec<Event<'static>> {
    use runstate::tool_call::{CallRecord, Start, ToolCall};
    let _: [(&Graph, &Edge); 0] = [];
    let record = CallRecord::new("call_1", "read", Default::default());
    drop(ToolCall::new(record.observed(recorder.observer("call_1"))).start(Start));
    recorder.take()
}
