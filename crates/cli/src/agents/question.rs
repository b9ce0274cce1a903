//! The question to a person.

use runstate::decision::{ResumeMode, Suspension};
use runstate::tool_result::ToolResult;
use runstate_agent::{Tool, ToolContext, ToolSpec, async_trait};
use serde_json::json;

/// The name of the tool.
pub(super) const ASK_PERSON: &str = "ask_person";

/// Asks a person. The answer is the result of the call.
#[derive(Debug)]
pub(super) struct AskPerson(ToolSpec);

impl AskPerson {
    pub(super) fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": { "question": { "type": "string", "minLength": 1 } },
            "required": ["question"],
            "additionalProperties": false,
        });
        let about = "Asks a person a question. The result is the answer.";
        AskPerson(ToolSpec::new(ASK_PERSON, about).with_schema(schema).repeatable())
    }
}

#[async_trait]
impl Tool for AskPerson {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        let Some(question) = cx.arguments()["question"].as_str() else {
            return ToolResult::Error("expected a text in `question`".to_owned());
        };
        let asked = Suspension::ask("ask_person", question)
            .with_response_schema(json!({ "type": "string" }))
            .resuming_by(ResumeMode::UseDecisionAsToolResult);
        ToolResult::Pending(asked)
    }
}
