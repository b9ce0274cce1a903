//! The arguments of hints, so that they name the right store.

use std::fmt;

use super::quoted;
use super::url::StoreUrl;

/// The further arguments that name this store, in a form for a shell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Again {
    args: String,
    hides_store: bool,
}

impl Again {
    /// With this store, if it must be named, and these arguments.
    pub(super) fn new(store: Option<&StoreUrl>, more: &str) -> Self {
        match store {
            // The shown form would not work, and the real form is not shown.
            Some(url) if url.has_secret() => Again { args: more.to_owned(), hides_store: true },
            Some(url) => {
                let args = format!(" --store {}{more}", quoted(&url.whole()));
                Again { args, hides_store: false }
            }
            None => Again { args: more.to_owned(), hides_store: false },
        }
    }

    /// The preparation that the arguments cannot express. It follows a hint.
    pub(crate) fn note(&self) -> &'static str {
        if self.hides_store {
            " (with RUNSTATE_STORE set to the URL of the store; its password is not shown)"
        } else {
            ""
        }
    }
}

impl fmt::Display for Again {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_whose_url_has_a_password_is_not_named_in_part() {
        for (url, args, has_note) in [
            ("sqlite:my runs.db", " --store 'sqlite:my runs.db' --state-dir runs", false),
            ("postgres://ada@db/runs", " --store postgres://ada@db/runs --state-dir runs", false),
            ("postgres://ada:secret@db/runs", " --state-dir runs", true),
            ("postgres://db/runs?user=ada&password=secret", " --state-dir runs", true),
        ] {
            let again = Again::new(Some(&url.parse().unwrap()), " --state-dir runs");
            assert_eq!((&*again.to_string(), !again.note().is_empty()), (args, has_note), "{url}");
        }
        let again = Again::new(None, "");
        assert_eq!((&*again.to_string(), again.note()), ("", ""));
    }
}
