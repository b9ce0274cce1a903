//! The machine by the macro: unobserved, with a buffer of its own, and with an observer.

/// Nobody is told of its transitions.
pub mod plain {
    include!("definition.rs");

    #[derive(Debug, Default, Serialize, Deserialize)]
    pub struct Label {
        pub id: u64,
        pub moves: u64,
    }

    impl runstate::kernel::Record for Label {}
}

/// Its record keeps the transitions in a buffer.
pub mod buffered {
    include!("definition.rs");

    #[derive(Debug, Default, Serialize, Deserialize)]
    pub struct Label {
        pub id: u64,
        pub moves: u64,
        #[serde(skip)]
        pub taken: Vec<&'static runstate::kernel::Edge>,
    }

    impl runstate::kernel::Record for Label {
        #[inline]
        fn moved(&mut self, edge: &'static runstate::kernel::Edge) {
            self.taken.push(edge);
        }
    }
}

/// Its record holds an observer, as those of the built-in lifecycles do.
pub mod observed {
    include!("definition.rs");

    #[derive(Debug, Default, Serialize, Deserialize)]
    pub struct Label {
        pub id: u64,
        pub moves: u64,
        #[serde(skip)]
        pub observer: runstate::kernel::Observer,
    }

    impl runstate::kernel::Record for Label {
        #[inline]
        fn observer(&mut self) -> Option<&mut runstate::kernel::Observer> {
            Some(&mut self.observer)
        }
    }
}
