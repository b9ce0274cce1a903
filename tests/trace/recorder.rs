//! The recorder holds what the kernel's hook tells, and nothing else.
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use runstate::trace::{JsonlWriter, Recorder};

use super::parcel::{AnyParcel, Bounce, Deliver, Label, Parcel, Send};

fn told(recorder: &Recorder) -> Vec<String> {
    recorder.take().iter().map(|e| format!("{} {} {} {e}", e.seq, e.at_ms, e.instance)).collect()
}

#[test]
fn typed_and_dynamic_moves_are_recorded_and_refusals_are_not() {
    let recorder = Recorder::new("r1");
    let one = Parcel::new(Label::observed(recorder.observer("p1")));
    let two = AnyParcel::new(Label::observed(recorder.observer("p2")));
    let two = two.apply(Deliver.into()).unwrap_err().into_parts().0;
    let _one = one.send(Send);
    let two = two.apply(Send.into()).unwrap();
    let _two = two.apply(Bounce.into()).unwrap();
    assert_eq!(
        told(&recorder),
        [
            "1 0 p1 [*] --> Packed : create",
            "2 0 p2 [*] --> Packed : create",
            "3 0 p1 Packed --> Sent : send",
            "4 0 p2 Packed --> Sent : send",
            "5 0 p2 Sent --> Returned : bounce",
        ]
    );
    assert!(told(&recorder).is_empty(), "what was taken is gone");
}

#[test]
fn restored_machine_continues_its_earlier_trace_numbers() {
    let first = Recorder::new("r1");
    let parcel = AnyParcel::new(Label::observed(first.observer("p1")));
    let mut parcel = parcel.apply(Send.into()).unwrap();
    assert_eq!(first.next_seq(), 3);

    let second = Recorder::builder("r1").first_seq(first.next_seq()).build();
    parcel.observe(second.observer("p1"));
    let _parcel = parcel.apply(Deliver.into()).unwrap();
    assert_eq!(told(&second), ["3 0 p1 Sent --> Delivered : deliver"]);
    assert_eq!(first.len(), 2, "the earlier recorder hears no more");
}

#[test]
fn numbers_that_have_run_out_do_not_panic_and_the_checker_tells() {
    let recorder = Recorder::builder("r1").first_seq(u64::MAX).build();
    let _parcel = Parcel::new(Label::observed(recorder.observer("p1"))).send(Send);
    assert_eq!(recorder.next_seq(), u64::MAX);
    let report = runstate::trace::check(&recorder.take(), &super::book());
    assert_eq!(
        report.violation.unwrap().reason(),
        format!("seq {0} does not come after seq {0} of line 1", u64::MAX)
    );
}

#[test]
fn the_clock_is_the_callers() {
    let now = Arc::new(AtomicU64::new(5));
    let clock = Arc::clone(&now);
    let recorder = Recorder::builder("r1").clock(move || clock.load(Ordering::Relaxed)).build();
    let parcel = Parcel::new(Label::observed(recorder.observer("p1")));
    now.store(20, Ordering::Relaxed);
    let _parcel = parcel.send(Send);
    assert_eq!(told(&recorder), ["1 5 p1 [*] --> Packed : create", "2 20 p1 Packed --> Sent : send"]);
}

#[test]
fn times_stay_in_order_where_the_clock_is_set_back() {
    let now = Arc::new(AtomicU64::new(500));
    let clock = Arc::clone(&now);
    let recorder = Recorder::builder("r1").clock(move || clock.load(Ordering::Relaxed)).build();
    let mut sent = Parcel::new(Label::observed(recorder.observer("p1"))).send(Send);
    for at_ms in [20, 499, 501, 3] {
        now.store(at_ms, Ordering::Relaxed);
        sent = sent.bounce(Bounce).send(Send);
    }
    let times: Vec<u64> = recorder.take().iter().map(|event| event.at_ms).collect();
    assert_eq!(times, [500, 500, 500, 500, 500, 500, 501, 501, 501, 501]);
}

#[test]
fn looking_drains_nothing_and_draining_keeps_counting() {
    let recorder = Recorder::new("r1");
    let parcel = Parcel::new(Label::observed(recorder.observer("p1")));
    assert_eq!(recorder.events().len(), 1);
    let mut seen = Vec::new();
    recorder.drain(|event| seen.push(event.seq));
    let _parcel = parcel.send(Send);
    recorder.drain(|event| seen.push(event.seq));
    assert_eq!(seen, [1, 2]);
}

#[test]
fn threads_share_one_order() {
    let recorder = Recorder::new("r1");
    std::thread::scope(|scope| {
        for name in ["a", "b", "c", "d"] {
            let recorder = recorder.clone();
            scope.spawn(move || {
                let parcel = Parcel::new(Label::observed(recorder.observer(name)));
                let mut sent = parcel.send(Send);
                for _ in 0..100 {
                    sent = sent.bounce(Bounce).send(Send);
                }
                let _end = sent.deliver(Deliver);
            });
        }
    });
    let events = recorder.take();
    assert_eq!(events.len(), 4 * 203);
    assert!(events.iter().map(|event| event.seq).eq(1..=4 * 203));
    for name in ["a", "b", "c", "d"] {
        let mut state = None;
        for event in events.iter().filter(|event| event.instance == name) {
            assert_eq!(event.from, state, "{name} in its own order");
            state = Some(event.to.clone());
        }
    }
}

#[test]
fn recorder_beyond_capacity_loses_nothing_and_keeps_order() {
    for capacity in [0, 1, 2, 3, 16] {
        let recorder = Recorder::builder("r1").capacity(capacity).build();
        let mut sent = Parcel::new(Label::observed(recorder.observer("p1"))).send(Send);
        let mut seqs = Vec::new();
        for round in 0..50 {
            sent = sent.bounce(Bounce).send(Send);
            // Sometimes the ring is emptied in the middle, sometimes only after it has spilled.
            if round % 7 == 0 || round > 45 {
                assert_eq!(recorder.len(), recorder.events().len());
                recorder.drain(|event| seqs.push(event.seq));
            }
        }
        let _end = sent.deliver(Deliver);
        recorder.drain(|event| seqs.push(event.seq));
        assert!(seqs.into_iter().eq(1..=103), "capacity {capacity}");
    }
}

#[test]
fn one_may_take_while_others_record() {
    let recorder = Recorder::builder("r1").capacity(8).build();
    let mut taken = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = ["a", "b", "c"]
            .into_iter()
            .map(|name| {
                let observer = recorder.observer(name);
                scope.spawn(move || {
                    let mut sent = Parcel::new(Label::observed(observer)).send(Send);
                    for _ in 0..500 {
                        sent = sent.bounce(Bounce).send(Send);
                    }
                    let _end = sent.deliver(Deliver);
                })
            })
            .collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            taken.extend(recorder.take());
        }
    });
    taken.extend(recorder.take());
    assert!(taken.iter().map(|event| event.seq).eq(1..=3 * 1003));
    let report = runstate::trace::check(&taken, &super::book());
    assert_eq!(report.verdict, runstate::trace::Verdict::Conforms, "{report}");
}

#[test]
fn drain_callback_may_record_further_events() {
    let recorder = Recorder::new("r1");
    let mut sent = Some(Parcel::new(Label::observed(recorder.observer("p1"))).send(Send));
    recorder.drain(|_| {
        if let Some(sent) = sent.take() {
            let _end = sent.deliver(Deliver);
        }
    });
    assert_eq!(told(&recorder), ["3 0 p1 Sent --> Delivered : deliver"]);
}

/// Takes so many bytes, then fails.
struct Disk(usize);

impl io::Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(io::Error::other("the disk is full"));
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn unwritten_events_stay_in_the_recorder() {
    let recorder = Recorder::new("r1");
    let _parcel = Parcel::new(Label::observed(recorder.observer("p1"))).send(Send).deliver(Deliver);
    let line = recorder.events()[0].to_json().len();
    let error = recorder.write_to(&mut JsonlWriter::new(Disk(line + 10))).unwrap_err();
    assert_eq!(error.to_string(), "the disk is full");
    assert_eq!(recorder.events()[0].seq, 2);

    let mut writer = JsonlWriter::new(Vec::new());
    assert_eq!(recorder.write_to(&mut writer).unwrap(), 2);
    insta::assert_snapshot!(String::from_utf8(writer.into_inner()).unwrap(), @r#"
    {"seq":2,"at_ms":0,"run":"r1","lifecycle":"parcel","instance":"p1","event":"send","from":"Packed","to":"Sent"}
    {"seq":3,"at_ms":0,"run":"r1","lifecycle":"parcel","instance":"p1","event":"deliver","from":"Sent","to":"Delivered"}
    "#);
    assert!(recorder.is_empty());
}
