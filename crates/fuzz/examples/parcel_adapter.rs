//! A parcel behind the protocol of `runstate fuzz`: one JSON object a line.
//!
//! ```sh
//! cargo build -p runstate-fuzz --example parcel_adapter
//! runstate fuzz --diagram examples/fuzz/parcel.md --config examples/fuzz/parcel.yaml -- target/debug/examples/parcel_adapter
//! ```

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Parcel {
    #[default]
    Packed,
    Sent,
    Delivered,
    Lost,
}

impl Parcel {
    fn apply(self, event: &str, payload: &Value) -> Result<Self, &'static str> {
        match (self, event) {
            (Parcel::Packed, "dispatch") if payload["cents"].as_i64() < Some(100) => {
                Err("the postage is not enough")
            }
            (Parcel::Packed, "dispatch") | (Parcel::Lost, "find") => Ok(Parcel::Sent),
            (Parcel::Sent, "deliver") => Ok(Parcel::Delivered),
            (Parcel::Sent, "lose") => Ok(Parcel::Lost),
            _ => Err("not in this state"),
        }
    }
}

fn main() -> io::Result<()> {
    let mut parcel = Parcel::default();
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let mut reply = json!({ "id": request["id"] });
        if request["hello"].is_object() {
            reply["ready"] = json!({ "reset": true });
        } else if request["reset"].is_boolean() {
            parcel = Parcel::default();
        } else if let Some(event) = request["event"].as_str() {
            match parcel.apply(event, &request["payload"]) {
                Ok(next) => {
                    parcel = next;
                    reply["taken"] = json!(true);
                }
                Err(reason) => reply["refused"] = json!(reason),
            }
        }
        reply["state"] = json!(format!("{parcel:?}"));
        writeln!(io::stdout(), "{reply}")?;
    }
    Ok(())
}
