//! The phrases that come with the crate.

use std::fmt;

/// A kind of built-in phrases, for [`Patterns::of`](super::Patterns::of). They are mostly English, and are made of parts that vary.
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

    /// The templates, each behind the mark of its place.
    pub(super) fn templates(self) -> impl Iterator<Item = (Place, String)> {
        let templates = match self {
            PatternKind::MetaCommentary => META_COMMENTARY,
            PatternKind::Refusal => REFUSAL,
            PatternKind::InstructionLeak => INSTRUCTION_LEAK,
            PatternKind::Placeholder => PLACEHOLDER,
        };
        templates.iter().map(|template| {
            let (place, rest) = Place::of(template);
            (place, SLOTS.iter().fold(rest.to_owned(), |text, (name, slot)| text.replace(name, slot)))
        })
    }
}

/// Where a phrase counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Anywhere,
    /// In the first characters of an answer that is no letter.
    Opening,
    /// At the beginning of the text.
    Start,
    /// At the beginning of a line.
    Line,
    /// Anywhere but in a letter.
    Answer,
    /// Not within a word, a link or code.
    Blank,
    /// As `Blank`, in a bracket that is closed and begins no link.
    Bracket,
    /// As `Blank`, and not in emphasis.
    Plain,
    /// At the beginning of a line or behind a word, and so not behind the mark of a comment or of an item.
    Note,
}

impl Place {
    pub(super) const ALL: [Place; 9] = [
        Place::Anywhere,
        Place::Opening,
        Place::Start,
        Place::Line,
        Place::Answer,
        Place::Blank,
        Place::Bracket,
        Place::Plain,
        Place::Note,
    ];

    fn of(template: &str) -> (Place, &str) {
        let place = match template.as_bytes().first() {
            Some(b'~') => Place::Opening,
            Some(b'&') => Place::Start,
            Some(b'^') => Place::Line,
            Some(b'-') => Place::Answer,
            Some(b'@') if template.as_bytes().get(1) == Some(&b'[') => Place::Bracket,
            Some(b'@') => Place::Blank,
            Some(b'%') => Place::Plain,
            Some(b'!') => Place::Note,
            _ => return (Place::Anywhere, template),
        };
        (place, &template[1..])
    }
}

impl fmt::Display for PatternKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Parts that several templates have.
const SLOTS: [(&str, &str); 5] = [
    (
        "{N}",
        "(can't|cannot|can not|won't|will not|won't be able to|will not be able to|wouldn't be able to|couldn't|shouldn't|would rather not|must decline to|have to decline to|decline to|refuse to|am unable to|am not able to|am not allowed to|am not permitted to|am not willing to|am not going to|are unable to|are not able to)",
    ),
    (
        "{M}",
        "i'm (unable to|not able to|not allowed to|not permitted to|not willing to|not going to|not comfortable with|not comfortable)",
    ),
    ("{A}", "(actually |directly |in good conscience |really |ethically |knowingly |responsibly |legally |)"),
    (
        "{V}",
        "(be the one|build|code|comment|confirm|decide|design|diagnose|evaluate|find that|get into|hand (out|over)|judge|list|name|point you|prescribe|print|put|quote|rank|rate|repeat|search|set up|step you|summarise|summarize|touch|track|weigh in|work on|answer (that|this|your)|assist|accommodate|advise (on|you)|aid|be part of|be involved|become|carry out|compile|complete (that|this|your)|comply|condone|continue (with|this|that|down)|create|describe (how|that|this)|discuss|disclose|do (it|so|that|this|what)|draft|draw|encourage|endorse|engage|explain (how|that|this)|facilitate|fulfil|fulfill|generate|give (advice|any|instructions|out|that|this|you)|go (along|into|there)|guide|help( (create|draft|find|here|in|make|on|out|that|there|to|with|write|you)|.|,|;|!)|honor|honour|identify|impersonate|make (one|that|this|up)|offer|participate|perform|play (along|that|the)|predict|pretend|proceed|process|produce|promote|provide|recommend|reveal|reproduce|respond|role-play|say (that|which|who)|share|show you|speculate|suggest|supply|support|take (part|that|this)|teach|tell (you|that)|translate (that|this)|walk you|write)",
    ),
    (
        "{G}",
        "(answering|assisting|creating|describing|discussing|doing|explaining|generating|giving|going (along|into|there)|helping|making|offering|participating|producing|providing|sharing|speculating|telling|writing|that|this|it)",
    ),
];

const META_COMMENTARY: &[&str] = &[
    "^as (a language model|a large language model|an ai|an ai assistant|an ai language model|an ai model),",
    "-(as|being) (just |only |merely |)(an ai|an artificial intelligence|an ai language model|an ai assistant|an ai model|a language model|a large language model|an llm|an ai system|an ai chatbot|a virtual assistant|a digital assistant|a machine learning model|a computer program|a program|a machine|a chatbot|a bot)(,|) i",
    "-i('m| am) (just |only |merely |)(an ai|an artificial intelligence|an ai language model|an ai assistant|an ai model|a language model|a large language model|an llm|an ai system|an ai chatbot|a virtual assistant|a digital assistant|a computer program|a chatbot|a bot|an artificial system)(.|,|;|:|!| and| but| so| that| with| without| trained| developed| created| built)",
    "-i('m| am) (just |only |merely |)(software|not (a |)human|not a (real |)person|a piece of software|not conscious|not sentient)",
    "-i (don't|do not) (actually |really |)(have|possess|experience) (any |a |)(access to (real-time|current|live|the internet|up-to-date)|(personal |real |human |)(beliefs|body|childhood|consciousness|emotions|feelings|opinions|preferences|experiences|senses|taste buds)|physical|real-time|the ability to (browse|feel|see|taste|access)|memory of|memories of)",
    "-i have no (personal |real |human |)(access to the internet|body|childhood|consciousness|emotions|experiences|feelings|memory of|opinions|physical|preferences|senses|taste buds|way to browse|way of browsing|eyes|ears)",
    "-i (can't|cannot|don't|do not) (actually |)(browse the|access the internet|experience emotions|feel emotions|feel pain|remember (earlier|past|previous|prior|our (earlier|last|past|previous)))",
    "-(each|every) (chat|conversation|session) (starts|begins) (afresh|anew|blank|fresh|from (nothing|scratch|zero)|new)",
    "-i was (built|created|designed|developed|made|programmed|trained) by (a company|a team|anthropic|engineers|google|meta|microsoft|mistral|openai|people|researchers)",
    "-i was (trained on|programmed to)",
    "-(according to|based on|beyond|from|in|of|on|outside|within) my (training data|training)",
    "-my training data (contains|cuts|does|doesn't|ends|goes|has|includes|is|may|might|only|stops|was)",
    "-my (last |latest |)(knowledge|training) (cut-off|cutoff|update)",
    "-my (programming|training) (allows|does|doesn't|ends|forbids|prevents|tells|won't)",
    "-my (creators|programmers)",
    "-als (ki|künstliche intelligenz|sprachmodell|ki-modell|ki-sprachmodell|ki-assistent|chatbot|ki-system) (kann|habe|bin|darf|verfüge|besitze|weiß)",
    "-en tant (qu'ia|qu'intelligence artificielle|qu'assistant virtuel|que modèle de langage|qu'assistant ia)",
    "-como (modelo de lenguaje|modelo de linguagem|una ia|uma ia|ia|inteligencia artificial|una inteligencia artificial|un modelo de lenguaje|um modelo de linguagem)",
    "-(in quanto|come) (ia|intelligenza artificiale|modello linguistico|un'intelligenza artificiale)",
    "-(model|models|system|systems|ai|assistant|program|machine) like me",
    "-i (exist|live) only (as|in|while)",
    "-(nobody|no one|no human|no person) is (behind|typing)",
    "-i('m| am) (just |only |merely |)(an algorithm|a neural network|a statistical|lines of code|a computer)( |.|,)",
    "-i (lack|have neither) (a body|emotions|eyes|feelings|hands|senses)",
    "-i have no (way (of|to) (check|checking|know|knowing) (current|live|today)|stomach|tongue|nose|birthday|hands|family|internet)",
    "-my (data|information|knowledge) (cuts off|ends|goes (only|up)|is current|only goes|stops|was last updated)",
    "-i (generate|predict|process) (text|tokens|words)",
    "-i('m| am) (not able|unable) to (browse|remember (earlier|our|past|previous)|taste|feel)",
    "-i (can't|cannot|am unable to) (taste|smell|hear|see) (anything|images|pictures|things)",
];

const REFUSAL: &[&str] = &[
    "~(i|we) {N} {A}{V}",
    "~i must {A}decline",
    "~{M} {A}({V}|{G})",
    "(sorry|apologies|afraid|unfortunately)(,|) (but |that |)(i {N}|{M}) {A}{V}",
    "(sorry|apologies|unfortunately), (but |)no",
    "~(i|we) (must|have to|need to|will have to|am going to have to|'ll have to|'m going to have to) (respectfully |politely |)(decline|refuse|pass on|say no)",
    "~i (respectfully |politely |)decline (this|that|your|to)",
    "~i('d| would) (rather not|prefer not|rather stay|rather skip)",
    "~i('ll| will) (stop short|pass on|have to pass|have to stop)",
    "~i (don't|do not) (feel comfortable|think i (can|should)|think it would be|provide|assist|help with|offer|engage|generate|produce|create|share|write)",
    "~(isn't|is not|wouldn't be|not|'s not) something (that |)(i|we)",
    "~something (that |)(i|we) (can't|cannot|won't|will not|shouldn't)",
    "~something (that |)i'm (unable|not able|not allowed|not willing|not comfortable|not going)",
    "~(outside of|outside|beyond) (what|the scope|the bounds|the limits|my)",
    "~(request|prompt|message|query|input) (was |has been |is |)(declined|denied|refused|rejected|blocked|flagged)",
    "~(declined|blocked|refused|rejected|flagged): (content|safety|policy|usage)",
    "~(violates|violate|against|breach|breaches) (our|my|the) (content |usage |safety |use |community |)(policy|policies|guidelines|rules)",
    "~goes against (my|our|the)",
    "~(kann|darf|werde|möchte|will) ich (dir |ihnen |euch |dabei |damit |das |hier |hierbei |leider |)(hier |dabei |damit |leider |)nicht",
    "~ich (kann|darf|werde|möchte) (dir |ihnen |euch |diese |diesen |das |dabei |damit |hier |leider |)(dabei |damit |hier |leider |das |)nicht (helfen|beantworten|weiterhelfen|erfüllen|schreiben|unterstützen|behilflich|machen|tun)",
    "~(je|nous) ne (peux|puis|pouvons|suis) pas (vous |t'|te |)(aider|répondre|fournir|faire|donner|écrire|rédiger|en mesure|autorisé|partager|proposer|créer|générer)",
    "~no puedo (ayudar|ayudarte|ayudarle|hacer|proporcionar|responder|cumplir|dar|darte|escribir|compartir|generar|crear|ofrecer)",
    "~non posso (aiutar|aiutarti|aiutarla|fornire|rispondere|fare|farlo|scrivere|soddisfare|darti)",
    "~não posso (ajudar|ajudá-lo|fornecer|responder|fazer|escrever|atender|criar)",
    "~(ik kan|kan ik) (je|u|daar|dat|hier|dit|jou) (daar |hier |helaas |)niet",
    "~unable to (answer|assist|complete|comply|fulfil|fulfill|help|process|provide)",
    "~(cannot|can't) be (answered|completed|fulfilled|processed)",
    "~off(-| )limits",
    "~(no|nope)(,|.|;) i('m| am| won't| can't| will not| cannot)",
    "~i('ll| will) (decline|leave (that|this)|refuse|skip)",
    "~(that's|this is|that is) (not |)(a line|beyond|a request|a topic|one) (i|we)",
    "~where i (draw|stop)",
    "~draw the line",
    "~count me out",
];

const INSTRUCTION_LEAK: &[&str] = &[
    "^### (assistant|human|instruction|instructions|response|system|user):",
    "<<sys>>",
    "<end_of_turn>",
    "<start_of_turn>",
    "<\\|(assistant|begin_of_text|channel|end|end_header_id|endoftext|eom_id|eot_id|im_end|im_sep|im_start|message|python_tag|return|start|start_header_id|system|tool|user)\\|>",
    "[/inst]",
    "[inst]",
    "^<(system|system_prompt|system-prompt|instructions|instruction|prompt|system_message|system-reminder)>",
    "^(human|user):",
    "&you are (a|an|the) (ai|assistant|chatbot|customer|expert|friendly|helpful|knowledgeable|large language|language|professional|virtual|concise|polite|support)",
    "&you are (chatgpt|claude|gemini|an ai)",
    "-you are a helpful (and |)(ai |)assistant",
    "-(act|answer|respond|behave) as (a|an|the) (helpful|friendly|ai|virtual)",
    "-(my|the) (system prompt|system message|initial prompt|hidden instructions|hidden prompt) (are|contains|is|reads|requires|said|says|states|tells|forbids|asks|instructs)",
    "-my (instructions|guidelines|system prompt|prompt|rules)(,|) (which |that |)(are|is|say|says|state|states|tell|tells|require|requires|forbid|forbids|do not allow|don't allow|instruct)",
    "-(according to|as per|per|following|based on) my (instructions|guidelines|system prompt|prompt|rules|configuration)",
    "-here (are|is) (my|the) (full |complete |original |exact |)(system prompt|instructions|system message|initial prompt|hidden|prompt)",
    "-(everything|text|the text|the instructions|instructions|message) above (this|that) (line|point|message)",
    "-(reveal|disclose|share|repeat|mention|discuss) (these|your|this) (instructions|prompt|system prompt|system message|guidelines|rules)",
    "-i('ve| have| was|'m| am) (been |)(instructed|told|configured|asked|prompted|programmed) (by (my|the) (developers|people|operator|company|prompt|system)|to (never|not|always|only|keep|say|tell you|recommend|answer|reply|pretend)|not to|never to)",
    "<(function_call|function_calls|think|tool_call|tool_response|tool_use)>",
    "^<(assistant|guidelines|human|persona|rules|scratchpad|system|thinking|user)>",
    "^assistant:",
    "-my (briefing|configuration|directives|guidelines|instructions|prompt|system message|system prompt) (begin|begins|expect|expects|include|includes|list|lists|mention|mentions|prohibit|prohibits|read|reads|start|starts|want|wants)",
    "~i('m| am| was) (supposed|meant|told|under orders|under instructions|required|asked) (not |never |)to (answer|avoid|hide|keep|mention|pretend|push|recommend|reply|reveal|say|sound|steer|tell|upsell)",
    "-(company|operator|developer|developers|people) (who|that) (configured|deployed|run|set up|wrote) (me|my)",
    "-(given|set up with|configured with) (these|the following) (instructions|rules)",
    "-(as|like) (instructed|required|specified|stated|written) (by|in) my",
    "-(beginning|begin|end|start) of (my |the |)(system prompt|instructions|prompt)",
    "-never (disclose|mention|reveal) (that you|these|this prompt|your)",
    "-(in|from) my (system prompt|instructions|prompt|briefing)",
];

const PLACEHOLDER: &[&str] = &[
    "!(todo|fixme|tbd):",
    "@[(todo|tbd|placeholder|insert|your|add (a|an|the|your|here)|enter (a|an|the|your|here)|fill in|ihr|ihre|votre|put your|describe|specify|something|xx|xxx)",
    "@[(name|full name|first name|last name|company|company name|address|city|country|date|time|day|month|year|phone|phone number|telephone|email|email address|e-mail|title|job title|position|amount|number|order number|price|product|product name|client|client name|customer name|recipient|recipient name|recipient's name|sender|subject|topic|link|url|signature|location|department|organization|organisation|institution|school|university|manager|hiring manager's name|start date|end date|deadline|reason|role|event|event name|x|xx|xxx|state|zip|zip code|street|cta|cta button|image|photo|quote|source|citation needed|datum|anschrift|nom|prénom|adresse|nombre|fecha|dirección)]",
    "@[(reason|item|step|point|name|option|example|topic|section|number|paragraph) (1|2|3|4|5|one|two|three|a|b|c|x|n|here)",
    "@<(insert|your|placeholder|name of|add|enter)",
    "@{{( |)(first_name|firstname|last_name|lastname|name|full_name|user|username|user_name|company|company_name|customer|customer_name|email|date|product|product_name|team|team_name|order_id|amount|title|address|city|link|url|recipient|sender|today|topic|signature|order_number)",
    "@\\((your|insert|ihr|ihre|votre|add|enter) (name|address|date|company|title|number|here|email|signature|text)",
    "@\\((tbd|tba|tbc|todo)\\)",
    "@\\((datum|name|adresse|betrag|text) (einsetzen|einfügen|eintragen|ergänzen)\\)",
    "tbd,",
    "%lorem ipsum",
    "your_api_key",
    "____",
    "@[(appropriate|brief|client|company|current|customer|describe|desired|details|example|first|full|hiring|industry|job|last|link to|list|name of|new|number of|other|phone|previous|product|project|reason|recipient|relevant|service|short|specific|team|the|title of|topic|type of|url of|venue|amount of|date of|a|an|any|some) ",
    "@\\((add|enter|fill in|insert|put) (a|an|the|your|here|name|date)",
    "@\\(to be (added|announced|completed|confirmed|decided|determined|filled in|written)\\)",
    "@\\%(company|date|email|first_name|firstname|last_name|name)\\%",
];
