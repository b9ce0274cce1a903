//! Drift: a change of an output's form or content.
//!
//! A model that fails may do so within one answer: it begins to repeat itself, to hedge, or to produce noise.
//! No rule on allowed content catches that. The detector compares the last part of the text with the earlier
//! text. Each check uses a sliding window, has a constant cost per token, and gives a confidence. Code and
//! quotations are skipped: logs and tables repeat themselves, and a quotation is another author's text.

mod entropy;
mod hedging;
mod kind;
mod line;
mod prose;
mod repetition;
mod token;

use entropy::Entropy;
use hedging::{HEDGES, Hedging};
pub use kind::{Drift, DriftKind};
use prose::{Piece, Prose};
use repetition::Repetition;

use crate::Severity;
use crate::text::{Context, Matcher, Words, is_word};

/// Drift detector for the output of one attempt.
///
/// ```
/// use runstate_guardrails::drift::{DriftDetector, DriftKind};
///
/// let mut detector = DriftDetector::new();
/// let sound = "Each of these words is said once and stands for itself, as in any text that somebody means. ";
/// assert_eq!(detector.token(sound), None);
///
/// let drift = (0..50).find_map(|_| detector.token("and then and then we ")).unwrap();
/// assert_eq!(drift.kinds, [DriftKind::Repetition]);
/// assert!((0.7..=1.0).contains(&drift.confidence));
///
/// // A new attempt starts with an empty window.
/// detector.reset();
/// assert_eq!(detector.token("and then we "), None);
/// ```
#[derive(Debug, Clone)]
pub struct DriftDetector {
    checks: Checks,
    /// None if code and quotations are checked too.
    prose: Option<Prose>,
    kinds: Vec<DriftKind>,
    confidence: f64,
    /// The kinds that fail no attempt, each with whether it was reported.
    warnings: Vec<(DriftKind, bool)>,
    told: bool,
}

#[derive(Debug, Clone, Default)]
struct Checks {
    words: Words,
    /// The last character before the current word.
    edge: char,
    matcher: Matcher,
    repetition: Option<Repetition>,
    entropy: Option<Entropy>,
    hedging: Option<Hedging>,
}

/// The highest confidence of each kind within one token.
#[derive(Debug, Clone, Copy, Default)]
struct Peaks([f64; DriftKind::ALL.len()]);

impl Peaks {
    #[inline]
    fn note(&mut self, kind: DriftKind, confidence: f64) {
        let peak = &mut self.0[kind as usize];
        if confidence > *peak {
            *peak = confidence;
        }
    }
}

impl DriftDetector {
    /// Creates a detector of every kind.
    pub fn new() -> Self {
        Self::of(DriftKind::ALL)
    }

    /// Creates a detector of these kinds.
    pub fn of(kinds: impl IntoIterator<Item = DriftKind>) -> Self {
        let kinds = Vec::from_iter(kinds);
        let warnings = DriftKind::ALL.map(|kind| (kind, false)).to_vec();
        let (checks, prose) = (Checks::new(&kinds), Some(Prose::new()));
        DriftDetector { checks, prose, kinds, confidence: 0.7, warnings, told: false }
    }

    /// Sets the severity of a kind. Default: [`Severity::Warning`], which reports a violation of the rule
    /// `drift` and fails no attempt, because ordinary texts look like drift occasionally. [`Severity::Fatal`]
    /// counts as an error.
    ///
    /// ```
    /// use runstate_guardrails::drift::{DriftDetector, DriftKind};
    /// use runstate_guardrails::Severity;
    ///
    /// let hedged = "perhaps ".repeat(50);
    /// let mut detector = DriftDetector::of([DriftKind::Hedging]);
    /// let drift = detector.token(&hedged).unwrap();
    /// assert!(!detector.fails(&drift));
    ///
    /// let mut strict = DriftDetector::of([DriftKind::Hedging]).severity(DriftKind::Hedging, Severity::Error);
    /// let drift = strict.token(&hedged).unwrap();
    /// assert!(strict.fails(&drift));
    /// ```
    pub fn severity(mut self, kind: DriftKind, severity: Severity) -> Self {
        self.warnings.retain(|(warned, _)| *warned != kind);
        if severity < Severity::Error {
            self.warnings.push((kind, false));
        }
        self
    }

    /// Sets the severity of all kinds.
    ///
    /// ```
    /// use runstate_guardrails::drift::DriftDetector;
    /// use runstate_guardrails::Severity;
    ///
    /// let mut strict = DriftDetector::new().each(Severity::Error);
    /// let drift = strict.token(&"round and round it goes. ".repeat(40)).unwrap();
    /// assert!(strict.fails(&drift));
    /// ```
    pub fn each(self, severity: Severity) -> Self {
        DriftKind::ALL.into_iter().fold(self, |detector, kind| detector.severity(kind, severity))
    }

    /// Returns whether the drift fails an attempt.
    pub fn fails(&self, drift: &Drift) -> bool {
        drift.kinds.iter().any(|kind| !self.warnings.iter().any(|(warned, _)| warned == kind))
    }

    /// Includes code and quotations: fences, code within lines, indented code, quoted lines, and quotations of
    /// up to 1,000 characters within a paragraph. Default: they are skipped.
    ///
    /// ```
    /// use runstate_guardrails::drift::DriftDetector;
    ///
    /// let log = format!("The log:\n\n```\n{}```\n", "retry the call again\n".repeat(40));
    /// assert_eq!(DriftDetector::new().token(&log), None);
    /// assert!(DriftDetector::new().everywhere().token(&log).is_some());
    /// ```
    pub fn everywhere(mut self) -> Self {
        self.prose = None;
        self
    }

    /// Sets the lowest confidence that is reported, from 0 to 1. Default: 0.7.
    pub fn from_confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// Adds the attempt's next token. Returns drift when a kind first reaches the configured confidence. Each
    /// kind that is a warning is reported once. After the first report of a kind that fails the attempt, the
    /// detector reports nothing more.
    pub fn token(&mut self, delta: &str) -> Option<Drift> {
        if self.told {
            return None;
        }
        let mut peaks = Peaks::default();
        match &mut self.prose {
            Some(prose) => prose.read(delta, |piece| match piece {
                Piece::Prose(text) => self.checks.read(text, &mut peaks),
                Piece::LeftOut(text) => self.checks.left_out(text, &mut peaks),
            }),
            None => self.checks.read(delta, &mut peaks),
        }
        let reached = |kind: &DriftKind| {
            let confidence = peaks.0[*kind as usize];
            confidence >= self.confidence && confidence > 0.0 && !self.warnings.contains(&(*kind, true))
        };
        if !DriftKind::ALL.iter().any(reached) {
            return None;
        }
        let kinds: Vec<DriftKind> = DriftKind::ALL.into_iter().filter(reached).collect();
        let confidence = kinds.iter().map(|kind| peaks.0[*kind as usize]).fold(0.0, f64::max);
        let drift = Drift { kinds, confidence };
        self.told = self.fails(&drift);
        for (kind, told) in &mut self.warnings {
            *told |= drift.kinds.contains(kind);
        }
        Some(drift)
    }

    /// Starts an attempt without text.
    pub fn reset(&mut self) {
        self.checks = Checks::new(&self.kinds);
        self.prose = self.prose.as_ref().map(|_| Prose::new());
        self.told = false;
        self.warnings.iter_mut().for_each(|(_, told)| *told = false);
    }

    /// Starts an attempt that continues from `text`. Later text is compared with it. The result is about `text`
    /// alone.
    pub fn resume(&mut self, text: &str) -> Option<Drift> {
        self.reset();
        self.token(text)
    }
}

impl Default for DriftDetector {
    fn default() -> Self {
        Self::new()
    }
}

impl Checks {
    fn new(kinds: &[DriftKind]) -> Self {
        let mut checks = Checks::default();
        for kind in kinds {
            match kind {
                DriftKind::Repetition => checks.repetition = Some(Repetition::default()),
                DriftKind::EntropySpike => checks.entropy = Some(Entropy::new()),
                DriftKind::Hedging => checks.hedging = Some(Hedging::default()),
            }
        }
        checks
    }

    /// Handles a skipped part of the text. It counts as one word; two different parts count as different words.
    fn left_out(&mut self, text: &str, peaks: &mut Peaks) {
        if let Some(repetition) = &mut self.repetition {
            peaks.note(DriftKind::Repetition, repetition.left_out(text));
        }
    }

    fn read(&mut self, delta: &str, peaks: &mut Peaks) {
        // The end of the text in which phrases were looked for. It is often ahead.
        let (mut at, mut hedged) = (0, 0);
        loop {
            // Most characters are lower-case letters within a word. No phrase ends at one of them.
            at += self.pass(&delta.as_bytes()[at..]);
            while hedged < at {
                hedged += self.hedge(&delta[hedged..], peaks);
            }
            let Some(c) = delta[at..].chars().next() else { return };
            if hedged == at {
                hedged += self.hedge(&delta[at..], peaks);
            }
            self.char(c, peaks);
            at += c.len_utf8();
        }
    }

    /// Reads the part of the text in which no phrase begins or ends, or one character. Returns its length.
    #[inline]
    fn hedge(&mut self, text: &str, peaks: &mut Peaks) -> usize {
        let Some(hedging) = &mut self.hedging else { return text.len() };
        let quiet = self.matcher.quiet(&HEDGES, text);
        self.matcher.pass(&text[..quiet]);
        if quiet > 0 {
            return quiet;
        }
        let Some(c) = text.chars().next() else { return 0 };
        // A phrase ends with the character after its last word, and counts with that word.
        self.matcher.char(&HEDGES, c, 0, Context::default(), |_| {
            peaks.note(DriftKind::Hedging, hedging.hedge());
        });
        c.len_utf8()
    }

    /// Reads the lower-case letters of ASCII that continue a word and end nothing. Returns their number.
    #[inline]
    fn pass(&mut self, text: &[u8]) -> usize {
        let Checks { words, repetition, entropy, hedging, .. } = self;
        if !text.first().is_some_and(u8::is_ascii_lowercase) {
            return 0;
        }
        let by_word = repetition.is_some() || hedging.is_some();
        let most = if by_word { words.quiet() } else { usize::MAX };
        let most = repetition.as_ref().map_or(most, |repetition| most.min(repetition.quiet()));
        let most = entropy.as_ref().map_or(most, |entropy| most.min(entropy.quiet()));
        let letters = text.iter().take(most).take_while(|c| c.is_ascii_lowercase()).count();
        if letters > 0 {
            let letters = &text[..letters];
            words.pass(letters);
            if let Some(repetition) = repetition {
                repetition.pass(letters);
            }
            if let Some(entropy) = entropy {
                entropy.pass(letters);
            }
        }
        letters
    }

    /// Reads a character.
    fn char(&mut self, c: char, peaks: &mut Peaks) {
        let Checks { words, edge, repetition, entropy, hedging, .. } = self;
        if repetition.is_some() || hedging.is_some() {
            words.char(c, 0, |word| {
                // Parts of paths, commands of LaTeX, and names of arguments are not prose.
                let glued = matches!(*edge, '/' | '\\' | '=' | '@') || matches!(c, '/' | '=');
                if let Some(repetition) = repetition.as_mut().filter(|_| !glued) {
                    peaks.note(DriftKind::Repetition, repetition.word(word));
                }
                if let Some(hedging) = hedging {
                    peaks.note(DriftKind::Hedging, hedging.word());
                }
            });
            if !is_word(c) && c != '\'' {
                *edge = c;
            }
        }
        if let Some(repetition) = repetition {
            peaks.note(DriftKind::Repetition, repetition.char(c));
        }
        if let Some(entropy) = entropy {
            peaks.note(DriftKind::EntropySpike, entropy.char(c));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn letters_that_are_skipped_count_as_characters(
            pieces in prop::collection::vec("[a-z]{1,40}|[A-Zß漢я]|[ -~]|\n|perhaps |might be ", 0..60),
        ) {
            let text = pieces.concat();
            let character = |checks: &mut Checks, c: char, peaks: &mut Peaks| {
                checks.hedge(c.encode_utf8(&mut [0; 4]), peaks);
                checks.char(c, peaks);
            };
            // Each check has a limit of its own for the letters. The lowest limit hides the others.
            for kinds in DriftKind::ALL.chunks(1).chain([DriftKind::ALL.as_slice()]) {
                let [mut skipped, mut read] = [Checks::new(kinds), Checks::new(kinds)];
                let [mut skipped_peaks, mut read_peaks] = [Peaks::default(), Peaks::default()];
                skipped.read(&text, &mut skipped_peaks);
                text.chars().for_each(|c| character(&mut read, c, &mut read_peaks));
                prop_assert_eq!(skipped_peaks.0, read_peaks.0);
                prop_assert_eq!(format!("{skipped:?}"), format!("{read:?}"));
            }
        }
    }
}
