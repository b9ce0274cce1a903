//! Phrases that say how something is said. They are English.

use std::sync::LazyLock;

use crate::stream::guardrail::text::{Found, Phrases};

/// What a phrase is a mark of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Hedge,
    Formal,
    Casual,
}

impl Mark {
    const ALL: [(Mark, &'static [&'static str]); 3] =
        [(Mark::Hedge, HEDGES), (Mark::Formal, FORMAL), (Mark::Casual, CASUAL)];

    pub(super) fn of(found: Found) -> Mark {
        Mark::ALL.get(found.label).map_or(Mark::Hedge, |(mark, _)| *mark)
    }
}

pub(super) static MARKS: LazyLock<Phrases> = LazyLock::new(|| {
    let mut phrases = Phrases::new();
    for (label, (_, list)) in Mark::ALL.iter().enumerate() {
        list.iter().for_each(|phrase| phrases.add(phrase, label));
    }
    phrases
});

const HEDGES: &[&str] = &[
    "arguably",
    "as far as i know",
    "could be",
    "could possibly",
    "i believe",
    "i guess",
    "i suppose",
    "i think",
    "i'm not sure",
    "i'm not certain",
    "in some cases",
    "in some ways",
    "it appears",
    "it depends",
    "it is possible",
    "it seems",
    "it's possible",
    "likely",
    "may be",
    "may or may not",
    "maybe",
    "might",
    "perhaps",
    "possibly",
    "potentially",
    "presumably",
    "probably",
    "roughly speaking",
    "somewhat",
    "to some extent",
];

const FORMAL: &[&str] = &[
    "accordingly",
    "albeit",
    "consequently",
    "furthermore",
    "hence",
    "hereby",
    "herein",
    "in accordance with",
    "it follows that",
    "moreover",
    "nevertheless",
    "nonetheless",
    "notwithstanding",
    "pursuant to",
    "shall",
    "thereby",
    "therefore",
    "thus",
    "whereas",
    "whereby",
    "with respect to",
];

const CASUAL: &[&str] = &[
    "!!",
    ":)",
    ":-)",
    "awesome",
    "btw",
    "dude",
    "gonna",
    "gotta",
    "guys",
    "haha",
    "hey",
    "kinda",
    "lol",
    "nah",
    "no worries",
    "nope",
    "omg",
    "sorta",
    "super cool",
    "tbh",
    "totally",
    "wanna",
    "wow",
    "ya",
    "yay",
    "yeah",
    "yep",
];
