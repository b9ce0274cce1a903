//! The code of the guide. The script of the build unpacks it from the pages.

macro_rules! chapters {
    ($($chapter:ident: $file:literal;)+) => {
        $(
            #[doc = concat!("The files of the chapter `", stringify!($chapter), "`.")]
            #[allow(dead_code, reason = "a chapter shows more than its tests use")]
            pub mod $chapter {
                include!(concat!(env!("OUT_DIR"), "/", $file));
            }
        )+
    };
}

chapters! {
    parcel: "parcel/src/lib.rs";
    connection: "connection/src/lib.rs";
    order: "order/src/lib.rs";
    agent: "agent/src/main.rs";
}

#[cfg(test)]
#[allow(dead_code, reason = "the script of the build uses the rest")]
mod unpack;

#[cfg(test)]
mod tests;
