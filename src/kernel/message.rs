//! Messages built at compile time, since `format!` is not `const`.

/// A message of at most [`Message::LIMIT`] bytes; longer text is cut.
pub(crate) struct Message {
    bytes: [u8; Message::LIMIT],
    len: usize,
}

impl Message {
    const LIMIT: usize = 4096;

    pub(crate) const fn new() -> Self {
        Message { bytes: [0; Self::LIMIT], len: 0 }
    }

    /// Adds text.
    pub(crate) const fn text(self, text: &str) -> Self {
        self.raw(text.as_bytes())
    }

    /// Adds another message.
    pub(crate) const fn message(self, other: &Message) -> Self {
        self.raw(other.bytes.split_at(other.len).0)
    }

    /// Adds bytes that are complete UTF-8 characters.
    pub(crate) const fn raw(mut self, bytes: &[u8]) -> Self {
        let mut i = 0;
        while i < bytes.len() && self.len < Self::LIMIT {
            self.bytes[self.len] = bytes[i];
            self.len += 1;
            i += 1;
        }
        self
    }

    /// Adds a number in decimal.
    pub(crate) const fn number(self, n: usize) -> Self {
        let digit = [b'0' + (n % 10) as u8];
        if n < 10 { self.raw(&digit) } else { self.number(n / 10).raw(&digit) }
    }

    /// Stops the compilation with this message.
    ///
    /// This function and all its callers are `#[track_caller]`: the compiler leaves such functions out of the error's
    /// backtrace. So the error shows the message and the definition, and not the inside of the kernel.
    #[track_caller]
    pub(crate) const fn fail(&self) -> ! {
        let (text, _) = self.bytes.split_at(self.len);
        match core::str::from_utf8(text) {
            Ok(text) => panic!("{}", text),
            // The limit cut a character in two.
            Err(e) => match core::str::from_utf8(text.split_at(e.valid_up_to()).0) {
                Ok(text) => panic!("{}", text),
                Err(_) => panic!("the graph and its diagram differ"),
            },
        }
    }
}
