//! Code, quotations, and beginnings of lines.

use super::is_word;
use super::letter::{End, Letter};

/// The longest quotation or code within a line, in characters. A longer one counts as text.
const LONGEST: u32 = 1_000;

/// The context of a character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Context {
    /// The number of the quotation or code that may remain unclosed; 0 for none.
    region: u32,
    /// Certainly in code or in a quotation.
    pub(crate) hidden: bool,
    /// The first character of its line apart from white space.
    pub(crate) line: bool,
    /// In a line that begins with white space.
    pub(crate) indented: bool,
    /// After a word, a colon or a comma, and a space.
    pub(crate) spoken: bool,
    /// After a character that makes a bracket part of code or of a link.
    pub(crate) glued: bool,
    /// After a mark of emphasis.
    pub(crate) starred: bool,
    /// Within a letter.
    pub(crate) letter: bool,
}

impl Context {
    /// Returns whether the context may prove to be code or a quotation.
    pub(crate) fn is_open(self) -> bool {
        self.region > 0
    }

    /// Returns whether the context is in that region.
    pub(crate) fn is_in(self, region: u32) -> bool {
        self.region == region
    }

    /// Returns the context, marked as outside of code and quotations.
    pub(crate) fn outside(self) -> Self {
        Context { region: 0, hidden: false, ..self }
    }

    /// Settles a region. Returns whether the content of this context is text.
    pub(crate) fn settle(&mut self, region: u32, text: bool) -> bool {
        if self.region == region {
            self.region = 0;
            return text;
        }
        true
    }
}

/// Reader of Markdown, limited to code and quotations.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    line: Line,
    /// The indent of the line, and its number of characters.
    indent: u32,
    chars: u32,
    /// The open fence: its mark and length.
    fence: Option<(char, u32)>,
    /// Whether the previous line was blank, whether it was indented code, and whether a list continues.
    blank: bool,
    code: bool,
    list: bool,
    open: Option<Open>,
    region: u32,
    /// Number of the backticks just read.
    ticks: u32,
    /// The last character, and the last one other than white space.
    before: char,
    ink: char,
    /// The letter, and the number of characters of the line, all of them equal, that may form a rule.
    letter: Letter,
    marks: u32,
    /// Colons at the end of the line so far.
    colons: u32,
    /// The directive of reStructuredText in the line, as far as it was read.
    directive: Directive,
    /// The indent of the line that begins a literal block: lines with a greater indent are code.
    literal: Option<u32>,
}

/// The directive `.. name::`, which begins a block.
#[derive(Debug, Clone, Default)]
enum Directive {
    #[default]
    None,
    /// This number of dots.
    Dots(u32),
    Name(String),
    /// Whether its block is code.
    Block(bool),
}

/// Directives with a block of code.
const OF_CODE: [&str; 7] =
    ["code", "code-block", "sourcecode", "parsed-literal", "doctest", "testcode", "ipython"];
/// The longest name of a directive, in bytes.
const LONGEST_NAME: usize = 20;

#[derive(Debug, Clone, Copy)]
struct Open {
    close: char,
    /// Number of the backticks that opened it; 0 for a quotation.
    ticks: u32,
    chars: u32,
    /// An apostrophe that closes it unless the word continues.
    closing: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Begun,
    /// Marks that may be a fence, and whether other text follows them.
    Marks(char, u32, bool),
    /// A bullet, or digits, that may begin a list item.
    Item(bool),
    Text,
    Hidden,
}

impl Scope {
    pub(crate) fn new() -> Self {
        Scope {
            line: Line::Begun,
            indent: 0,
            chars: 0,
            fence: None,
            blank: true,
            code: false,
            list: false,
            open: None,
            region: 0,
            ticks: 0,
            before: '\n',
            ink: '\n',
            letter: Letter::default(),
            marks: 0,
            colons: 0,
            directive: Directive::None,
            literal: None,
        }
    }

    /// Reads the text's next character, and returns its context. Reports each region that ended, and whether it
    /// is text.
    #[inline]
    pub(crate) fn char(&mut self, c: char, mut over: impl FnMut(u32, bool)) -> Context {
        let begins = self.line == Line::Begun;
        let (behind, ink) = (self.before, self.ink);
        self.step(c, &mut over);
        self.context(begins, behind, ink)
    }

    /// Returns how many lower-case letters and spaces may follow without a change of context.
    #[inline]
    pub(crate) fn quiet(&self) -> usize {
        let is_named = matches!(self.directive, Directive::Dots(_) | Directive::Name(_));
        if self.ticks > 0 || is_named || !matches!(self.line, Line::Text | Line::Hidden) {
            return 0;
        }
        match self.open {
            None => usize::MAX,
            Some(open) if open.closing || self.line == Line::Hidden => 0,
            Some(open) => LONGEST.saturating_sub(open.chars) as usize,
        }
    }

    /// Skips such letters and spaces.
    #[inline]
    pub(crate) fn pass(&mut self, text: &str) {
        let (Some(last), Ok(passed)) = (text.bytes().last(), u32::try_from(text.len())) else { return };
        if let Some(open) = &mut self.open {
            open.chars += passed;
        }
        self.chars = self.chars.saturating_add(passed);
        self.before = char::from(last);
        if let Some(ink) = text.bytes().rfind(|c| *c != b' ') {
            self.ink = char::from(ink);
            self.colons = 0;
        }
    }

    #[inline]
    fn context(&self, line: bool, behind: char, ink: char) -> Context {
        Context {
            region: if self.open.is_some() { self.region } else { 0 },
            hidden: self.line == Line::Hidden || self.fence.is_some() || matches!(self.line, Line::Marks(..)),
            line,
            indented: self.indent > 0,
            spoken: behind == ' ' && (is_word(ink) || matches!(ink, ':' | ',')),
            glued: is_word(behind) || matches!(behind, ']' | ')' | '$' | '{' | '=' | '\\' | '/' | '!'),
            starred: matches!(behind, '*' | '_'),
            letter: self.letter.is_open(),
        }
    }

    fn step(&mut self, c: char, over: &mut impl FnMut(u32, bool)) {
        if let Some(open) = self.open.filter(|open| open.closing) {
            if is_word(c) {
                self.open = Some(Open { closing: false, ..open });
            } else {
                self.close(false, over);
            }
        }
        if self.ticks > 0 && c != '`' {
            self.end_ticks(over);
        }
        if c == '\n' {
            self.end_line(over);
            (self.line, self.indent, self.chars, self.marks, self.before) = (Line::Begun, 0, 0, 0, c);
            return;
        }
        let is_mark = matches!(c, '-' | '*' | '_' | '=') && (self.chars == 0 || self.before == c);
        self.marks += u32::from(is_mark && self.marks == self.chars);
        self.chars = self.chars.saturating_add(1);
        self.direct(c);
        self.read(c, over);
        if self.fence.is_none() && matches!(self.line, Line::Text | Line::Item(_)) {
            self.within(c, over);
        }
        self.before = c;
        if !c.is_whitespace() {
            self.ink = c;
            self.colons = if c == ':' { self.colons + 1 } else { 0 };
        }
    }

    /// Reads a directive at the beginning of the line.
    fn direct(&mut self, c: char) {
        match (&mut self.directive, c) {
            (Directive::None, '.') if self.line == Line::Begun => self.directive = Directive::Dots(1),
            (Directive::None | Directive::Block(_), _) => {}
            (Directive::Dots(1), '.') => self.directive = Directive::Dots(2),
            (Directive::Dots(2), ' ') => self.directive = Directive::Name(String::new()),
            (Directive::Name(name), ':') if self.before == ':' => {
                self.directive = Directive::Block(OF_CODE.contains(&name.as_str()));
            }
            (Directive::Name(_), ':') => {}
            (Directive::Name(name), c) if name.len() < LONGEST_NAME => name.push(c),
            _ => self.directive = Directive::None,
        }
    }

    /// Determines the kind of the line.
    fn read(&mut self, c: char, over: &mut impl FnMut(u32, bool)) {
        self.line = match (self.line, c) {
            (Line::Begun, ' ' | '\t' | '\r') => {
                self.indent += if c == '\t' { 4 } else { 1 };
                Line::Begun
            }
            (Line::Begun, '`' | '~') => Line::Marks(c, 1, false),
            (Line::Begun, _) if self.fence.is_some() => Line::Hidden,
            (Line::Begun, '>') => {
                self.close(true, over);
                self.code = false;
                Line::Hidden
            }
            (Line::Begun, _) if self.indent >= 4 && (self.blank || self.code) && !self.list => {
                self.close(true, over);
                self.code = true;
                Line::Hidden
            }
            (Line::Begun, _) if self.literal.is_some_and(|indent| self.indent > indent) => {
                self.close(true, over);
                Line::Hidden
            }
            (Line::Begun, '-' | '*' | '+' | '•') => Line::Item(true),
            (Line::Begun | Line::Item(false), '0'..='9') => Line::Item(false),
            (Line::Begun, _) => {
                if c == '#' {
                    self.close(true, over);
                }
                self.list &= self.indent > 0;
                Line::Text
            }
            (Line::Item(false), '.' | ')') => Line::Item(true),
            (Line::Item(bullet), _) => {
                if bullet && c.is_whitespace() {
                    self.close(true, over);
                    self.list = true;
                }
                Line::Text
            }
            (Line::Marks(mark, length, false), _) if c == mark => Line::Marks(mark, length + 1, false),
            (Line::Marks(mark, length, _), _) if length < 3 => {
                if self.fence.is_some() {
                    Line::Hidden
                } else {
                    if mark == '`' {
                        self.ticks = length;
                        self.end_ticks(over);
                    }
                    Line::Text
                }
            }
            (Line::Marks(mark, length, rest), _) => {
                if c == '`' && mark == '`' {
                    Line::Hidden
                } else {
                    Line::Marks(mark, length, rest || !c.is_whitespace())
                }
            }
            (line, _) => line,
        };
    }

    /// Reads quotations and code within a line.
    fn within(&mut self, c: char, over: &mut impl FnMut(u32, bool)) {
        let Some(open) = &mut self.open else {
            match c {
                '`' => self.ticks += 1,
                '"' | '“' | '«' | '‘' | '„' if !is_word(self.before) => self.begin(c, 0),
                _ => {}
            }
            return;
        };
        open.chars += 1;
        if open.ticks > 0 {
            self.ticks += u32::from(c == '`');
        } else if c == open.close {
            match c {
                '’' => open.closing = true,
                '"' if self.before.is_whitespace() || matches!(self.before, '(' | '[') => {
                    self.close(true, over);
                    self.begin(c, 0);
                }
                _ => self.close(false, over),
            }
            return;
        }
        if self.open.is_some_and(|open| open.chars > LONGEST) {
            self.close(true, over);
        }
    }

    fn begin(&mut self, mark: char, ticks: u32) {
        self.region += 1;
        let close = match mark {
            '“' => '”',
            '«' => '»',
            '‘' => '’',
            '„' => '“',
            mark => mark,
        };
        self.open = Some(Open { close, ticks, chars: 0, closing: false });
    }

    fn end_ticks(&mut self, over: &mut impl FnMut(u32, bool)) {
        let ticks = std::mem::take(&mut self.ticks);
        match self.open {
            None => self.begin('`', ticks),
            Some(open) if open.ticks == ticks => self.close(false, over),
            Some(_) => {}
        }
    }

    fn close(&mut self, text: bool, over: &mut impl FnMut(u32, bool)) {
        if self.open.take().is_some() {
            over(self.region, text);
        }
    }

    fn end_line(&mut self, over: &mut impl FnMut(u32, bool)) {
        match (self.line, self.fence) {
            (Line::Marks(mark, length, false), Some((open, least))) if mark == open && length >= least => {
                self.fence = None;
            }
            (Line::Marks(mark, length, _), None) if length >= 3 => {
                self.close(true, over);
                self.fence = Some((mark, length));
            }
            _ => {}
        }
        let after_blank = self.blank;
        self.blank = self.line == Line::Begun;
        if !self.blank && self.literal.is_none_or(|indent| self.indent <= indent) {
            let is_code = match self.directive {
                Directive::Block(is_code) => is_code,
                _ => self.colons == 2,
            };
            self.literal = is_code.then_some(self.indent);
        }
        (self.colons, self.directive) = (0, Directive::None);
        if self.blank {
            self.close(true, over);
            self.letter.end_paragraph();
        } else if matches!(self.line, Line::Text | Line::Item(_)) {
            self.code = false;
            let end = match self.ink {
                ',' => End::Comma,
                _ if self.marks == self.chars && self.marks >= 3 => End::Rule,
                _ => End::Other,
            };
            self.letter.line(self.chars, end, after_blank);
        }
    }
}
