//! What a resumed stream says again.

/// Takes from the beginning of a resumed stream what it repeats of the checkpoint's end.
///
/// A model that is asked to go on often begins with the last words that it was shown. What is taken away is the longest text that
/// ends the checkpoint and begins the stream. Text is held back only while a longer such text is still possible, so a stream that
/// repeats nothing is not delayed beyond its first characters. The time is linear in the checkpoint's length and in what was held
/// back, however the stream is cut into tokens; a character is never cut.
///
/// ```
/// use runstate::stream::Overlap;
///
/// let mut overlap = Overlap::new("The quick brown fox");
/// assert_eq!(overlap.push("brown"), "");
/// assert_eq!(overlap.push(" fox jum"), " jum");
/// assert_eq!(overlap.push("ps"), "ps");
/// assert_eq!(overlap.removed(), "brown fox".len());
///
/// // One character alone is more often chance than repetition.
/// let mut overlap = Overlap::new("to infinit");
/// assert_eq!(overlap.push("t"), "");
/// assert_eq!(overlap.push("ies"), "ties");
/// assert_eq!(Overlap::new("to infinit").at_least(1).push("ties"), "ies");
/// ```
#[derive(Debug, Clone)]
pub struct Overlap {
    /// The checkpoint, until the matter is settled.
    text: Vec<u8>,
    /// The stream's beginning, held back.
    held: String,
    /// For each length of a beginning of `held`: the longest proper beginning of it that also ends it.
    borders: Vec<usize>,
    /// How much of `text` is compared.
    read: usize,
    /// How much of `held` ends `text[..read]`.
    matched: usize,
    at_least: usize,
    removed: usize,
    settled: bool,
}

impl Overlap {
    /// For a stream that goes on from this checkpoint. An overlap counts from two characters on.
    pub fn new(checkpoint: &str) -> Self {
        Overlap {
            text: checkpoint.as_bytes().to_vec(),
            held: String::new(),
            borders: Vec::new(),
            read: 0,
            matched: 0,
            at_least: 2,
            removed: 0,
            settled: checkpoint.is_empty(),
        }
    }

    /// The same, where an overlap counts from `chars` characters on.
    pub fn at_least(mut self, chars: usize) -> Self {
        self.at_least = chars;
        self
    }

    /// The stream's next token. Gives the text that is now known to be new.
    ///
    /// [`is_settled`](Self::is_settled) tells when there is no more need to ask.
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

    /// The stream has ended: gives what was held back and is no overlap.
    pub fn finish(&mut self) -> String {
        if self.settled {
            return String::new();
        }
        self.read_on(usize::MAX);
        self.settle()
    }

    /// Is it known how much is repeated? From then on each token is new as it is.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// How many bytes were taken away.
    pub fn removed(&self) -> usize {
        self.removed
    }

    /// Takes one more byte of what is held, and looks for the first place in the text where all of it so far stands. False when
    /// there is none, or none that text follows: what ends the text is then the longest overlap there can be.
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

    /// Reads the text until `enough` bytes of what is held match. False when the text ends before.
    fn read_on(&mut self, enough: usize) -> bool {
        let held = self.held.as_bytes();
        while self.matched < enough {
            let Some(&byte) = self.text.get(self.read) else { return false };
            // Only what has its border known may be compared.
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
        self.text = Vec::new();
        self.borders = Vec::new();
        // A text that ends the checkpoint begins with a character of the checkpoint, and so ends with one of the stream.
        let (overlap, new) = held.split_at_checked(self.matched).unwrap_or(("", &held));
        if overlap.chars().count() < self.at_least {
            return held;
        }
        self.removed = overlap.len();
        new.to_owned()
    }
}
