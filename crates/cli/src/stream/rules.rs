//! Rules of a session, from the rules of a scenario.

use std::num::NonZeroU32;

use runstate_guardrails::{
    self, Custom, Guardrail, Json, Latex, Markdown, PatternKind, Patterns, Repetition, Rules, Violation,
    ZeroOutput,
};

use super::scenario::{self, BuiltIn, Category, Expression, Forbidden, Phrases, Rule, Scenario, When};

/// The maximum of regular expressions of a scenario. The automaton of one takes up to 10 MiB.
const MOST_EXPRESSIONS: usize = 16;

/// The rules, in order.
///
/// # Errors
/// Too many of them, or an invalid regular expression.
pub(super) fn rules(scenario: &Scenario) -> Result<Rules, String> {
    let mut rules = Rules::new();
    let expressions = scenario.guardrails.iter().filter(|rule| matches!(rule, Rule::ForbidRegex(_))).count();
    if expressions > MOST_EXPRESSIONS {
        return Err(format!(
            "guardrails: expected at most {MOST_EXPRESSIONS} of forbid_regex, got {expressions}"
        ));
    }
    for (at, rule) in scenario.guardrails.iter().enumerate() {
        rules.push(made(rule).map_err(|error| format!("guardrails[{at}].forbid_regex.regex: {error}"))?);
    }
    Ok(match scenario.guardrails_every.and_then(NonZeroU32::new) {
        Some(tokens) => rules.every(tokens),
        None => rules,
    })
}

fn regex(rule: &Expression) -> Result<runstate_guardrails::Forbidden, runstate_guardrails::ForbiddenError> {
    let name = rule.name.as_deref().unwrap_or("forbid_regex");
    let rule_of = match rule.within_bytes {
        Some(bytes) => runstate_guardrails::Forbidden::within(name, &rule.regex, bytes)?,
        None => runstate_guardrails::Forbidden::new(name, &rule.regex)?,
    };
    Ok(rule_of.severity(severity(rule.severity)))
}

pub(super) fn severity(said: scenario::Severity) -> runstate_guardrails::Severity {
    match said {
        scenario::Severity::Warning => runstate_guardrails::Severity::Warning,
        scenario::Severity::Error => runstate_guardrails::Severity::Error,
        scenario::Severity::Fatal => runstate_guardrails::Severity::Fatal,
    }
}

fn phrases(category: &Category) -> Patterns {
    let name = category.name.as_deref().unwrap_or("phrases");
    Patterns::new().named(name).category(name, severity(category.severity), &category.phrases)
}

fn patterns(rule: &BuiltIn) -> Patterns {
    let kind = |kind: &Phrases| match kind {
        Phrases::MetaCommentary => PatternKind::MetaCommentary,
        Phrases::Refusal => PatternKind::Refusal,
        Phrases::InstructionLeak => PatternKind::InstructionLeak,
        Phrases::Placeholder => PatternKind::Placeholder,
    };
    let of = Patterns::of(rule.kinds.iter().map(kind));
    PatternKind::ALL.into_iter().fold(of, |of, kind| of.severity(kind, severity(rule.severity)))
}

fn made(rule: &Rule) -> Result<Box<dyn Guardrail>, runstate_guardrails::ForbiddenError> {
    Ok(match rule {
        Rule::ForbidRegex(expression) => Box::new(regex(expression)?),
        Rule::JsonBalanced => Box::new(Json::balanced()),
        Rule::JsonStrict => Box::new(Json::strict()),
        Rule::Markdown => Box::new(Markdown::new()),
        Rule::Latex => Box::new(Latex::new()),
        Rule::ZeroOutput => Box::new(ZeroOutput::new()),
        Rule::Repetition => Box::new(Repetition::new()),
        Rule::Patterns(rule) => Box::new(patterns(rule)),
        Rule::Phrases(category) => Box::new(phrases(category)),
        Rule::Forbid(forbidden) => Box::new(forbid(forbidden.clone())),
        Rule::Require(required) => Box::new(require(required.clone())),
        Rule::PanicAt(text) => {
            let text = text.clone();
            Box::new(Custom::new("panics").while_streaming(move |_, so_far| {
                if so_far.contains(&text) {
                    std::panic::resume_unwind(Box::new("scripted"));
                }
                None
            }))
        }
    })
}

fn violation(name: &str, rule: &Forbidden, message: String) -> Violation {
    let violation = Violation::new(severity(rule.severity), name, message);
    if rule.recoverable { violation } else { violation.unrecoverable() }
}

fn forbid(rule: Forbidden) -> Custom {
    let name = rule.name.clone().unwrap_or_else(|| "forbid".to_owned());
    let found = |name: &str, rule: &Forbidden, at: usize| {
        violation(name, rule, format!("{:?} is forbidden", rule.text)).at(at)
    };
    let custom = Custom::new(name.clone());
    if rule.at == When::Complete {
        return custom.at_end(move |so_far, _| {
            so_far.find(&rule.text).map(|at| found(&name, &rule, at)).into_iter().collect()
        });
    }
    custom.while_streaming(move |delta, so_far| {
        // The first occurrence that ends in the new part.
        let from = (so_far.len() - delta.len()).saturating_sub(rule.text.len().saturating_sub(1));
        let from = so_far.floor_char_boundary(from);
        let at = from + so_far.get(from..)?.find(&rule.text)?;
        let seen_before =
            so_far.get(..so_far.len() - delta.len()).is_some_and(|before| before.contains(&rule.text));
        (!seen_before).then(|| found(&name, &rule, at))
    })
}

fn require(rule: Forbidden) -> Custom {
    let name = rule.name.clone().unwrap_or_else(|| "require".to_owned());
    Custom::new(name.clone()).at_end(move |so_far, _| {
        if so_far.contains(&rule.text) {
            return Vec::new();
        }
        vec![violation(&name, &rule, format!("{:?} is missing", rule.text))]
    })
}
