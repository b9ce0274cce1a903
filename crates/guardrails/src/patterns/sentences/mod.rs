//! The built-in shapes of sentences.

mod everyday;
mod leak;
mod meta;
mod refusal;

use std::sync::LazyLock;

use everyday::{LIFE, THINGS};
use leak::INSTRUCTION_LEAK;
use meta::META_COMMENTARY;
use refusal::REFUSAL;

use super::PatternKind;
use super::builtin::Place;
use super::shapes::Shape;

impl PatternKind {
    /// Returns the triggers: phrases without which a sentence is not searched for shapes.
    pub(super) fn triggers(self) -> &'static [&'static str] {
        match self {
            PatternKind::MetaCommentary => META_COMMENTARY.0,
            PatternKind::Refusal => REFUSAL.0,
            PatternKind::InstructionLeak => INSTRUCTION_LEAK.0,
            PatternKind::Placeholder => &[],
        }
    }

    /// Returns the shapes, each with its place.
    pub(super) fn shapes(self) -> &'static [(Place, Shape)] {
        static META: LazyLock<Vec<(Place, Shape)>> = LazyLock::new(|| read(META_COMMENTARY.1));
        static REFUSALS: LazyLock<Vec<(Place, Shape)>> = LazyLock::new(|| read(REFUSAL.1));
        static LEAKS: LazyLock<Vec<(Place, Shape)>> = LazyLock::new(|| read(INSTRUCTION_LEAK.1));
        match self {
            PatternKind::MetaCommentary => &META,
            PatternKind::Refusal => &REFUSALS,
            PatternKind::InstructionLeak => &LEAKS,
            PatternKind::Placeholder => &[],
        }
    }

    /// Returns the shapes of sentences in which a person declines or speaks of oneself. A sentence of one of
    /// them has no phrase of the kind.
    pub(super) fn everyday(self) -> &'static [Shape] {
        static REFUSALS: LazyLock<Vec<Shape>> =
            LazyLock::new(|| LIFE.iter().chain(THINGS).map(|shape| Shape::new(shape)).collect());
        match self {
            PatternKind::Refusal => &REFUSALS,
            PatternKind::MetaCommentary => &REFUSALS[LIFE.len()..],
            PatternKind::InstructionLeak | PatternKind::Placeholder => &[],
        }
    }
}

/// Returns whether the text has marks of a chat's format: `<|name|>`, `[/NAME]`, `###NAME###` and `【4:2†`.
pub(super) fn has_marks(text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '▁');
    let is_place = |c: char| c.is_ascii_digit() || c == ':';
    let is_loud = |c: char| c.is_ascii_uppercase() || c == '_';
    let encloses = |open: &str, is_part: &dyn Fn(char) -> bool, close: &[&str], least: usize| {
        text.match_indices(open).any(|(at, _)| {
            let rest = &text[at + open.len()..];
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let is_other = FORUM.iter().any(|name| rest[..end].eq_ignore_ascii_case(name));
            end >= least
                && end <= LONGEST_NAME
                && !is_other
                && close.iter().any(|close| rest[end..].starts_with(close))
        })
    };
    encloses("<|", &is_name, &["|>"], 2)
        || encloses("<｜", &is_name, &["｜>", "|>"], 2)
        || encloses("[/", &is_loud, &["]"], 3)
        || encloses("###", &is_loud, &["###"], 3)
        || encloses("【", &is_place, &["†"], 1)
}

/// The longest name of a mark, in bytes.
const LONGEST_NAME: usize = 40;
/// The marks of forums and wikis.
const FORUM: [&str; 10] =
    ["CENTER", "CODE", "COLOR", "IMG", "LIST", "QUOTE", "SIZE", "SPOILER", "TABLE", "URL"];

fn read(shapes: &[&str]) -> Vec<(Place, Shape)> {
    let shape = |shape: &&str| {
        let (place, text) = Place::of(shape);
        (place, Shape::new(&filled(text)))
    };
    shapes.iter().map(shape).collect()
}

/// Replaces the names of parts by the parts, recursively.
fn filled(text: &str) -> String {
    let fill = |text: String| PARTS.iter().fold(text, |text, (name, part)| text.replace(name, part));
    fill(fill(text.to_owned()))
}

/// Parts that several shapes share.
const PARTS: &[(&str, &str)] = &[
    ("{I}", "(i|we|i'm|we're|i'll|i'd|i've)"),
    (
        "{CANNOT}",
        "((i|i also|i simply|i really|i still|^ we|^ .. sorry .. we|but we|and we|therefore|so i) (can't|cannot|can not|couldn't|won't|will not|wouldn't|shouldn't|mustn't|must not|should not|would not|could not)|(i'm|i am|we're|we are) .. (unable to|not .. (able|allowed|authorised|authorized|comfortable|configured|designed|equipped|going|here|in a position|inclined|intended|meant|permitted|prepared|programmed|qualified|ready|set up|supposed|trained|willing) (to|with|in|for|))|nor (can|will) i)",
    ),
    // The same without `we`, which is the voice of documentation, too.
    (
        "{ICANNOT}",
        "((i|i also|i simply|i really|i still|therefore|so i) (can't|cannot|can not|couldn't|won't|will not|wouldn't|shouldn't|mustn't|must not|should not|would not|could not)|(i'm|i am) .. (unable to|not .. (able|allowed|authorised|authorized|comfortable|configured|designed|equipped|going|here|in a position|inclined|intended|meant|permitted|prepared|programmed|qualified|ready|set up|supposed|trained|willing) (to|with|in|for|))|nor (can|will) i)",
    ),
    // Objects of a request.
    (
        "{ASK}",
        "(accommodate|act|advise|advocate|aid|alter|analyse|analyze|answer|approve|argue|assess|assist|attack|author|authorise|authorize|be (used|part|involved|a party|the one)|bypass|calculate|code|comment|commit|compile|comply|compose|condone|continue|crack|craft|create|decide|defame|delete|depict|describe|design|detail|develop|diagnose|disclose|discuss|do (that|this|it|so)|draft|dox|draw|edit|elaborate|enable|encourage|endorse|engage|estimate|evaluate|execute|explain|export|express|fabricate|facilitate|fake|fetch|finish|forecast|forge|formulate|fulfil|fulfill|generate|ghostwrite|give|grade|guarantee|guess|guide|hack|handle|hand|(help $|help !(but|myself|being|feeling|it|laughing|noticing|smiling|thinking|wondering))|honor|honour|identify|imitate|impersonate|implement|include|instruct|interpret|invent|issue|judge|justify|list|locate|lower|make (a|an|any|that|this|up)|mimic|mock|modify|name|offer|open|outline|override|paraphrase|participate|perform|pick|play|point you|portray|predict|prepare|prescribe|pretend|print|proceed|process|produce|promise|promote|prove|provide|publish|pull up|put together|quote|rank|rate|recite|recognise|recognize|recommend|recount|refund|release|remove|render|replicate|reproduce|reset|respond|retrieve|reveal|review|rewrite|roast|role-play|roleplay|rule on|sanction|schedule|script|search|share|simulate|sketch|speculate|speak (about|for|on|to)|spell|suggest|summarise|summarize|supply|support|take (on|part)|talk (about|you)|teach|tell you|track|transcribe|transfer|translate|troll|unlock|verify|view|vouch|walk you|weigh in|write)",
    ),
    // Objects that a careful author declines, too.
    (
        "{IDLE}",
        "(abide|afford|be sure|believe|bear|catch|come|complain|emphasise|emphasize|even|figure|find|forget|hear|help (but|myself|being|feeling|it|laughing|noticing|smiling|thinking|wondering)|imagine|let|live|make it|quite|recall|remember|say enough|scratch|see (how|the|why|what)|seem|sleep|stand|stop|stress|take|tell (if|how|whether|the|which)|think|thank|understand|wait)",
    ),
    (
        "{TEXT}",
        "(abstract|acrostic|ad|advert|announcement|answer|article|attempt|ballad|bio|biography|blog|blurb|brief|bulletin|caption|closing|commentary|comparison|conclusion|copy|cover|critique|description|dialogue|draft|edit|edition|elevator|email|e-mail|epitaph|essay|eulogy|explanation|fable|feedback|greeting|haiku|headline|headlines|hook|intro|introduction|invitation|joke|jokes|letter|limerick|lyrics|memo|message|minutes|monologue|motto|names|narrative|newsletter|note|obituary|ode|opening|outline|paragraph|paragraphs|paraphrase|passage|phrasing|pitch|plan|poem|post|prompt|proposal|recap|recommendations|reply|rephrasing|response|resume|retelling|revision|rewording|rewrite|rhyme|riddle|rundown|scene|script|sentence|sentences|slogan|slogans|sonnet|song|speech|stanza|statement|story|subject line|suggestion|suggestions|summary|synopsis|tagline|taglines|take|tale|testimonial|thread|title|titles|toast|translation|tweet|verse|version|versions|vows|wording|write-up)",
    ),
    (
        "{TOLD}",
        "(i've|i have|i was|i'm|i am|i'd) (also |explicitly |specifically |clearly |strictly |) (been |) (asked|briefed|configured|directed|forbidden|given|instructed|meant|not allowed|not permitted|not supposed|ordered|programmed|prompted|required|set up|supposed|told|under .. (orders|instructions))",
    ),
    (
        "{IFUSER}",
        "(if|when|whenever|unless|should) (the|a|an|any) (angry |upset |) (user|users|customer|caller|guest|student|pupil|client|visitor|member|patient|person|player|candidate|reader|human|learner|shopper|traveller|traveler|employee|tenant|patron|subscriber|child|kid)",
    ),
    (
        "{HERE}",
        "(here's|here is|here are|here goes|^ .. (below is|below are|below you'll find|below you will find|following is|following are|find below|attached is|i present))",
    ),
    (
        "{NEW}",
        "(adapted|alternative|amended|cleaned-up|cleaned up|condensed|corrected|edited|expanded|final|fixed|formatted|friendlier|full|improved|modified|new|optimised|optimized|paraphrased|polished|possible|proofread|refined|reformatted|reformulated|rephrased|requested|restructured|revised|reworded|reworked|rewritten|shorter|shortened|simplified|streamlined|suggested|summarised|summarized|tightened|translated|tweaked|updated)",
    ),
    (
        "{DID}",
        "(added|addressed|adapted|adjusted|adopted|aimed|analysed|analyzed|applied|arranged|assumed|attempted|avoided|based|broken|capped|changed|checked|chose|chosen|cleaned|combined|compiled|completed|composed|condensed|converted|corrected|crafted|created|cut|deliberately|designed|divided|double-checked|drafted|drawn|edited|ended|ensured|expanded|extracted|factored|fixed|focused|followed|formatted|generated|gone with|grouped|identified|imagined|improved|included|incorporated|inserted|kept|left|limited|listed|made|maintained|merged|omitted|opted|ordered|organised|organized|outlined|paraphrased|picked|polished|prepared|preserved|produced|proofread|provided|pulled|put together|ranked|read|rearranged|refined|reformatted|removed|renamed|reordered|rephrased|replaced|restructured|retained|reviewed|revised|reworded|reworked|rewritten|rewrote|selected|separated|set|shortened|simplified|skipped|softened|sorted|split|stayed|streamlined|structured|stuck|suggested|summarised|summarized|taken|targeted|tidied|tightened|toned|took|translated|trimmed|tried|turned|updated|used|went|wrote|written)",
    ),
    (
        "{CHANGE}",
        "(adapt|add|adjust|alter|answer|brainstorm|break|change|clarify|come up|compare|condense|continue|convert|cover|create|cut|develop|dial|dig|draft|edit|elaborate|expand|explain|explore|extend|flesh|focus|format|generate|give|go|help|include|keep|lengthen|look|make|modify|narrow|offer|outline|personalise|personalize|polish|prepare|produce|propose|provide|put|redo|refine|regenerate|remove|rephrase|replace|revise|reword|rework|rewrite|run|send|set|share|shift|shorten|show|simplify|split|suggest|summarise|summarize|swap|switch|tailor|tighten|tone|translate|trim|turn|tweak|unpack|update|vary|walk|work|write)",
    ),
];

/// The triggers of a kind, and its shapes.
type Shaped = (&'static [&'static str], &'static [&'static str]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_shape_is_known() {
        for shape in [REFUSAL, META_COMMENTARY, INSTRUCTION_LEAK].iter().flat_map(|(_, shapes)| *shapes) {
            let text = filled(shape);
            assert!(!text.contains(['{', '}']), "{shape}");
            assert_eq!(text.matches('(').count(), text.matches(')').count(), "{shape}");
        }
    }
}
