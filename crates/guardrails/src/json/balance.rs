//! Balance of brackets.

use super::{Fault, TOO_DEEP};

/// Check of open brackets. It ignores strings outside of all brackets.
#[derive(Debug, Clone, Default)]
pub(super) struct Balance {
    /// The open brackets, the outermost first: the bracket and its byte.
    open: Vec<(u8, usize)>,
    string: Option<InString>,
    at: usize,
}

#[derive(Debug, Clone, Copy)]
struct InString {
    began: usize,
    /// Whether a backslash escapes the next character.
    escaped: bool,
}

impl Balance {
    pub(super) fn read(&mut self, delta: &str) -> Result<(), Fault> {
        for byte in delta.bytes() {
            self.byte(byte)?;
            self.at += 1;
        }
        Ok(())
    }

    #[inline]
    fn byte(&mut self, byte: u8) -> Result<(), Fault> {
        if let Some(string) = &mut self.string {
            match byte {
                _ if string.escaped => string.escaped = false,
                b'\\' => string.escaped = true,
                b'"' => self.string = None,
                _ => {}
            }
            return Ok(());
        }
        match byte {
            b'"' if !self.open.is_empty() => self.string = Some(InString { began: self.at, escaped: false }),
            b'{' | b'[' if self.open.len() + 1 == TOO_DEEP => {
                return Err((format!("nested {TOO_DEEP} deep, which is deeper than can be read"), self.at));
            }
            b'{' | b'[' => self.open.push((byte, self.at)),
            b'}' | b']' => self.close(byte)?,
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, byte: u8) -> Result<(), Fault> {
        let closes = if byte == b'}' { b'{' } else { b'[' };
        match self.open.pop() {
            Some((open, _)) if open == closes => Ok(()),
            Some((open, _)) => {
                let message =
                    format!("'{}' closes the '{}' that is open", char::from(byte), char::from(open));
                Err((message, self.at))
            }
            None => Err((format!("'{}' closes nothing that is open", char::from(byte)), self.at)),
        }
    }

    pub(super) fn end(&self) -> Result<(), Fault> {
        if let Some(string) = &self.string {
            return Err(("a string is not closed".to_owned(), string.began));
        }
        match self.open.last() {
            None => Ok(()),
            Some((open, at)) => Err((format!("a '{}' is not closed", char::from(*open)), *at)),
        }
    }
}
