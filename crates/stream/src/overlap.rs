//! Repetition at the start of a resumed stream.

/// Filter that removes a repetition of the checkpoint's end from the start of a resumed stream.
///
/// A model that continues a text often begins with the last words of its prompt. The filter removes the longest
/// text that ends the checkpoint and begins the stream. It holds text back only while a longer overlap is
/// possible, so that a stream without a repetition is delayed by its first characters at most. Its time is
/// linear in the lengths of the checkpoint and of the text held back, for any division into tokens. It never
/// splits a character.
///
/// ```
/// use runstate_stream::Overlap;
///
/// let mut overlap = Overlap::new("The quick brown fox");
/// assert_eq!(overlap.push("brown"), "");
/// assert_eq!(overlap.push(" fox jum"), " jum");
/// assert_eq!(overlap.push("ps"), "ps");
/// assert_eq!(overlap.removed(), "brown fox".len());
///
/// // An overlap of one character is usually chance.
/// let mut overlap = Overlap::new("to infinit");
/// assert_eq!(overlap.push("t"), "");
/// assert_eq!(overlap.push("ies"), "ties");
/// assert_eq!(Overlap::new("to infinit").at_least(1).push("ties"), "ies");
/// ```
#[derive(Debug, Clone)]
pub struct Overlap {
    /// The checkpoint, until the overlap is settled.
    text: Vec<u8>,
    /// The start of the stream, which is held back.
    held: String,
    /// For each prefix of `held`: the length of its longest proper prefix that is also its suffix.
    borders: Vec<usize>,
    /// Bytes of `text` that have been compared.
    read: usize,
    /// Length of the longest prefix of `held` that is a suffix of `text[..read]`.
    matched: usize,
    at_least: usize,
    is_whole: bool,
    removed: usize,
    settled: bool,
}

impl Overlap {
    /// Creates a filter for a stream that continues from `checkpoint`. An overlap counts from two characters
    /// on.
    pub fn new(checkpoint: &str) -> Self {
        Overlap {
            text: checkpoint.as_bytes().to_vec(),
            held: String::new(),
            borders: Vec::new(),
            read: 0,
            matched: 0,
            at_least: 2,
            is_whole: false,
            removed: 0,
            settled: checkpoint.is_empty(),
        }
    }

    /// Sets the shortest overlap that counts, in characters. Default: 2.
    pub fn at_least(mut self, chars: usize) -> Self {
        self.at_least = chars;
        self
    }

    /// Counts an overlap only if it begins with a word and has a letter. Numbers and parts of words are mostly a
    /// continuation: `100` goes on with `00`. In scripts that join words without spaces, any character begins one.
    ///
    /// ```
    /// use runstate_stream::Overlap;
    ///
    /// let push = |checkpoint: &str, token: &str| {
    ///     let mut overlap = Overlap::new(checkpoint).whole_words();
    ///     overlap.push(token) + &overlap.finish()
    /// };
    /// assert_eq!(push("The price is 100", "00 dollars"), "00 dollars");
    /// assert_eq!(push("The price is 100", "is 100 dollars"), " dollars");
    /// ```
    pub fn whole_words(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// Adds the stream's next token. Returns the text that is now known to be new.
    ///
    /// Once [`is_settled`](Self::is_settled) returns true, further calls are unnecessary.
    pub fn push(&mut self, delta: &str) -> String {
        if self.settled {
            return delta.to_owned();
        }
        self.held.push_str(delta);
        while self.borders.len() < self.held.len() {
            if !self.extend() {
                return self.settle();
            }
        }
        String::new()
    }

    /// Ends the stream. Returns the text that was held back and is no overlap.
    pub fn finish(&mut self) -> String {
        if self.settled {
            return String::new();
        }
        self.read_on(usize::MAX);
        self.settle()
    }

    /// Returns whether the length of the overlap is known. From then on every token is new text.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Returns the number of bytes removed.
    pub fn removed(&self) -> usize {
        self.removed
    }

    /// Takes one more byte of `held`, and finds the first position in the text at which all bytes taken so far
    /// occur. Returns false if there is none, or if the occurrence ends the text: the suffix of the text is
    /// then the longest possible overlap.
    fn extend(&mut self) -> bool {
        let held = self.held.as_bytes();
        let end = self.borders.len();
        let mut border = if end == 0 { 0 } else { self.borders[end - 1] };
        while border > 0 && held[border] != held[end] {
            border = self.borders[border - 1];
        }
        self.borders.push(if end > 0 && held[border] == held[end] { border + 1 } else { 0 });
        self.read_on(end + 1) && self.read < self.text.len()
    }

    /// Reads the text until `enough` bytes of `held` match. Returns false if the text ends before.
    fn read_on(&mut self, enough: usize) -> bool {
        let held = self.held.as_bytes();
        while self.matched < enough {
            let Some(&byte) = self.text.get(self.read) else { return false };
            // Only bytes whose border is known can be compared.
            while self.matched > 0 && (self.matched == self.borders.len() || held[self.matched] != byte) {
                self.matched = self.borders[self.matched - 1];
            }
            if held.get(self.matched) == Some(&byte) {
                self.matched += 1;
            }
            self.read += 1;
        }
        true
    }

    fn settle(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        self.settled = true;
        let text = std::mem::take(&mut self.text);
        self.borders = Vec::new();
        // A text that ends the checkpoint begins with a whole character of the checkpoint. It therefore ends
        // with a whole character of the stream.
        let (overlap, new) = held.split_at_checked(self.matched).unwrap_or(("", &held));
        let is_short = overlap.chars().count() < self.at_least;
        if is_short || self.is_whole && !begins_a_word(&text, overlap) {
            return held;
        }
        self.removed = overlap.len();
        new.to_owned()
    }
}

/// Does the overlap have a letter, and begin a word of the text that it ends?
fn begins_a_word(text: &[u8], overlap: &str) -> bool {
    let before =
        std::str::from_utf8(&text[..text.len() - overlap.len()]).unwrap_or_default().chars().next_back();
    // From here on, scripts have no spaces between words.
    let is_joined = |c: char| c.is_alphanumeric() && c < '\u{2e80}';
    let within = before.is_some_and(is_joined) && overlap.chars().next().is_some_and(is_joined);
    !within && overlap.chars().any(char::is_alphabetic)
}
