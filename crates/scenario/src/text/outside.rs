//! External inputs and their replies.

use runstate::decision::DecisionAction;

use crate::play::{ExternalInput, Sent};

pub(super) fn line(sent: &Sent) -> String {
    let became = match &sent.replied {
        None => "no reply".to_owned(),
        Some(replied) => {
            let reply = replied.reply.as_ref().map_or("not taken".to_owned(), |reply| reply.to_string());
            if replied.at_ms == sent.at_ms { reply } else { format!("{reply}, at {} ms", replied.at_ms) }
        }
    };
    let what = match &sent.what {
        ExternalInput::Message(text) => format!("the user writes {text:?}"),
        ExternalInput::Decision(incoming) => {
            let action = match incoming.action {
                DecisionAction::Resume => "resume",
                DecisionAction::Cancel => "cancel",
            };
            let on = incoming.suspension_id.as_ref().map(|id| format!(" on {id}")).unwrap_or_default();
            format!("{} {action} {}{on}", incoming.decision_id, incoming.call)
        }
    };
    format!("{}  {what}: {became}", super::at(sent.at_ms))
}
