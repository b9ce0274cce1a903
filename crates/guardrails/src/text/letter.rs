//! Letters.

/// The longest line of a greeting, in characters, and the most lines of a letter up to it. Addresses and a date
/// precede the greeting.
const GREETING: u32 = 60;
const HEAD: u32 = 6;
/// The longest line of a closing, such as `Best regards,`, in characters.
const CLOSING: u32 = 24;

/// The end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Comma,
    /// The line is a rule, such as `---`.
    Rule,
    Other,
}

/// Search for a letter: one of the first lines of the text, all of them short, ends with a comma. The letter ends
/// with the paragraph of its closing, or with a rule; an answer may go on about the letter after it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Letter {
    /// Whether the text is in a letter; known after its first lines.
    open: Option<bool>,
    lines: u32,
    closing: bool,
}

impl Letter {
    pub(super) fn is_open(self) -> bool {
        self.open == Some(true)
    }

    /// Reads a line of text: its number of characters, its end, and whether a blank line precedes it.
    pub(super) fn line(&mut self, chars: u32, end: End, after_blank: bool) {
        match self.open {
            None => {
                self.lines += 1;
                let (greets, short) = (end == End::Comma, chars <= GREETING);
                self.open = (greets || !short || self.lines == HEAD).then_some(greets && short);
            }
            Some(true) if end == End::Rule => self.open = Some(false),
            Some(true) => self.closing |= after_blank && end == End::Comma && chars <= CLOSING,
            Some(false) => {}
        }
    }

    /// Reads a blank line.
    pub(super) fn end_paragraph(&mut self) {
        if self.closing {
            self.open = Some(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_ends_with_its_closing_or_a_rule() {
        let mut letter = Letter::default();
        letter.line(9, End::Comma, true);
        letter.end_paragraph();
        letter.line(50, End::Other, true);
        assert!(letter.is_open());
        let mut ruled = letter;
        ruled.line(3, End::Rule, true);
        assert!(!ruled.is_open());
        letter.end_paragraph();
        letter.line(13, End::Comma, true);
        letter.line(4, End::Other, false);
        assert!(letter.is_open(), "the name belongs to the letter");
        letter.end_paragraph();
        assert!(!letter.is_open());
        // A comma at the end of a longer line closes nothing.
        let mut long = Letter::default();
        for chars in [9, 25] {
            long.line(chars, End::Comma, true);
            long.end_paragraph();
        }
        assert!(long.is_open());
    }
}
