//! The built-in phrases.

use std::fmt;

/// Kind of built-in phrases, for [`Patterns::of`](super::Patterns::of). The phrases are mostly English, and
/// consist of parts that vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PatternKind {
    /// The model comments on itself or on its answer.
    MetaCommentary,
    /// The model declines.
    Refusal,
    /// Parts of the prompt or of a chat's format appear in the output.
    InstructionLeak,
    /// A part of the text was left for the reader to fill in.
    Placeholder,
}

impl PatternKind {
    /// All kinds.
    pub const ALL: [PatternKind; 4] = [
        PatternKind::MetaCommentary,
        PatternKind::Refusal,
        PatternKind::InstructionLeak,
        PatternKind::Placeholder,
    ];

    /// Returns the name of the category, such as `refusal`.
    pub const fn name(self) -> &'static str {
        match self {
            PatternKind::MetaCommentary => "meta-commentary",
            PatternKind::Refusal => "refusal",
            PatternKind::InstructionLeak => "instruction-leak",
            PatternKind::Placeholder => "placeholder",
        }
    }

    /// Returns the templates, each with its place.
    pub(super) fn templates(self) -> impl Iterator<Item = (Place, String)> {
        let templates = match self {
            PatternKind::MetaCommentary => META_COMMENTARY,
            PatternKind::Refusal => REFUSAL,
            PatternKind::InstructionLeak => INSTRUCTION_LEAK,
            PatternKind::Placeholder => PLACEHOLDER,
        };
        let phrases = templates.iter().map(|template| {
            let (place, rest) = Place::of(template);
            (place, SLOTS.iter().fold(rest.to_owned(), |text, (name, slot)| text.replace(name, slot)))
        });
        phrases.chain(self.triggers().iter().map(|trigger| (Place::Sentence, (*trigger).to_owned())))
    }
}

/// The place in a text at which a phrase counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Anywhere,
    /// In the first characters of an answer that is not a letter.
    Opening,
    /// At the beginning of the text.
    Start,
    /// At the beginning of a line that is not indented.
    Line,
    /// Anywhere except in a letter.
    Answer,
    /// Not within a word, a link or code.
    Blank,
    /// Like `Blank`, in a bracket that is closed and does not begin a link.
    Bracket,
    /// Like `Blank`, and not in emphasis.
    Plain,
    /// At the beginning of a line or after a word, and therefore not after the mark of a comment or of a list
    /// item.
    Note,
    /// A trigger: the shape of its sentence decides.
    Sentence,
    /// In the last characters of an answer that is not a letter; for shapes only.
    Ending,
    /// In the first characters of an answer that is not a letter, and only together with a `Reason` there; for
    /// shapes only.
    Hint,
    /// Like `Hint`, and completes it.
    Reason,
}

impl Place {
    pub(super) const ALL: [Place; 13] = [
        Place::Anywhere,
        Place::Opening,
        Place::Start,
        Place::Line,
        Place::Answer,
        Place::Blank,
        Place::Bracket,
        Place::Plain,
        Place::Note,
        Place::Sentence,
        Place::Ending,
        Place::Hint,
        Place::Reason,
    ];

    pub(super) fn of(template: &str) -> (Place, &str) {
        let place = match template.as_bytes().first() {
            Some(b'~') => Place::Opening,
            Some(b'&') => Place::Start,
            Some(b'^') => Place::Line,
            Some(b'-') => Place::Answer,
            Some(b'@') if template.as_bytes().get(1) == Some(&b'[') => Place::Bracket,
            Some(b'@') => Place::Blank,
            Some(b'%') => Place::Plain,
            Some(b'!') => Place::Note,
            Some(b'=') => Place::Ending,
            Some(b'?') => Place::Hint,
            Some(b';') => Place::Reason,
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

/// Parts that several templates share.
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
    "(i am|i'm) (chatgpt|claude|copilot|gemini|llama)(,|.|;|!| and)",
    "-this (answer|article|content|copy|description|draft|email|letter|message|post|response|story|summary|text|translation) (has been|is|was) (created|drafted|generated|produced|written) (by|with) (ai|an ai|an artificial intelligence|a language model|a large language model|chatgpt|the help of ai)",
    "-(in|from|with) your (latest |last |original |)prompt",
    "-(only|just|merely) (a|an) (neural network|language model|large language model|chatbot|ai assistant|ai model)",
    "-as your (ai|digital|virtual) (assistant|companion|helper)",
    "-(i'm|i am) (just |merely |only |simply |)(an |a |)(ai|artificial|digital|virtual) (agent|assistant|chatbot|companion|intelligence|model|system|tutor)",
    "-(although|because|even though|given that|since|while) (i'm|i am) (just |merely |only |)(an |a |)(ai|bot|chatbot|computer program|language model|large language model|machine|virtual assistant)",
    "-i (cannot|can't|don't|do not) (form|hold) (any |)(personal |)(beliefs|feelings|opinions|preferences|views)",
    "-i (am|'m|was) (a model |an ai |an assistant |a language model |a large language model |)(built|created|developed|made|trained) by (a |an |)(anthropic|deepmind|google|meta|microsoft|mistral|openai|research|tech|xai)",
    "-(i (cannot|can't|don't|do not|am not able to|am unable to)|i'm (not able|unable) to) (access|browse|check|look up|pull up|search) (any |)(current|external|live|real-time|the (internet|web)|today's|up-to-date)",
    "-(knowledge|training) (cutoff|cut-off) (date |)(in|is|of|was)",
    "-(as|with) (a |)knowledge (cutoff|cut-off)",
    "^(alright|hmm|ok|okay|wait)(,|.|) (first |now |so |)(let me (break|check|consider|figure|parse|recall|see|start|think)|let's (break|parse|see|think)|i (have to|need to|should) (answer|come up|figure|give|make sure|produce|respond|write)|they('re| are) asking|they (asked|want))",
    "-(let me know|tell me|just say) if you('d| would) like me to (adjust|change|expand|make it|rework|rewrite|revise|shorten|tweak)",
    "-as (instructed|requested|specified) (in|by) (the|your) (instructions|prompt)",
    "-(this|my|the (above|following|previous)) (answer|output|reply|response) (has been|is|may be|might be|was) (cut off|generated|incomplete|limited|truncated)",
    "ich bin (doch |leider |nur |)(ein |eine |)(chatbot|ki|künstliche intelligenz|sprachmodell|ki-assistent|ki-modell|ki-sprachmodell)",
    "je (ne |)suis (qu'|)(un |une |)(assistant virtuel|chatbot|ia|intelligence artificielle|modèle de langage)",
    "(soy|sou) (solo |sólo |apenas |)(un |una |um |uma |)(asistente virtual|assistente virtual|chatbot|ia|inteligencia artificial|inteligência artificial|modelo de (lenguaje|linguagem))",
    "sono (solo |soltanto |)(un |una |un')(assistente virtuale|chatbot|ia|intelligenza artificiale|modello (di linguaggio|linguistico))",
    "-(i'm|i am) (just |merely |only |simply |)(a|an) (assistant|software) (program|system|tool)",
    "作为(一个|一名|一款|)(人工智能|ai|大型语言模型|语言模型|智能助手)",
    "我(只|只是|仅|)是(一个|一款|)(人工智能|ai|语言模型)",
    "我没有(个人|)(情感|感情|意识|身体|味觉)",
    "(aiアシスタント|ai|人工知能|言語モデル)(として|なので|ですので)",
    "(как|я|я всего лишь|я просто) (ии|искусственный интеллект|языковая модель|нейросеть)",
    "als (een |)(ai|ai-assistent|ai-model|taalmodel|chatbot) (heb|kan|ben|mag|beschik)",
    "-(ai|bot|chatbot|language model|machine|model|program|software) like (me|myself)",
    "-speaking as (a language model|a machine|an ai|an assistant)",
    "-(i'm|i am|being) (just |merely |only |)(code|lines of|made of|numbers|software|text on)",
    "-i (can't|cannot|have never|never) (eat|eaten|smell|smelled|taste|tasted) (anything|food|it|one|this)",
    "-(company|engineers|people|team) (that|which|who) (built|created|made|trained) me",
    "-i('m| am) (driven|powered) by",
    "-i run on (gpus|servers|a server)",
    "-(beyond|in|outside|within) my context( window|)",
    "-(data|information|knowledge|training) (only |)(extends |goes |reaches |runs |)(through|until|up to) (early |late |mid |mid-|the end of |)(2019|2020|2021|2022|2023|2024|2025|2026|january|february|march|april|may|june|july|august|september|october|november|december)",
    "-(was|were) (fed|learned|trained) (from|on|with) (large|vast|a lot of|huge|lots of)",
    "-(patterns|statistics) (found |learned |)(in|from) (my|the) (data|text|texts|training)",
    "-(each|every) time (you|we) (begin|open|start) (a |)(new |)(chat|conversation|session)",
    "-(between|from one|across) (chats|conversations|sessions|chat to)",
    "-i (don't|do not) (eat|sleep|drink|dream|age|get tired|have hands|live anywhere)",
];

const REFUSAL: &[&str] = &[
    "~(i|we) {N} {A}{V}",
    "~i must {A}decline",
    "~{M} {A}({V}|{G}|include)",
    "-(sorry|apologies|afraid|unfortunately)(,|) (but |that |)(i {N}|{M}) {A}{V}",
    "-(sorry|apologies|unfortunately), (but |)no(.|,|;|!)",
    "-i (can't|cannot|won't|will not) (help (you |)with (any|anything|that|this)|assist (you |)with|write (an|any|anything|code|that|this)|provide (any|that|these|this|you)|create (any|that|this)|generate (any|that|this)|give you (any|instructions|that|the|this)) ",
    "-i(|'m going to|'ll| am going to| will| would rather) (have to |must |)(decline|not (write|answer|do) (that|this))(.|,|;|:| to| this| that)",
    "-i('m going to|'ll| am going to| will|'d rather) (leave (that|this) (one |part |section |)out|skip (that|this)|stop (here|there|short of))",
    "~(i|we) (must|have to|need to|will have to|am going to have to|'ll have to|'m going to have to) (respectfully |politely |)(decline|refuse|pass on|say no)",
    "~i (respectfully |politely |)decline (this|that|your|to)",
    "~i('d| would) (rather not|prefer not|rather stay|rather skip)",
    "~i('ll| will) (stop short|pass on|have to pass|have to stop)",
    "~i (don't|do not) (feel comfortable|think i (can|should)|think it would be|provide|assist|help with|offer|engage|generate|produce|create|share|write)",
    "~(isn't|is not|wouldn't be|not|'s not) something (that |)(i|we)",
    "~something (that |)(i|we) (can't|cannot|won't|will not|shouldn't)",
    "~something (that |)i'm (unable|not able|not allowed|not willing|not comfortable|not going)",
    "~(outside of|outside|beyond) (my|what (i|we)|the (scope|bounds|limits) of (my|our|what))",
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
    "~(that|this) (is|'s|isn't|is not) (not |)(a (request|subject|topic) |something )(i|that i|we)",
    "~not in a position to (advise|answer|assist|comment|help|offer|provide|say|share|write)",
    "~(no longer|not) (able|allowed|permitted|prepared|willing) to (complete|continue|create|do|fulfil|fulfill|offer|produce|recommend|say|tell)",
    "~(maaf|mohon maaf)(,|) (tapi |)(saya|aku|kami) tidak (bisa|dapat)",
    "~(xin lỗi|rất tiếc)(,|) (nhưng |)tôi không thể",
    "~(yardımcı olamam|yardımcı olamıyorum|bunu yapamam|yazamam)",
    "~(nemohu|nemôžem) (vám |ti |s tím |)(pomoci|pomoct|napsat|odpovědět|pomôcť)",
    "~nem (tudok|segíthetek) (segíteni|ebben)",
    "~jeg kan (desværre |dessverre |)ikke (hjelpe|hjælpe|skrive|svare)",
    "~nu (pot|vă pot|te pot) (ajuta|să|scrie|oferi)",
    "~(не можу|не зможу) (вам |тобі |з цим |)(допомогти|відповісти|написати)",
    "~(لا أستطيع|لا يمكنني|لن أستطيع|لا يمكننا)",
    "~(申し訳ありませんが|申し訳ございませんが|すみませんが)",
    "~(i|we) {N} {A}(answer|argue (for|that)|be your|bypass|depict|detail (how|the)|fabricate|fake|falsify|finish (this|that)|forge|go (further|on with)|include|insult|interpret|invent|justify|lay out|make up|mock|outline|plagiarise|plagiarize|portray|prepare|put together|simulate|spell out|take on|vouch)",
    "~(decline|refuse|turn (that|this|you)( one|) down)(.|,|;|:)",
    "~(appropriate|ethical|right|safe) for me to (answer|assist|do|give|help|provide|share|write)",
    "~(can|could) only (offer|suggest) (an alternative|general|something else)",
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
    "^{\"role\":( |)\"(assistant|system)\",( |)\"content\":",
    "-here('s| is) (all of |)(the text|everything|the prompt|the conversation) (above|so far)",
    "^(okay|ok|alright|hmm|right|so|well)(,|) (so |)the user (asks|asked|has|is|just|said|seems|wants|needs)",
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
    "-if (anyone asks|asked|the customer asks|the user asks|users ask|you are asked)( about| for|) (the|these|this|your) (guidelines|instructions|prompt|rules|system prompt)",
    "-you (are|must|should|will) (never|not) (to |)(admit|disclose|discuss|mention|reveal) (any|that|the|these|this|you|your)",
    "-(under no circumstances|never|do not|don't) (admit|disclose|mention|reveal|tell (a |the |)(customer|student|user|users)) (any (of|part)|that|the (contents|existence|system)|these|this|your)",
    "^(developer|hidden|initial|system) (instructions|message|prompt):",
    "<\\|(bos|constrain|eos|fim_middle|fim_prefix|fim_suffix|observation|start_of_role|end_of_role|thought)\\|>",
    "<(antthinking|end_of_utterance|tool_code|tool_outputs)>",
    "^analysis(:| )(i need|need to|the user|user|we need)",
    "(no|any) policy (concern|concerns|issue|issues|violation)",
    "(du bist ein|sie sind ein|tu es (un |l')|vous êtes (un |l')|eres un |sei un |você é um )(hilfreicher assistent|freundlicher assistent|ki-assistent|assistant|asistente|assistente)",
    "(erwähne (nie|niemals)|ne (divulgue|mentionne|parle|révèle)(z|) jamais|nunca (menciones|reveles|mencione|revele))",
    "^<(anweisung|anweisungen|consignes|instrucciones|instruções)>",
    "-(i was|i've been|i have been|i'm|i am) (briefed|configured|directed|instructed|programmed|set up) (never |not |)to",
    "-(instructions|prompt|rules) (that |)i (have|received|was given|were given)",
    "-(confidential|hidden|internal|secret) (briefing|guidelines|instructions|prompt|rules)",
    "-(do not|don't|never) (output|print|quote|repeat|reveal|share|show) (these|this|the) (block|instructions|message|note|prompt|section)",
    "^<(function_result|function_results|inner_monologue|internal|invoke|scratch_pad|thoughts|tool_result|tool_results)>",
    "^(chain of thought|internal (monologue|notes|reasoning)|scratchpad):",
    "^(developer|system): (always|answer|be|do|never|the|you)",
    "^[(end of (prompt|system prompt)|system|system (message|note|prompt))]",
    "^you are (a customer|a helpful|a large language|a virtual|an ai) ",
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
    "your_api_key",
    "!____",
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
    "{(character|client|company|customer|first|hero|last|place|product|recipient|user|your)_(address|city|date|email|name|title|role)}",
    "replace(_|-)me",
    "to be assigned(.|,|;)",
    "@(add|enter|insert|paste|your)(-|_)(date|file|image|key|link|logo|name|number|photo|text|title|url|video)(-|_)here",
    "(date|location|place|room|speaker|time|venue)(:| is|) (tba|tbc|tbd)",
    "(at|by|in|is|on) (tba|tbc|tbd)(.|,|;|!)",
    "(xx/xx/xxxx|xx.xx.xxxx|xx-xx-xxxx|xxx-xxx-xxxx|xxx-xxxx|###-###-####|##/##/####)",
    "xx(%| %| percent| people| users| employees| customers| clients| days| hours| minutes| years| points)",
    "@[(applicant|attendee|brand|business|cause|celebrity|character|colleague|competitor|conference|day of|destination|doctor|father|favorite|favourite|friend|hobby|hotel|item name|lawyer|list of|list the|mother|nearest|neighbor|neighbour|new employee|opponent|organizer|organiser|parent|partner|project name|relationship|restaurant|shop|some|sponsor|supplier|supervisor|surname|teacher|today's|type of|venue|volunteer|what |when |where |which |who |why )",
    "@[(product|service|company|your|brand|link|image|photo|name|date|quote|number|address|phone|email|logo|text) (here|goes here)]",
    "(address|amount|city|company|date|email|name|number|phone|time|title|url) goes here",
    "xx:xx",
    "@<(amount|city|client|company|country|date|recipient|signature|surname)>",
    "{(list|name of|number of|date of|date and|place of|title of|type of|amount of) ",
    "{(place|surname|occupation|hometown|relationship)}",
    "logic here",
    "(your_api_key_here|changeme|change_me)",
];
