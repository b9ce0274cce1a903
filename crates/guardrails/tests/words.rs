//! The words of a text, read from its beginning.

pub struct Word {
    pub text: String,
    /// Where it begins.
    pub at: usize,
    /// Where the character stands that shows that it has ended.
    pub known: Option<usize>,
}

impl Word {
    pub fn has_letter(&self) -> bool {
        self.text.chars().any(char::is_alphabetic)
    }
}

pub fn words(text: &str) -> Vec<Word> {
    let alone = |c: char| ('\u{4E00}'..='\u{9FFF}').contains(&c);
    let mut words: Vec<Word> = vec![];
    for (at, c) in text.char_indices().filter(|(_, c)| *c != '\u{200B}') {
        let c = if c == '\u{2019}' { '\'' } else { c };
        let fits = c.is_alphanumeric() || c == '_' || c == '\'';
        match words.last_mut().filter(|word| word.known.is_none()) {
            Some(word) if fits && !alone(c) => word.text.extend(c.to_lowercase()),
            open => {
                open.into_iter().for_each(|word| word.known = Some(at));
                if fits && c != '\'' {
                    let known = alone(c).then_some(at);
                    words.push(Word { text: c.to_lowercase().collect(), at, known });
                }
            }
        }
        if let Some(word) = words.last_mut().filter(|word| word.text.chars().count() == 32) {
            word.known.get_or_insert(at);
        }
    }
    words
}
