//! Questions of a server, as suspensions.

use std::collections::BTreeMap;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest, InputRequests};
use runstate::decision::Suspension;
use serde_json::{Map, Value, json};

use crate::error::one_line;
use crate::secrets::Secrets;

/// The action of the questions.
pub(crate) const ACTION: &str = "input";

/// The longest state of a server that is stored with a question, in bytes.
const MAX_STATE: usize = 64 << 10;

/// The most questions at once.
const MAX_QUESTIONS: usize = 16;

/// The key of the only question of a server that asks in the midst of a call.
const OPEN: &str = "open";

/// The questions of a server, and the state that it wants back with the answers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Input {
    /// By the key of the server.
    questions: BTreeMap<String, Question>,
    state: Option<String>,
    /// Whether the call stays open meanwhile.
    pub(crate) is_open: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Question {
    message: String,
    /// The schema of a form; none for a page that the person opens.
    schema: Option<Value>,
    url: Option<String>,
}

impl Question {
    fn of(params: &ElicitRequestParams) -> Result<Self, String> {
        match params {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = serde_json::to_value(requested_schema).map_err(|error| error.to_string())?;
                Ok(Question { message: message.clone(), schema: Some(schema), url: None })
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                Ok(Question { message: message.clone(), schema: None, url: Some(url.clone()) })
            }
            _ => Err("it asks a question of an unknown kind".to_owned()),
        }
    }

    fn text(&self) -> String {
        match &self.url {
            Some(url) => format!("{} (open {})", one_line(&self.message), one_line(url)),
            None => one_line(&self.message),
        }
    }

    /// The schema of the answer. The answer to a page is null.
    fn answer_schema(&self) -> Value {
        self.schema.clone().unwrap_or_else(|| json!({ "type": "null" }))
    }

    fn answer(&self, value: &Value) -> ElicitResult {
        let accepted = ElicitResult::new(ElicitationAction::Accept);
        match self.schema {
            Some(_) => accepted.with_content(value.clone()),
            None => accepted,
        }
    }
}

impl Input {
    /// The questions of a result that requires input.
    ///
    /// # Errors
    /// A question is of another kind, or the state is too large to be stored.
    pub(crate) fn required(requests: InputRequests, state: Option<String>) -> Result<Self, String> {
        if requests.len() > MAX_QUESTIONS {
            return Err(format!("it asks {} questions, expected at most {MAX_QUESTIONS}", requests.len()));
        }
        if let Some(size) = state.as_ref().map(String::len).filter(|size| *size > MAX_STATE) {
            return Err(format!("its state has {size} bytes, expected at most {MAX_STATE}"));
        }
        let mut questions = BTreeMap::new();
        for (key, request) in requests {
            let InputRequest::Elicitation(request) = request else {
                return Err("it asks for sampling or roots, which are not offered".to_owned());
            };
            questions.insert(key, Question::of(&request.params)?);
        }
        Ok(Input { questions, state, is_open: false })
    }

    /// The question of a call that stays open.
    ///
    /// # Errors
    /// The question is of another kind.
    pub(crate) fn open(params: &ElicitRequestParams) -> Result<Self, String> {
        let questions = BTreeMap::from([(OPEN.to_owned(), Question::of(params)?)]);
        Ok(Input { questions, state: None, is_open: true })
    }

    /// The questions without the secrets that the server repeats. A run stores them, and a person reads them.
    ///
    /// # Errors
    /// A secret is in the state or in the key of a question, which the server wants back unchanged.
    pub(crate) fn withheld(self, secrets: &Secrets) -> Result<Self, String> {
        if self.state.as_ref().is_some_and(|state| secrets.is_in(state)) {
            return Err("its state has the value of a header, which a run must not store".to_owned());
        }
        if self.questions.keys().any(|key| secrets.is_in(key)) {
            return Err(
                "the key of its question has the value of a header, which a run must not store".to_owned()
            );
        }
        let withheld = |(key, of): (String, Question)| {
            let question = Question {
                message: secrets.withheld(&of.message).into_owned(),
                schema: of.schema.map(|schema| secrets.withheld_value(schema)),
                url: of.url.map(|url| secrets.withheld(&url).into_owned()),
            };
            (key, question)
        };
        Ok(Input { questions: self.questions.into_iter().map(withheld).collect(), ..self })
    }

    /// The suspension, with all that another process needs. `bound_to` describes the tool.
    pub(crate) fn suspension(&self, server: &str, bound_to: &Value) -> Suspension {
        let texts: Vec<String> = self.questions.values().map(Question::text).collect();
        let message = format!("the MCP server {server} asks: {}", texts.join("; "));
        let schema = match self.questions.values().next() {
            // An approval without a result says that the person has opened the page.
            Some(question) if self.questions.len() == 1 => question.schema.clone(),
            _ => {
                let properties: Map<String, Value> =
                    self.questions.iter().map(|(key, of)| (key.clone(), of.answer_schema())).collect();
                let keys: Vec<&String> = self.questions.keys().collect();
                Some(
                    json!({ "type": "object", "properties": properties, "required": keys, "additionalProperties": false }),
                )
            }
        };
        let questions: Map<String, Value> = self
            .questions
            .iter()
            .map(|(key, of)| {
                (key.clone(), json!({ "message": of.message, "schema": of.schema, "url": of.url }))
            })
            .collect();
        let asked = Suspension::ask(ACTION, message);
        let asked = match schema {
            Some(schema) => asked.with_response_schema(schema),
            None => asked,
        };
        asked.with_parameters(json!({
            "bound_to": bound_to,
            "questions": questions,
            "state": self.state,
            "is_open": self.is_open,
        }))
    }

    /// The questions of a suspension; `None` for another one.
    pub(crate) fn of(suspension: &Suspension) -> Option<Self> {
        if suspension.action != ACTION {
            return None;
        }
        let parameters = &suspension.parameters;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let mut questions = BTreeMap::new();
        for (key, of) in parameters["questions"].as_object()? {
            let schema = Some(of["schema"].clone()).filter(|schema| !schema.is_null());
            let question = Question { message: text(&of["message"])?, schema, url: text(&of["url"]) };
            questions.insert(key.clone(), question);
        }
        Some(Input {
            questions,
            state: text(&parameters["state"]),
            is_open: parameters["is_open"].as_bool()?,
        })
    }

    /// The answers of a decision, by the key of the server.
    pub(crate) fn answers(&self, result: &Value) -> BTreeMap<String, Value> {
        let is_one = self.questions.len() == 1;
        let answered = |(key, question): (&String, &Question)| {
            let value = if is_one { result } else { &result[key] };
            let answer = serde_json::to_value(question.answer(value)).unwrap_or(Value::Null);
            (key.clone(), answer)
        };
        self.questions.iter().map(answered).collect()
    }

    /// The answer to the question of an open call.
    pub(crate) fn open_answer(&self, result: &Value) -> Option<ElicitResult> {
        self.questions.get(OPEN).map(|question| question.answer(result))
    }

    pub(crate) fn into_state(self) -> Option<String> {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(json: Value) -> InputRequests {
        serde_json::from_value(json).unwrap()
    }

    fn form(message: &str) -> Value {
        let schema =
            json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
    }

    #[test]
    fn questions_return_from_their_suspension() {
        let two = requests(json!({ "a": form("first?"), "b": form("second?") }));
        let input = Input::required(two, Some("s-1".into())).unwrap();
        let asked = input.suspension("bank", &json!({ "tool": "pay" }));
        assert_eq!(asked.message, "the MCP server bank asks: first?; second?");
        assert_eq!(Input::of(&asked).unwrap(), input);
        let answers = input.answers(&json!({ "a": { "n": 1 }, "b": { "n": 2 } }));
        assert_eq!(answers["b"], json!({ "action": "accept", "content": { "n": 2 } }));
        assert_eq!(input.into_state().as_deref(), Some("s-1"));
        assert_eq!(Input::of(&Suspension::ask("approve", "?")), None);
    }

    #[test]
    fn one_question_has_its_answer_as_the_result() {
        let input = Input::required(requests(json!({ "a": form("how many?") })), None).unwrap();
        let asked = input.suspension("bank", &Value::Null);
        assert_eq!(asked.response_schema.unwrap()["required"], json!(["n"]));
        assert_eq!(input.answers(&json!({ "n": 3 }))["a"]["content"], json!({ "n": 3 }));
    }

    #[test]
    fn page_is_shown_and_has_no_content() {
        let page = json!({ "a": { "method": "elicitation/create", "params": {
            "mode": "url", "message": "pay", "url": "https://pay.example/7", "elicitationId": "7",
        } } });
        let input = Input::required(requests(page), None).unwrap();
        let asked = input.suspension("bank", &Value::Null);
        assert_eq!(asked.message, "the MCP server bank asks: pay (open https://pay.example/7)");
        assert_eq!(asked.response_schema, None);
        assert_eq!(Input::of(&asked).unwrap().answers(&Value::Null)["a"], json!({ "action": "accept" }));
    }

    #[test]
    fn sampling_and_large_states_are_refused() {
        let sampling = json!({ "a": { "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 1 } } });
        assert!(Input::required(requests(sampling), None).unwrap_err().contains("not offered"));
        let large = Input::required(InputRequests::new(), Some("x".repeat(MAX_STATE + 1))).unwrap_err();
        assert!(large.contains("expected at most 65536"), "{large}");
    }
}
