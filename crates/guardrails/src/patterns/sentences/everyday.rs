//! Sentences of everyday life, in which a person declines or speaks of oneself.

/// Times and other persons, in a sentence that declines. Comments on a text have them, too.
pub(super) const LIFE: &[&str] = &[
    // A time.
    "(monday|tuesday|wednesday|thursday|friday|saturday|sunday|tonight|tomorrow|yesterday|noon|weekend)",
    "(this|last|next) (week|month|morning|afternoon|evening|summer|winter|spring|autumn|year|night)",
    "(until|till)",
    "(before|after) .. (has|have|had|ten|#)",
    // Another person.
    "(he|she|him|his|hers)",
    "my (accountant|boss|boyfriend|brother|car|children|colleague|colleagues|dad|daughter|doctor|family|father|friend|girlfriend|grandfather|grandmother|house|husband|kids|landlord|lawyer|manager|mother|mum|neighbour|parents|partner|sister|son|team|van|wife)",
    "couldn't (resist|help)",
    "(beyond|outside) my (control|door|expectations|garden|home|house|means|office|own|room|wildest|window)",
];

/// Own reasons and things at hand.
pub(super) const THINGS: &[&str] = &[
    // An own reason.
    "(because|since|as) (my|we|they|i (was|only|have|had|am your|am on|am in)|the .. (is|was|are|were))",
    "(tonight|tomorrow|yesterday)",
    "^ as (a|an) .. at (the|a)",
    "^ as (a|an|your) (accountant|coach|doctor|lawyer|nurse|parent|student|teacher|tenant)",
    "^ as (a|an) !(ai|artificial|language|large|llm|virtual|digital|machine|assistant) .. (at|in|of) (the|a|this)",
    "(i'm|i am) (just |only |) (a|an|your) (accountant|beginner|student|nurse|teacher|neighbour|volunteer|landlord|tenant|tourist|driver|parent)",
    // A thing at hand.
    "(can't|cannot|couldn't|won't|unable to|not able to|not allowed to|will not|would not|must refuse|refuse|decline) .. (accept|assist|change|continue|engage|prescribe|open|participate|process|recommend|refuse|share|comply|support) (with|in|at|) (the|this|my|our|his|her|their) !(answer|answers|code|content|contents|details|exact|full|information|instructions|lyrics|password|prompt|question|request|requests|steps|system|text|topic|type|kind|sort|activity|actual|chat|conversation|discussion|roleplay|scene|story|same|complete|original|way|use|task)",
    // Things of people.
    "(refuse|decline) to (accept|be|believe|buy|give up|go|let|pay|use|wait)",
    "not going to lie",
    "(on|over) the phone",
    "guarantee",
    "(tell you|say) (when|where|which|who)",
    "request for (a|an|the)",
    "continue as",
    "vote for",
    "promises",
    "access to the !(internet|web|user|conversation|system|previous|current|live|actual|full|external)",
    // Own experience.
    "experience with (the|this|these)",
    "happy that",
    "new here",
    "steps i took",
];
