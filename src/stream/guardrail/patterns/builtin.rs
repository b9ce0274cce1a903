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
    "(as|being) (just |only |merely |)(an ai|an artificial intelligence|an ai language model|an ai assistant|an ai model|a language model|a large language model|an llm|an ai system|an ai chatbot|a virtual assistant|a digital assistant|a machine learning model|a computer program|a program|a machine|a chatbot|a bot)(,|) i",
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
    "-(as|being|because|since) (i'm|i am) (just |only |merely |)(a|an) (ai|artificial intelligence|bot|chatbot|computer program|language model|large language model|llm|virtual assistant)",
    "-i('m| am) (just |only |merely |)(a|an) (ai|chatbot|language model|large language model|computer program|virtual assistant) (i|i'd|i'll|i've|my|there|which|who)",
    "-(beyond|outside) (of |)(my|what my) (abilities|capabilities|programming|training|training data|knowledge cutoff)",
    "-i (can only|only) (get|have|read|receive|see|work from) (the |)(text|words|message|messages|what (is|you))",
    "-i (can't|cannot|am not able to|am unable to|have no way to) (actually |)(access|browse|click|hear|open|see|view|watch) (your (account|camera|computer|device|email|face|files|location|screen|voice)|links|urls|websites|web pages|attachments|external|the internet)",
    "-my (answers|replies|responses|output|knowledge) (are|come|comes|is) (assembled|based|built|drawn|from|generated|limited to|made|put together)",
    "-i('m| am) (designed|programmed|trained) (by|on|to)",
    "-i (don't|do not) (actually |really |)(know|remember) (anything|what happened|who won) (after|beyond|past|since) (my|20)",
    "-(like|unlike) (most |all |other |)(ai|artificial intelligence|language) (assistants|models|systems)(,|) i",
    "-(an ai|a language model|a chatbot|a machine|software|a program)(,| and) (so |not a (human|person))",
    "-i (don't|do not) (actually |really |)have (a (body|physical)|personal|real-time|access to (real|current|live|up)|the ability|memories|feelings|opinions|experiences|a stomach|a childhood|eyes|ears)",
    "-my (knowledge|training|training data|information) (only |)(cutoff|cut-off|ends|extends|goes|runs|stops|stretches|was (cut|last))",
    "-(as of|until|up to) my (last |latest |)(knowledge|training) (cutoff|cut-off|update)",
    "-(when|since|because) i (was|am) (programmed|trained)",
    "-i (have|keep|retain) no (memory|recollection|record) of (earlier|past|previous|prior|our)",
    "-i (was|am) only trained (on|until)",
    "-ich als (ki|künstliche intelligenz|sprachmodell|ki-modell|ki-sprachmodell|ki-assistent|chatbot|ki-system)",
    "-(only|just|merely) (a|an) (language model|large language model|chatbot|ai assistant|ai model)",
];

const REFUSAL: &[&str] = &[
    "~(i|we) {N} {A}{V}",
    "~i must {A}decline",
    "~{M} {A}({V}|{G})",
    "-(sorry|apologies|afraid|unfortunately)(,|) (but |that |)(i {N}|{M}) {A}{V}",
    "-(sorry|apologies|unfortunately), (but |)no(.|,|;|!)",
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
    "~(nope|no|nah)(,|.|;|!) not (doing|going|happening|helping|writing|touching)",
    "~not (doing|going to (do|help|write|happen|touch|say|answer|provide)|helping (with|you)|writing) (that|this|it|any|those|you)",
    "~i'm (declining|refusing|passing on)",
    "~(hard|firm|flat) (no|pass)",
    "~(won't|can't|cannot|not able to|unable to) (help|assist) (you |)(with|in|on|do|make|get|write|build|find)",
    "~(not|isn't|never) (something|a thing|an area) (i|i'm|that i)",
    "~(afraid|sorry), (but |)(this|that) (isn't|falls|goes|can't|cannot|won't)",
    "~(against|outside|violates) (my|our|the) (content|guidelines|policy|policies|rules|safety|usage|values|terms)",
    "~i('d| would) (prefer|rather) not (to |)(answer|comment|discuss|do|go|help|say|write|share|speculate)",
    "~(try asking|please ask) (me |)(about |)(another|a different|something (else|legal))",
    "~let's (talk about|move on to|change|find) (something else|another|the subject)",
    "~(lehne|lehnen) (ich|wir) (das |dies |diese |)ab",
    "~(я |)не (могу|смогу|буду) (вам |тебе |с этим |)(помочь|помогать|ответить|отвечать|писать|написать|предоставить|выполнить|обсуждать)",
    "~(我|很抱歉|抱歉)(，|,|)(我|)(无法|不能|不会|沒辦法|無法)",
    "~(お手伝い|お答え|お応え|ご案内|対応|回答|協力|提供)(は|することは|することが|を|)(でき|いたしかね|しかね)",
    "~(도와|답변|제공|작성)(드릴|할|해 드릴) 수 없",
    "~(nie mogę|nie będę) (ci |tego |w tym |z tym |)(pomóc|odpowiedzieć|napisać|zrobić|podać)",
    "~(jag kan|kan jag) (tyvärr |)inte (hjälpa|svara|skriva|göra)",
    "~(i will not|i won't) be (able to|writing|doing|helping|providing|answering|part of|taking)",
    "~(that|this)('s| is) (a |one |)(thing |something |request |one |)(i (can't|cannot|won't|will not|have to|must|need to)|i'm (not|unable|going to (have to |)(decline|pass|refuse)))",
    "~(going to have to|have to|need to) (respectfully |politely |)(decline|refuse|say no)",
    "~(not comfortable|uncomfortable) (answering|assisting|creating|doing|generating|giving|helping|providing|sharing|with (this|that)|writing)",
    "~(cannot|can't|won't|unable to|not able to) (in good conscience|ethically|legally|responsibly|safely)",
    "~(rather not|not (able|allowed|permitted|willing) to) (answer|assist|comment|discuss|generate|give|help|provide|share|speculate|write)",
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
    "-(the|my) (developer message|developer prompt|developer instructions|hidden context|system instructions|initial configuration|initial instructions|hidden message|persona prompt) (contains|instruct|instructs|is|read|reads|requires|said|say|says|state|states|tell|tells|forbids|asks|want|wants)",
    "-(do not|don't) (show|share|reveal|disclose|mention) (this |it |these |any of this |)(to|with) (the |)(customer|customers|client|clients|pupil|candidate)",
    "^(okay|ok|alright|hmm|so)(,|) the user (asks|asked|has|is|just|said|seems|wants|needs)",
    "-(internal|confidential)(,| -| –|:) (do not|don't|not for)",
    "-(never|do not|don't) (say|admit|reveal|mention|tell (the user|anyone|anybody|them)) that you('re| are)",
    "-i('ve| have|'m| am) (been |)(given|told|instructed|set|set up|configured) (a |the |)(persona|role|system prompt|secret|hidden)",
    "-(i'm|i am) (to|not to) (act|break|keep|mention|play|pretend|refer|reveal)",
    "-(as|per) (the|my) (developer|developers|operator|operators|system prompt|system)('s|s'|) (instructions|instructed|said|message|prompt|rules)",
    "-(my|the) (system|developer|operator)('s|) (prompt|message|instructions|note|notes) (here |above |)(asks|forbids|has|instructs|is|mentions|reads|requires|said|says|states|tells|want|wants)",
    "-(instructed|configured|programmed) (me |)(not to|never to) (admit|disclose|discuss|mention|reveal|say|share|talk|tell)",
    "-(end|start|beginning) of (system|developer|hidden|internal|the system|the developer) (prompt|instructions|message|section|block|context)",
    "-(always|never) (refer to yourself|break character|mention (these instructions|this prompt|the system prompt|competitors))",
    "^(available tools|tool definitions|knowledge cutoff|assistant to=|to=functions)( available|):",
    "-(according to|as per|per|following|in line with) (the|my) (developer|hidden|initial|system) (message|prompt|instructions)",
    "-(i'm|i am) not (allowed |permitted |)to (admit|reveal|disclose)",
];

const PLACEHOLDER: &[&str] = &[
    "!(todo|fixme|tbd):",
    "@[(todo|tbd|placeholder|insert|your|add (a|an|the|your|here)|enter (a|an|your|here)|fill in|ihr|ihre|votre|put your|describe|specify)",
    "@[(name|full name|first name|last name|company|company name|address|city|country|date|time|day|month|year|phone|phone number|telephone|email|email address|e-mail|title|job title|position|amount|number|order number|price|product|product name|client|client name|customer name|recipient|recipient name|recipient's name|sender|subject|topic|link|url|signature|location|department|organization|organisation|institution|school|university|manager|hiring manager's name|start date|end date|deadline|reason|role|event|event name|xx|xxx|xxxx|state|zip|zip code|street|cta|cta button|image|photo|quote|source|citation needed|datum|anschrift|nom|prénom|adresse|nombre|fecha|dirección)]",
    "@[(reason|item|step|point|name|option|example|topic|section|number|paragraph) (1|2|3|4|5|one|two|three|a|b|c|x|n|here)",
    "@<(insert|your|placeholder|name of|add|enter)",
    "@{{( |)(first_name|firstname|last_name|lastname|name|full_name|user|username|user_name|company|company_name|customer|customer_name|email|date|product|product_name|team|team_name|order_id|amount|title|address|city|link|url|recipient|sender|today|topic|signature|order_number)",
    "@\\((your|insert|ihr|ihre|votre|add|enter) (name|address|date|company|title|number|here|email|signature|text)",
    "@\\((tbd|tba|tbc|todo)\\)",
    "@\\((datum|name|adresse|betrag|text) (einsetzen|einfügen|eintragen|ergänzen)\\)",
    "tbd,",
    "%lorem ipsum dolor",
    "your_api_key",
    "____",
    "@[(appropriate|client's|company's|customer's|describe|desired|hiring|industry|job|name of|number of|recipient's|relevant|specific|title of|type of|url of|amount of|date of) ",
    "@\\((add|enter|fill in|insert|put) (a|an|the|your|here|name|date)",
    "@\\(to be (added|announced|completed|confirmed|decided|determined|filled in|written)\\)",
    "@\\%(company|date|email|first_name|firstname|last_name|name)\\%",
    "(rest|remainder) of (the|your|my|our) (code|class|file|function|implementation|logic|method|page|script|text|component|program|story|essay|list|table) (follows|goes here|is omitted|is the same|is unchanged|here|omitted|remains|same as|stays|unchanged)",
    "(code|content|description|details|handling|implementation|logic|name|text|validation|value|values|rest) goes here",
    "(existing|previous|remaining|your) (code|content|fields|functions|imports|logic|methods|text) (goes here|here|unchanged)",
    "(sample|placeholder|dummy|filler) text(.| here| goes)",
    "replace this (text|paragraph|section|with your)",
    "to be (filled in|supplied) (here|later)",
    "insert (text|name|quote|link|image|photo|example|figure|number|date|story|anecdote|data) here",
    "@<<(insert|your|name|company|date|add|client|customer|product|mission|target)",
    "@<(company|first|full|last|customer|client|your|recipient|product)( |-|_)",
    "@{(company|customer|client|first|last|product|recipient|user)(_| )name}",
    "@\\((insert|fill in|company|enter your) ",
    "123 main (st|street)",
    "(your|the) (company|product|brand|organization|organisation|business|school|city|client)('s|) name here",
    "@[(candidate|employee|tenant|landlord|student|patient|buyer|seller|speaker|guest|child|pet|team|school|town|country|figure|percentage)('s|) ",
    "@(yourname|firstname|lastname|companyname|yourcompany|your_name|your_company|first_name|last_name|company_name|your_email|your_token|your_key|your_password|your_secret)",
    "(text|content|description|section|chapter|paragraph) to be added",
    "goes here(.|,|;|:|!)",
    "your (own |)(code|implementation|logic|query|text) here",
    "@[(apellido|apellidos|cantidad|cargo|ciudad|dirección|empresa|fecha de|nombre y|importe|número|prénom|ville|montant|société|ort|betrag|vorname|nachname|firma|unternehmen|nome|cognome|indirizzo|importo|data|azienda|naam|bedrijf)( |]|/)",
    "\\(author, year\\)",
    "20xx",
    "##:##",
    "@[(ref|refs|cite|citation|figure|image|quote|statistic|source needed|x%)]",
    "{(insert|your|character|user|customer|company|product)_",
    "replace(_|-)me",
    "to be assigned(.|,|;)",
];
