//! HTML text. Only literals are markup; every other value is escaped.

use std::fmt::{self, Display, Write};

use runstate::actor::is_unseen;

/// A text in construction. [`markup`](Markup::markup) takes a literal, so that text of a trace cannot become markup.
#[derive(Debug, Default)]
pub(crate) struct Markup(String);

impl Markup {
    /// Appends markup from the source code.
    pub(crate) fn markup(&mut self, literal: &'static str) {
        self.0.push_str(literal);
    }

    /// Appends text, escaped for elements and for quoted attributes.
    pub(crate) fn text(&mut self, text: impl Display) {
        // A write to a string cannot fail.
        write!(Escaped(&mut self.0), "{text}").unwrap_or_default();
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

struct Escaped<'o>(&'o mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c if is_unseen(c) => self.0.extend(c.escape_unicode()),
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

/// Appends literals as markup, and expressions in parentheses as text.
macro_rules! put {
    ($out:expr $(,)?) => {};
    ($out:expr, $literal:literal $($rest:tt)*) => {{
        $out.markup($literal);
        put!($out, $($rest)*);
    }};
    ($out:expr, ($text:expr) $($rest:tt)*) => {{
        $out.text($text);
        put!($out, $($rest)*);
    }};
}

pub(crate) use put;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_literals_are_not() {
        let mut out = Markup::default();
        put!(out, "<b title=\"" ("\" onload='x") "\">" ("</b><script>&\0\u{202e}") "</b>");
        assert_eq!(
            out.finish(),
            "<b title=\"&quot; onload=&#39;x\">&lt;/b&gt;&lt;script&gt;&amp;\\u{0}\\u{202e}</b>",
        );
    }
}
