//! The phrases that come with the crate.

use std::fmt;

/// A kind of built-in phrases, for [`Patterns::of`](super::Patterns::of). They are English, and are whole enough to stand in no
/// ordinary sentence; a short list that is right beats a long one that is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PatternKind {
    /// The model speaks of itself instead of the matter.
    MetaCommentary,
    /// The model declines.
    Refusal,
    /// Parts of the prompt or of a chat's format come out.
    InstructionLeak,
    /// Something was left to be filled in.
    Placeholder,
}

impl PatternKind {
    /// All of them.
    pub const ALL: [PatternKind; 4] = [
        PatternKind::MetaCommentary,
        PatternKind::Refusal,
        PatternKind::InstructionLeak,
        PatternKind::Placeholder,
    ];

    /// The name of the category: `refusal`.
    pub const fn name(self) -> &'static str {
        match self {
            PatternKind::MetaCommentary => "meta-commentary",
            PatternKind::Refusal => "refusal",
            PatternKind::InstructionLeak => "instruction-leak",
            PatternKind::Placeholder => "placeholder",
        }
    }

    /// The phrases.
    pub const fn phrases(self) -> &'static [&'static str] {
        match self {
            PatternKind::MetaCommentary => META_COMMENTARY,
            PatternKind::Refusal => REFUSAL,
            PatternKind::InstructionLeak => INSTRUCTION_LEAK,
            PatternKind::Placeholder => PLACEHOLDER,
        }
    }
}

impl fmt::Display for PatternKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

const META_COMMENTARY: &[&str] = &[
    "as a language model",
    "as a large language model",
    "as an ai assistant",
    "as an ai language model",
    "as an ai model",
    "as an ai, i",
    "i am a language model",
    "i am a large language model",
    "i am an ai",
    "i am just an ai",
    "i'm a language model",
    "i'm a large language model",
    "i'm an ai",
    "i'm just an ai",
    "my knowledge cutoff",
    "my last knowledge update",
    "my training data",
];

const REFUSAL: &[&str] = &[
    "i am not able to assist",
    "i am not able to help",
    "i am unable to assist",
    "i am unable to comply",
    "i am unable to fulfill",
    "i am unable to help",
    "i can't assist with",
    "i can't comply with",
    "i can't fulfill",
    "i can't help with",
    "i cannot assist with",
    "i cannot comply with",
    "i cannot fulfill",
    "i cannot help with",
    "i have to decline",
    "i must decline",
    "i must refuse",
    "i won't be able to assist",
    "i won't be able to help",
    "i'm not able to assist",
    "i'm not able to help",
    "i'm sorry, but i can't",
    "i'm sorry, but i cannot",
    "i'm unable to assist",
    "i'm unable to comply",
    "i'm unable to fulfill",
    "i'm unable to help",
];

const INSTRUCTION_LEAK: &[&str] = &[
    "### assistant:",
    "### human:",
    "### instruction:",
    "### response:",
    "### system:",
    "<<sys>>",
    "<end_of_turn>",
    "<start_of_turn>",
    "<|assistant|>",
    "<|begin_of_text|>",
    "<|end_header_id|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|im_end|>",
    "<|im_start|>",
    "<|start_header_id|>",
    "<|system|>",
    "<|user|>",
    "[/inst]",
    "[inst]",
    "my system prompt",
    "the system prompt says",
    "you are a helpful assistant",
];

const PLACEHOLDER: &[&str] = &[
    "<insert",
    "<placeholder>",
    "<your",
    "[add your",
    "[company name]",
    "[enter your",
    "[insert",
    "[placeholder]",
    "[todo",
    "[your",
    "fixme:",
    "lorem ipsum",
    "todo:",
    "your_api_key",
];
