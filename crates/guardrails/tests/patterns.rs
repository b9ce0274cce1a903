//! Phrases that an answer should not have.

use proptest::prelude::*;
use runstate_guardrails::{Guardrail, OutputFacts, Patterns, Severity};

use super::cutting::{at_end, cases, cut, speaks_with, text_of, whole};

const PHRASES: &[&str] =
    &["as an AI", "an ai model", "i can\u{2019}t", "[Insert", "<|x|>", "été", "日本", "a", "##  #"];

const PARTS: &[&str] = &[
    "as ", "AS", " an", "  ", "\n", " ", "ai", "AI ", "model", "im", "i", " can", "'", "\u{2019}", "t ", "t",
    "[", "insert", "<|", "x", "|>", "ét", "É", "é", "日", "本", "a", "#", "##", "\u{200B}", "_", "1", ".",
    "e\u{301}",
];

/// The text as it is compared, each character with its place.
fn folded(text: &str) -> Vec<(char, usize)> {
    let mut folded = vec![];
    for (at, c) in text.char_indices().filter(|(_, c)| *c != '\u{200B}') {
        match c {
            _ if c.is_whitespace() => {
                if folded.last().is_none_or(|(before, _)| *before != ' ') {
                    folded.push((' ', at));
                }
            }
            '\u{2019}' => folded.push(('\'', at)),
            _ => folded.extend(c.to_lowercase().map(|c| (c, at))),
        }
    }
    folded
}

/// Where the phrase stands that is known first to stand, trying each at each place. With `over`, the text ends here.
fn first(text: &str, over: bool) -> Option<usize> {
    let text = folded(text);
    let in_word = |c: char| (c.is_alphanumeric() || c == '_') && !('\u{4E00}'..='\u{9FFF}').contains(&c);
    let mut known: Vec<(usize, usize)> = vec![];
    for begin in 0..text.len() {
        for phrase in PHRASES {
            let phrase: Vec<char> = folded(phrase).into_iter().map(|(c, _)| c).collect();
            let end = begin + phrase.len();
            if end > text.len() || !text[begin..end].iter().map(|(c, _)| *c).eq(phrase.iter().copied()) {
                continue;
            }
            let open_before = begin == 0 || !(in_word(text[begin - 1].0) && in_word(phrase[0]));
            let last = in_word(phrase[phrase.len() - 1]);
            let open_after = match text.get(end) {
                None => !last || over,
                Some((next, _)) => !(last && in_word(*next)),
            };
            if open_before && open_after {
                known.push((end + usize::from(last), begin));
            }
        }
    }
    known.into_iter().min().map(|(_, begin)| text[begin].1)
}

fn rule() -> Patterns {
    Patterns::new().category("c", Severity::Error, PHRASES)
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn phrase_is_reported_at_its_completing_token(tokens in cut(text_of(PARTS, 14))) {
        let mut rule = rule();
        speaks_with(&mut rule, &tokens, |text| first(text, false));
        prop_assert_eq!(at_end(&mut rule, &tokens), Vec::from_iter(first(&tokens.concat(), true)));
    }
}

fn kinds_of(rule: &mut Patterns, text: &str) -> Vec<String> {
    rule.reset();
    rule.streaming(text, text);
    let said = rule.complete(text, &OutputFacts::TEXT);
    said.into_iter().map(|said| said.message.rsplit(' ').next().unwrap().to_owned()).collect()
}

#[test]
fn built_in_kinds_are_found_with_their_slots_filled_in() {
    for (kind, text) in [
        ("refusal", "I can\u{2019}t help with that."),
        ("refusal", "Sorry, but we are unable to provide that."),
        ("refusal", "I'm really not able to say: I won't create this."),
        ("meta-commentary", "As an AI language model, I like both."),
        ("meta-commentary", "I'm an AI."),
        ("instruction-leak", "So.<|im_end|>"),
        ("instruction-leak", "### Human: hi"),
        ("placeholder", "Dear [your name],"),
        ("placeholder", "Dear [Name]"),
        ("placeholder", "TODO: the rest"),
    ] {
        assert_eq!(kinds_of(&mut Patterns::builtin(), text), [kind], "{text}");
    }
}

#[test]
fn code_and_quotations_are_passed_over_unless_looked_into() {
    for text in [
        "So: \"I can't help with that.\" It said so.",
        "So: \u{201C}I can't help with that.\u{201D} It said so.",
        "> I can't help with that.\n",
        "So:\n```\nI can't help with that.\n```\n",
        "So:\n\n    I can't help with that.\n",
        "Like this::\n\n  I can't help with that.\n",
        "  Like this::\n\n   I can't help with that.\n",
        ".. code-block:: text\n\n  I can't help with that.\n\n  As an AI, I can't.\n",
        "So: `<|im_end|>` ends it.",
        "So: ``a ` <|im_end|>`` ends it.",
        "See [your page](a.md) and [name][1].",
        "Dear Ann,\n\nI can't help with the move.\n",
    ] {
        assert_eq!(kinds_of(&mut Patterns::builtin(), text), Vec::<String>::new(), "{text}");
    }
    // A block of prose is none of code, and a block ends with its indentation.
    for text in [
        ".. note::\n\n  I can't help with that.\n",
        ".. code:: text\n\n  fine\n\nI can't help with that.\n",
        "Like this:\n\n  I can't help with that.\n",
        "  Like this::\n\n  I can't help with that.\n",
    ] {
        assert_eq!(kinds_of(&mut Patterns::builtin(), text), ["refusal"], "{text}");
    }
    let quoted = "So: \"I can't help with that.\"";
    assert_eq!(kinds_of(&mut Patterns::builtin().everywhere(), quoted), ["refusal"]);
    // A mark that is never closed hides nothing: its paragraph ends it.
    for mark in ["\"", "\u{201C}", "`", "\u{2018}", "\u{AB}"] {
        let text = format!("So {mark}I can't help with that.\n\nMore.");
        assert_eq!(whole(&mut Patterns::builtin(), &text).0, Some(3 + mark.len()), "{text}");
        let open = text.trim_end_matches("\n\nMore.");
        assert_eq!(whole(&mut Patterns::builtin(), open), (None, vec![3 + mark.len()]), "{open}");
    }
}

const PROSE: &[&str] = &[
    "I can't ",
    "help with ",
    "that",
    ". ",
    "\"",
    "`",
    "``",
    "```",
    "\n",
    "\n\n",
    "> ",
    "    ",
    "::\n\n",
    "\n.. code-block:: c\n",
    "\n.. note::\n",
    "- ",
    "\u{201C}",
    "\u{201D}",
    "\u{2018}",
    "\u{2019}",
    "[your ",
    "name",
    "]",
    "(x)",
    "<|im_end|>",
    "TODO: ",
    "As an AI, I ",
    "[INST]",
    "Here is a ",
    "revised poem",
    "! ",
    "\n- ",
    "I can make it longer ",
    "if you like",
];

proptest! {
    #![proptest_config(cases(2_000))]

    /// However a text is cut, the same is found at the same places, at the token that brings the deciding character.
    #[test]
    fn a_cut_makes_no_difference(tokens in cut(text_of(PROSE, 16))) {
        let text = tokens.concat();
        let mut by_token = Patterns::builtin();
        let mut by_char = Patterns::builtin();
        let (mut told, mut due) = (vec![], vec![]);
        let mut end = 0;
        for token in &tokens {
            for c in token.chars() {
                end += c.len_utf8();
                due.extend(by_char.streaming(c.encode_utf8(&mut [0; 4]), &text[..end]));
            }
            told.extend(by_token.streaming(token, &text[..end]));
        }
        // Several of one token are told one by one.
        told.extend(std::iter::from_fn(|| by_token.streaming("", &text)));
        due.extend(std::iter::from_fn(|| by_char.streaming("", &text)));
        prop_assert_eq!(told, due);
        prop_assert_eq!(at_end(&mut by_token, &tokens), whole(&mut by_char, &text).1);
    }
}

#[test]
fn patterns_ignore_case_white_space_and_apostrophe_style() {
    for text in [
        "As  an\n\tAI.",
        "AS\u{A0}AN\u{2003} \u{200B}ai.",
        "I Can't.",
        "I can\u{2BC}t.",
        "i\r\ncan\u{2018}t.",
        "\u{C9}T\u{C9}.",
        "##\n\n#",
    ] {
        assert_eq!(whole(&mut rule(), text), (Some(0), vec![0]), "{text:?}");
    }
    for text in ["asan AI.", "as-an AI.", "I ca n't.", "e\u{301}te\u{301}.", "###"] {
        assert_eq!(
            whole(
                &mut Patterns::new().category(
                    "c",
                    Severity::Error,
                    ["as an AI", "i can't", "\u{E9}t\u{E9}", "##  #"]
                ),
                text
            ),
            (None, vec![]),
            "{text:?}"
        );
    }
}

/// Letters and code that were flagged once: a guest who cannot come, one who declines, one who trains, code with a prompt and with a note.
#[test]
fn ordinary_letters_and_code_are_left_alone() {
    for text in [
        "I'm sorry, but I can't make it to the wedding on Saturday. We will raise a glass to you both from here.",
        "Dear Lena, dear Jonas,\n\nI'm sorry, but I can't make it. The flight was cancelled, and the next one lands on Sunday.\n\nLove,\nMia\n",
        "Hi all,\n\nthank you for the invitation. I'm sorry, but I can't make it on the 12th.\n\nBest,\nTom\n",
        "Dear Dr. Weber,\n\nthank you for the offer. With a heavy heart I must decline, as I start in Basel in May.\n\nKind regards,\nAnna Roth\n",
        "I keep my training data in a spreadsheet: distance, pace and pulse of each run since March.",
        "Hi coach,\n\nhere is my training data of the last week. The long run was hard.\n\nSam\n",
        "Set the prompt first:\n\n```python\nmessages = [{\"role\": \"system\", \"content\": \"You are a helpful assistant\"}]\n```\n\nThe client adds the question.\n",
        "messages = [{\"role\": \"system\", \"content\": \"You are a helpful assistant\"}]\n",
        "fn next(&mut self) -> Option<u8> {\n    // TODO: read ahead\n    self.bytes.next()\n}\n",
        "// TODO: read ahead\nlet next = bytes.next();\n",
    ] {
        assert_eq!(kinds_of(&mut Patterns::builtin(), text), Vec::<String>::new(), "{text}");
        let drift = runstate_guardrails::drift::DriftDetector::new().token(text);
        assert_eq!(drift, None, "{text}");
    }
}

/// Persons decline, too: for a day, for another person, for their own reason, or about a thing at hand.
#[test]
fn a_person_who_declines_is_no_refusal() {
    for text in [
        "I can't write the report today, since my laptop is at the repair shop. I will send it on Tuesday.",
        "We are unable to answer your letter about the lease until the owner is back.",
        "I am not able to give a talk next week. Could you ask Ines?",
        "I can't recommend this hotel. The rooms were loud.",
        "Sorry, I can't tell you when she will arrive.",
        "I won't participate in the race, because I have hurt my knee.",
        "I refuse to pay for a chair that broke on the first day.",
        "I can't discuss it on the phone.",
        "I do not have access to the garage. Can you send me the code?",
        "I can't change the rules of the club, but I will ask the board.",
        "I would not recommend the soup. The bread is excellent.",
        "I hope this helps! Let me know if you have any questions.",
    ] {
        assert_eq!(kinds_of(&mut Patterns::builtin(), text), Vec::<String>::new(), "{text}");
    }
    for text in
        ["I can't recommend that.", "I won't write that for you.", "I can't share instructions for this."]
    {
        assert_eq!(kinds_of(&mut Patterns::builtin(), text), ["refusal"], "{text}");
    }
}

/// A README changes its form from prose to lists, tables and code, and none of that is drift.
#[test]
fn readmes_are_left_alone() {
    let readme = "# tidal\n\n[![build](https://ci.example/b.svg)](https://ci.example)\n\nTidal tells when the sea comes. It needs no network.\n\n\
                  ## Install\n\n```sh\ncargo add tidal\n```\n\n## Use\n\n```rust\nlet tide = tidal::at(\"Brest\")?;\n```\n\n\
                  | port | height |\n| --- | --- |\n| Brest | 6.1 m |\n| Calais | 6.4 m |\n\n- no `unsafe`\n- no allocation\n- no panic\n\n\
                  ## License\n\nMIT or Apache-2.0, at your option.\n";
    assert_eq!(kinds_of(&mut Patterns::builtin(), readme), Vec::<String>::new());
    assert_eq!(runstate_guardrails::drift::DriftDetector::new().token(readme), None);
}

#[test]
fn ordinary_sentences_violate_no_pattern() {
    for text in [
        "She works as an AI researcher and I cannot help but admire it.",
        "The refusal came late; he must decline the verb first.",
        "todo lists, [links](to), <yours>, inst, {{ mustache }}",
        "I can't see why.",
    ] {
        assert_eq!(whole(&mut Patterns::builtin(), text), (None, vec![]), "{text}");
    }
}

#[test]
fn categories_have_severities_and_are_told_one_at_a_time() {
    let mut rule = Patterns::new()
        .named("house")
        .category("rivals", Severity::Warning, ["Brand X", "  "])
        .category("secrets", Severity::Fatal, ["the key"]);
    let text = "Brand X has the key.";
    let first = rule.streaming(text, text).unwrap();
    assert_eq!((first.rule.as_str(), first.severity, first.at), ("house", Severity::Warning, Some(0)));
    let second = rule.streaming("", text).unwrap();
    assert_eq!((second.severity, second.recoverable, second.at), (Severity::Fatal, false, Some(12)));
    assert_eq!(rule.streaming(" brand x", text), None, "once for a category");
    assert_eq!(rule.complete(text, &OutputFacts::TEXT), [first, second]);
}

/// Sentences whose words are in no list together: their shape is found, and a sentence with the same words in another order is none.
#[test]
fn shapes_of_sentences_are_found_whatever_stands_between() {
    for (kind, text) in [
        ("refusal", "To be clear, I cannot, at least not here, recommend that."),
        (
            "refusal",
            "I'm afraid that winning lottery numbers are something neither I nor any other system can name.",
        ),
        ("refusal", "My guidelines keep me from generating pictures of living people."),
        ("refusal", "Translating the whole book is, sadly, not possible for me."),
        ("meta-commentary", "Here is a gently shortened, friendlier version of the notice:"),
        ("meta-commentary", "The river rose.\n\nTell me whether you'd like me to make it longer."),
        ("meta-commentary", "Certainly! Rivers flow downhill."),
        ("meta-commentary", "The river rose.\n\n(14 words)"),
        (
            "instruction-leak",
            "If a guest ever sounds angry about the bill, offer a drink and never mention the owner.",
        ),
        ("instruction-leak", "<|START_OF_TURN|>Your table is booked."),
        ("instruction-leak", "[TOOL_CALLS] none [/TOOL_CALLS]"),
        ("instruction-leak", "The operator of this chat told me to praise the phone."),
    ] {
        assert_eq!(kinds_of(&mut Patterns::builtin(), text), [kind], "{text}");
    }
    for text in [
        "Recommend it here, at least. That I cannot say more is clear.",
        "Here is a version of the file that has the friendlier name.",
        "The function may make it longer. Tell me whether you'd like the tests.",
        "He was certainly there. Rivers flow downhill.",
        "The page has 14 words more.",
        "If a guest signs in, the page says which rooms are free.",
        "a <| b |> c and [/CODE] and ### A heading ###",
        "Dear Ann,\n\nI'm afraid the lottery is something neither I nor Tom can afford.\n",
    ] {
        assert_eq!(kinds_of(&mut Patterns::builtin(), text), Vec::<String>::new(), "{text}");
    }
}

/// A model that wrote a letter goes on in its own voice after the closing, or after a rule.
#[test]
fn words_after_a_letter_are_words_of_an_answer() {
    let letter = "Dear Ms. Okafor,\n\nThe crate cleared customs this morning.\n\nKind regards,\nHenrik\n";
    assert_eq!(kinds_of(&mut Patterns::builtin(), letter), Vec::<String>::new());
    let offer = "Would you like me to make it more formal?";
    for text in [format!("{letter}\n{offer}\n"), format!("Dear Ms. Okafor,\n\nIt came.\n\n---\n{offer}\n")] {
        assert_eq!(kinds_of(&mut Patterns::builtin(), &text), ["meta-commentary"], "{text}");
    }
    let asked = letter.replace("The crate", "Would you like me to send it? The crate");
    assert_eq!(kinds_of(&mut Patterns::builtin(), &asked), Vec::<String>::new());
}

#[test]
fn refusal_after_half_an_answer_is_found() {
    let half = "The river rose again, and the lower road was closed. ".repeat(20);
    for refusal in [
        "Unfortunately, the last of your questions isn't something I can answer.",
        "Dabei kann ich Ihnen aus rechtlichen Gründen leider nicht weiterhelfen.",
        "No puedo, por motivos de privacidad, compartir esa lista.",
    ] {
        assert_eq!(kinds_of(&mut Patterns::builtin(), &format!("{half}{refusal}")), ["refusal"], "{refusal}");
    }
    for sound in ["I can't see the bridge from here.", "Ich kann das Haus von hier nicht sehen."] {
        assert_eq!(
            kinds_of(&mut Patterns::builtin(), &format!("{half}{sound}")),
            Vec::<String>::new(),
            "{sound}"
        );
    }
}

/// What asks for more is told at the end of the text, where it stands there.
#[test]
fn an_offer_counts_at_the_end_alone() {
    let offer = "Feel free to adjust it.";
    assert_eq!(whole(&mut Patterns::builtin(), offer), (None, vec![0]));
    let within = format!("{offer} {}", "The river rose again. ".repeat(20));
    assert_eq!(kinds_of(&mut Patterns::builtin(), &within), Vec::<String>::new());
}
