//! What a person does with runs at rest, in every kind of store: each behaviour is a test for each of them.

mod decisions;
mod export;
mod keyed;
mod life;
mod lists;
mod resumes;
mod send;
mod watch;
mod workers;

/// Makes a test of each behaviour in each kind of store.
macro_rules! in_every_store {
    ($($behaviour:ident),* $(,)?) => { $(
        mod $behaviour {
            use crate::place::Kind;

            #[test]
            fn in_sqlite() {
                super::$behaviour(&|| Kind::Sqlite.place().unwrap());
            }

            #[test]
            fn in_files() {
                super::$behaviour(&|| Kind::Files.place().unwrap());
            }

            #[cfg(unix)]
            #[test]
            fn in_postgres() {
                if crate::server::shared().is_some() {
                    super::$behaviour(&|| Kind::Postgres.place().unwrap());
                }
            }
        }
    )* };
}
use in_every_store;
