use runstate_review::assert_trace_snapshot;

#[test]
fn tour_of_two_parcels() {
    let trace = parcels::deliver(&["home", "abroad"], "7f3c");
    assert_trace_snapshot!(trace, @"
    parcel#1  [*] --> Packed : create
    parcel#1  Packed --> Sent : dispatch
    parcel#1  Sent --> Delivered : deliver
    parcel#2  [*] --> Packed : create
    parcel#2  Packed --> Sent : dispatch
    parcel#2  Sent --> PendingCustoms : hold
    parcel#2  PendingCustoms --> Sent : release
    parcel#2  Sent --> Delivered : deliver
    ");
}
