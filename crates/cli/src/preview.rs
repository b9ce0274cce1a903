//! The preview of a call, for approvers.

use runstate_agent::Preview;
use serde_json::Value;

use crate::output::exact;

/// The parameters of a question, for approvers.
pub(crate) struct Shown {
    /// The parameters without the preview.
    pub(crate) rest: Value,
    /// The lines of the preview. Each of them begins with four spaces, so that none passes for another text.
    pub(crate) lines: Vec<String>,
    /// Whether the preview or the tool changed after an earlier approval.
    pub(crate) changed: bool,
}

impl Shown {
    pub(crate) fn of(parameters: &Value) -> Self {
        let mut shown = Shown { rest: parameters.clone(), lines: Vec::new(), changed: false };
        let Value::Object(fields) = &mut shown.rest else { return shown };
        let preview = fields.get("preview").cloned();
        if let Some(preview) = preview.and_then(|preview| serde_json::from_value::<Preview>(preview).ok()) {
            fields.remove("preview");
            // The end of a line may be what changes, so a carriage return is shown.
            let text = preview.to_string();
            let lines = text.strip_suffix('\n').unwrap_or(&text).split('\n');
            shown.lines = lines.map(|line| format!("    {}", exact(line))).collect();
        }
        if fields.get("changed") == Some(&Value::Bool(true)) {
            fields.remove("changed");
            shown.changed = true;
        }
        if fields.is_empty() {
            shown.rest = Value::Null;
        }
        shown
    }
}

/// The remark about a question that differs from an approved one.
pub(crate) const CHANGED: &str =
    "the call changed after an earlier approval, which does not count; read it again";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn preview_has_lines_of_its_own_and_other_parameters_stay() {
        let diff = json!({ "diff": { "of": "a.md", "lines": "-one\r\n+two\u{202e}\n" } });
        let shown = Shown::of(&json!({ "preview": diff, "changed": true, "approval": 2 }));
        assert_eq!(shown.lines, ["    a.md", "    -one\\u{d}", "    +two\\u{202e}"]);
        assert_eq!((shown.rest, shown.changed), (json!({ "approval": 2 }), true));
    }

    #[test]
    fn other_parameters_of_these_names_are_left_alone() {
        for parameters in [json!({ "preview": 7, "changed": "yes" }), json!("text"), Value::Null] {
            let shown = Shown::of(&parameters);
            assert_eq!((shown.rest, shown.lines.len(), shown.changed), (parameters, 0, false));
        }
    }
}
