//! Phrases that say how something is said. They are English.

use std::sync::LazyLock;

use crate::stream::guardrail::text::{Found, Phrases};

/// What a phrase is a mark of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Hedge,
    Tone(Sign),
}

/// A sign of tone: formal or casual, and strong if neutral text does without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sign {
    pub(super) formal: bool,
    pub(super) strong: bool,
}

impl Mark {
    const ALL: [(Mark, &'static [&'static str]); 5] = [
        (Mark::Hedge, HEDGES),
        (Mark::Tone(Sign { formal: true, strong: true }), FORMAL),
        (Mark::Tone(Sign { formal: true, strong: false }), SOBER),
        (Mark::Tone(Sign { formal: false, strong: true }), CASUAL),
        (Mark::Tone(Sign { formal: false, strong: false }), CLOSE),
    ];

    pub(super) fn of(found: Found) -> Mark {
        Mark::ALL.get(found.label).map_or(Mark::Hedge, |(mark, _)| *mark)
    }
}

pub(super) static MARKS: LazyLock<Phrases> = LazyLock::new(|| {
    let mut phrases = Phrases::new();
    for (label, (_, list)) in Mark::ALL.iter().enumerate() {
        list.iter().for_each(|template| phrases.add_template(template, label));
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

/// Of contracts, papers and offices.
const FORMAL: &[&str] = &[
    "(accordingly|additionally|aforementioned|aforesaid|albeit|at your disposal|be advised|behalf of|by virtue of)",
    "(claimant|commence|commenced|comprises|consequently|constitutes|counsel|deemed|defendant|duly|enclosed|endeavour)",
    "(foregoing|forthwith|furthermore|hence|henceforth|hereafter|hereby|herein|hereinafter|hereto|heretofore|herewith)",
    "in (accordance with|conjunction with|lieu of|respect of|the event (of|that))",
    "(inasmuch as|insofar as|it follows that|it is evident|kindly|likewise|moreover|nevertheless|nonetheless)",
    "(notwithstanding|owing to|plaintiff|please find|prior to|provided that|pursuant to|respectfully|shall|should (any|you))",
    "(subsequent|subsequently|the (authors|applicant|committee|latter|parties|present|undersigned)|thereafter|thereby)",
    "(therefore|therein|thereof|thereto|thereupon|therewith|thus|undersigned|upon|whereas|whereby|wherein|whereof)",
    "(whereupon|whilst|whom|with (reference|regard|respect) to|we (are writing|regret)|yours (faithfully|sincerely))",
];

/// Of sober prose.
const SOBER: &[&str] = &[
    "(been|by the|cannot|of the|must|which|such as|in order to|regarding|may be|as well as)",
    "(are|could|did|do|does|had|has|have|is|may|should|was|were|will|would) not",
];

/// Of talk and chat.
const CASUAL: &[&str] = &[
    "(?!|:\\)|:-\\)|:d|:p|;\\)|xd)",
    "(ain't|anyways|awesome|aww|bam|bestie|besties|bloody|bloke|bonkers|boom|bro|bruh|btw|bummer|buddy|c'mon|cheers|chill|chuck)",
    "(come on|coz|crap|crazy|cuz|damn|dang|darn|dope|duh|dude|dumb|dunno|fella|fellas|folks|freaking|geez|gimme|gonna|gosh)",
    "(gotcha|gotta|gross|guess what|guys|haha|hahaha|heck|hey|hi|hiya|hmm|honestly|hooray|huh|idk|imho|imo|innit|insane|jeez)",
    "(just saying|kiddo|kidding|kinda|lads|lame|legit|lemme|literally|lmao|lol|lotta|lovely|low-key|lowkey|mate|meh|mum)",
    "(my bad|nah|neat|ngl|no (clue|idea|way|worries)|nope|nuts|obviously|oh|ok|okay|omg|oops|ouch|outta|pal|pics|pls|plz)",
    "(real quick|reckon|rofl|rubbish|screwed|seriously|silly|smash|so much fun|so yeah|sooo|sorta|stoked|stuff|stupid|sucks)",
    "(sus|sweet|tbh|thingy|thx|tons of|totally|trust me|tryna|ugh|uh|vibe|vibes|wanna|weird|whatever|who cares)",
    "(whoa|whoops|wicked|woo|woohoo|wow|wtf|y'all|ya|yay|yeah|yep|yikes|yo|you know|yuck|yum|yummy|yup)",
];

/// Of speech to one person.
const CLOSE: &[&str] = &[
    "(are|could|did|do|does|had|has|have|is|should|was|were|wo|would)n't",
    "can't",
    "i'(d|ll|m|ve)",
    "(he|here|it|let|she|that|there|what|who)'s",
    "(they|we|you)'(d|ll|re|ve)",
    "(my|we|our|us|me|really|just|so|got|get|gets|getting|big|thing|things|guy|lot|bit|sure|well|now|right|fun|nice|cool)",
];
