//! Environments of LaTeX.

use super::{Guardrail, OutputFacts, Violation};

/// Limit on open environments. Valid documents have fewer.
const DEEPEST: usize = 256;
/// Longest name of an environment, in bytes.
const LONGEST_NAME: usize = 64;
/// Environments within which only their own end counts.
const VERBATIM: [&str; 5] = ["verbatim", "verbatim*", "lstlisting", "minted", "comment"];

/// Rule: each `\begin{…}` has its `\end{…}`, properly nested.
///
/// Text after `%` on a line is a comment, and `\\` is a line break. In `verbatim`, `lstlisting`, `minted` and
/// `comment` only their own end counts. The rule reports a wrong end at its closing brace, and an unclosed
/// environment at the end of the output.
///
/// ```
/// use runstate_guardrails::{Guardrail, Latex, OutputFacts};
///
/// let mut rule = Latex::new();
/// let text = r"\begin{align} x \begin{cases} 1 \end{align}";
/// let found = rule.streaming(text, text).unwrap();
/// assert_eq!(found.to_string(), r"latex: \end{align} where \begin{cases} is open (at byte 32)");
///
/// rule.reset();
/// let text = r"\begin{align} x = 1";
/// assert!(rule.streaming(text, text).is_none());
/// assert_eq!(rule.complete(text, &OutputFacts::TEXT)[0].message, r"\begin{align} is not closed");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Latex {
    open: Vec<Environment>,
    part: Part,
    broken: Option<Violation>,
    at: usize,
}

#[derive(Debug, Clone)]
struct Environment {
    name: String,
    at: usize,
}

#[derive(Debug, Clone, Default)]
enum Part {
    #[default]
    Text,
    /// Text up to the end of the line.
    Comment,
    /// A backslash and the letters after it: the command that it may become, and the number of letters so far.
    Command {
        at: usize,
        letters: Letters,
    },
    /// The command is complete, and its brace follows.
    Brace {
        at: usize,
        ends: bool,
    },
    Name {
        at: usize,
        ends: bool,
        name: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letters {
    None,
    Begin(usize),
    End(usize),
    Other,
}

impl Letters {
    fn and(self, c: char) -> Self {
        let at = |word: &str, place: usize| word[place..].starts_with(c);
        match self {
            Letters::None if c == 'b' => Letters::Begin(1),
            Letters::None if c == 'e' => Letters::End(1),
            Letters::Begin(place) if at("begin", place) => Letters::Begin(place + 1),
            Letters::End(place) if at("end", place) => Letters::End(place + 1),
            _ => Letters::Other,
        }
    }
}

impl Latex {
    const NAME: &'static str = "latex";

    /// Creates the rule.
    pub fn new() -> Self {
        Latex::default()
    }

    fn verbatim(&self) -> bool {
        self.open.last().is_some_and(|inner| VERBATIM.contains(&inner.name.as_str()))
    }

    /// Reads one character, at `self.at`.
    fn char(&mut self, c: char) {
        self.part = match std::mem::take(&mut self.part) {
            Part::Text => self.text(c),
            Part::Comment if c == '\n' => Part::Text,
            Part::Comment => Part::Comment,
            Part::Command { at, letters } if c.is_ascii_alphabetic() => {
                Part::Command { at, letters: letters.and(c) }
            }
            Part::Command { at, letters } => match letters {
                Letters::Begin(5) => self.brace(at, false, c),
                Letters::End(3) => self.brace(at, true, c),
                // A backslash and a sign form one command, such as a line break or a percent sign.
                Letters::None if !(self.verbatim() && c == '\\') => Part::Text,
                _ => self.text(c),
            },
            Part::Brace { at, ends } => self.brace(at, ends, c),
            Part::Name { at, ends, name } => self.name(at, ends, name, c),
        };
    }

    fn text(&self, c: char) -> Part {
        match c {
            '\\' => Part::Command { at: self.at, letters: Letters::None },
            '%' if !self.verbatim() => Part::Comment,
            _ => Part::Text,
        }
    }

    fn brace(&self, at: usize, ends: bool, c: char) -> Part {
        match c {
            '{' => Part::Name { at, ends, name: String::new() },
            ' ' | '\t' => Part::Brace { at, ends },
            _ => self.text(c),
        }
    }

    fn name(&mut self, at: usize, ends: bool, mut name: String, c: char) -> Part {
        match c {
            '}' => {
                if ends {
                    self.end(at, &name)
                } else {
                    self.begin(at, name)
                }
                Part::Text
            }
            '{' | '\\' | '%' | '\n' => self.text(c),
            _ if name.len() + c.len_utf8() > LONGEST_NAME => Part::Text,
            _ => {
                name.push(c);
                Part::Name { at, ends, name }
            }
        }
    }

    fn begin(&mut self, at: usize, name: String) {
        if self.verbatim() {
            return;
        }
        if self.open.len() == DEEPEST {
            self.broken = Some(self.violation(format!("more than {DEEPEST} environments are open"), at));
            return;
        }
        self.open.push(Environment { name, at });
    }

    fn end(&mut self, at: usize, name: &str) {
        match self.open.last() {
            Some(inner) if inner.name == name => {
                self.open.pop();
            }
            Some(_) if self.verbatim() => {}
            Some(inner) => {
                let message = format!("\\end{{{name}}} where \\begin{{{}}} is open", inner.name);
                self.broken = Some(self.violation(message, at));
            }
            None => self.broken = Some(self.violation(format!("\\end{{{name}}} where nothing is open"), at)),
        }
    }

    fn violation(&self, message: String, at: usize) -> Violation {
        Violation::error(Self::NAME, message).at(at)
    }
}

impl Guardrail for Latex {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn streaming(&mut self, delta: &str, _: &str) -> Option<Violation> {
        if self.broken.is_some() {
            return None;
        }
        let mut rest = delta;
        loop {
            if matches!(self.part, Part::Text) {
                // A command or a comment begins only at one of these characters.
                let plain = rest.bytes().position(|byte| matches!(byte, b'\\' | b'%')).unwrap_or(rest.len());
                self.at += plain;
                rest = rest.get(plain..).unwrap_or_default();
            }
            let mut chars = rest.chars();
            let Some(c) = chars.next() else { break };
            self.char(c);
            if self.broken.is_some() {
                break;
            }
            self.at += c.len_utf8();
            rest = chars.as_str();
        }
        self.broken.clone()
    }

    fn complete(&mut self, _: &str, _: &OutputFacts) -> Vec<Violation> {
        let unclosed = || {
            let inner = self.open.last()?;
            Some(self.violation(format!("\\begin{{{}}} is not closed", inner.name), inner.at))
        };
        self.broken.clone().or_else(unclosed).into_iter().collect()
    }

    fn reset(&mut self) {
        *self = Self::new();
    }
}
