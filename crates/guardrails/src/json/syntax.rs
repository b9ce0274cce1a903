//! The grammar of JSON, byte by byte.

use super::{Fault, TOO_DEEP};

/// Parser for a prefix of a JSON text. It refuses a byte with which no JSON text continues: a byte at which
/// `serde_json` reports a syntax error, and not an early end.
#[derive(Debug, Clone, Default)]
pub(super) struct Syntax {
    expect: Expect,
    part: Part,
    /// Whether each open bracket is an object: one bit each, the lowest for the innermost.
    objects: u128,
    depth: usize,
    at: usize,
}

/// The next element, between the parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Expect {
    #[default]
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    /// The end: the text is complete.
    Nothing,
}

/// The current part.
#[derive(Debug, Clone, Copy, Default)]
enum Part {
    #[default]
    None,
    String {
        escape: Escape,
        key: bool,
    },
    Number(Number),
    /// The rest of `true`, `false` or `null`.
    Word(&'static [u8]),
}

#[derive(Debug, Clone, Copy, Default)]
enum Escape {
    #[default]
    None,
    Begun,
    /// After `\u`: the number of missing digits, and whether all digits so far are hexadecimal. `serde_json`
    /// checks the four digits together.
    Hex {
        more: u8,
        sound: bool,
    },
}

#[derive(Debug, Clone, Copy)]
enum Number {
    Minus,
    Zero,
    Digits,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl Syntax {
    pub(super) fn read(&mut self, delta: &str) -> Result<(), Fault> {
        for (within, byte) in delta.bytes().enumerate() {
            if let Err(expected) = self.byte(byte) {
                let at = self.at + delta.floor_char_boundary(within);
                return Err((format!("no JSON goes on like this: {expected}"), at));
            }
        }
        self.at += delta.len();
        Ok(())
    }

    #[inline]
    fn byte(&mut self, byte: u8) -> Result<(), &'static str> {
        match self.part {
            Part::String { escape, key } => self.in_string(escape, key, byte),
            Part::Number(number) => match number.next(byte)? {
                Some(number) => {
                    self.part = Part::Number(number);
                    Ok(())
                }
                None => {
                    self.end_value();
                    self.between(byte)
                }
            },
            Part::Word([expected, more @ ..]) => {
                if byte != *expected {
                    return Err("a word that is neither true, false nor null");
                }
                self.part = Part::Word(more);
                if more.is_empty() {
                    self.end_value();
                }
                Ok(())
            }
            Part::Word([]) | Part::None => self.between(byte),
        }
    }

    fn in_string(&mut self, escape: Escape, key: bool, byte: u8) -> Result<(), &'static str> {
        let escape = match escape {
            Escape::None => match byte {
                b'"' if key => {
                    self.part = Part::None;
                    self.expect = Expect::Colon;
                    return Ok(());
                }
                b'"' => {
                    self.end_value();
                    return Ok(());
                }
                b'\\' => Escape::Begun,
                0..=0x1F => return Err("a control character in a string, which must be escaped"),
                _ => return Ok(()),
            },
            Escape::Begun => match byte {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Escape::None,
                b'u' => Escape::Hex { more: 4, sound: true },
                _ => return Err("an escape that JSON does not have"),
            },
            Escape::Hex { more, sound } => match (more, sound && byte.is_ascii_hexdigit()) {
                (1, true) => Escape::None,
                (1, false) => return Err("\\u needs four hexadecimal digits"),
                (_, sound) => Escape::Hex { more: more - 1, sound },
            },
        };
        self.part = Part::String { escape, key };
        Ok(())
    }

    fn between(&mut self, byte: u8) -> Result<(), &'static str> {
        match (self.expect, byte) {
            (_, b' ' | b'\t' | b'\n' | b'\r') => {}
            (Expect::Nothing, _) => return Err("the JSON text is over, and more follows"),
            (Expect::Value | Expect::ValueOrEnd, b'"') => {
                self.part = Part::String { escape: Escape::None, key: false };
            }
            (Expect::Key | Expect::KeyOrEnd, b'"') => {
                self.part = Part::String { escape: Escape::None, key: true };
            }
            (Expect::KeyOrEnd, b'}') => self.close(),
            (Expect::Key | Expect::KeyOrEnd, _) => return Err("expected a key in double quotes"),
            (Expect::ValueOrEnd, b']') => self.close(),
            (Expect::Value | Expect::ValueOrEnd, _) => return self.value(byte),
            (Expect::Colon, b':') => self.expect = Expect::Value,
            (Expect::Colon, _) => return Err("expected ':'"),
            (Expect::CommaOrEnd, b',') if self.in_object() => self.expect = Expect::Key,
            (Expect::CommaOrEnd, b',') => self.expect = Expect::Value,
            (Expect::CommaOrEnd, b'}') if self.in_object() => self.close(),
            (Expect::CommaOrEnd, b']') if !self.in_object() => self.close(),
            (Expect::CommaOrEnd, _) if self.in_object() => return Err("expected ',' or '}'"),
            (Expect::CommaOrEnd, _) => return Err("expected ',' or ']'"),
        }
        Ok(())
    }

    fn value(&mut self, byte: u8) -> Result<(), &'static str> {
        match byte {
            b'{' => self.open(true)?,
            b'[' => self.open(false)?,
            b't' => self.part = Part::Word(b"rue"),
            b'f' => self.part = Part::Word(b"alse"),
            b'n' => self.part = Part::Word(b"ull"),
            b'-' => self.part = Part::Number(Number::Minus),
            b'0' => self.part = Part::Number(Number::Zero),
            b'1'..=b'9' => self.part = Part::Number(Number::Digits),
            _ => return Err("expected a value"),
        }
        Ok(())
    }

    fn open(&mut self, object: bool) -> Result<(), &'static str> {
        if self.depth + 1 == TOO_DEEP {
            return Err("nested 128 deep, which is deeper than can be read");
        }
        self.depth += 1;
        self.objects = (self.objects << 1) | u128::from(object);
        self.expect = if object { Expect::KeyOrEnd } else { Expect::ValueOrEnd };
        Ok(())
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
        self.end_value();
    }

    fn end_value(&mut self) {
        self.part = Part::None;
        self.expect = if self.depth == 0 { Expect::Nothing } else { Expect::CommaOrEnd };
    }

    fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }
}

impl Number {
    /// Adds a byte to the number. Returns `None` if the number ended before it.
    fn next(self, byte: u8) -> Result<Option<Self>, &'static str> {
        use Number::*;
        let digit = byte.is_ascii_digit();
        Ok(Some(match (self, byte) {
            (Minus, b'0') => Zero,
            (Minus, _) if digit => Digits,
            (Zero, _) if digit => return Err("a number that begins with 0"),
            (Digits, _) if digit => Digits,
            (Zero | Digits, b'.') => Point,
            (Point | Fraction, _) if digit => Fraction,
            (Zero | Digits | Fraction, b'e' | b'E') => Exponent,
            (Exponent, b'+' | b'-') => ExponentSign,
            (Exponent | ExponentSign | ExponentDigits, _) if digit => ExponentDigits,
            (Minus | Point | Exponent | ExponentSign, _) => return Err("a number without its digits"),
            (Zero | Digits | Fraction | ExponentDigits, _) => return Ok(None),
        }))
    }
}
