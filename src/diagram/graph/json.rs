//! The JSON form of a graph.

use std::collections::HashSet;
use std::fmt;

use serde_json::{Map, Value, json};

use super::{Arrow, Composite, Drawn, GraphEdge, GraphState, Mark, StateGraph};

/// The error for a JSON text that is no [`StateGraph`].
///
/// ```
/// let error = runstate::diagram::StateGraph::from_json(r#"{"name": "x", "states": ["A"], "edges": [{"from": 1}]}"#);
/// assert_eq!(error.unwrap_err().to_string(), "edges[0].from: expected a string, got a number");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    path: String,
    expected: String,
    got: String,
}

impl JsonError {
    fn new(path: impl Into<String>, expected: &str, got: impl Into<String>) -> Self {
        Self { path: path.into(), expected: expected.to_owned(), got: got.into() }
    }

    /// The place in the JSON, such as `edges[3].to`, or `line 3, column 7` for invalid JSON.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, got {}", self.path, self.expected, self.got)
    }
}

impl std::error::Error for JsonError {}

impl StateGraph {
    /// Writes the graph as a JSON object with `name`, `states`, `edges`, `initial`, `terminal` and `warnings`.
    ///
    /// A state is an object with its `name` and, where known, `description` and `line`. An element of `edges` has
    /// `from`, `to`, `label` (null if there is none) and `line`. `initial` and `terminal` are lists of names. In
    /// `initial`, a labelled transition from `[*]` is an object with `state` and `label`. A graph from composite
    /// states or choices also has `drawn`, with its `arrows` and its `composites`. For each state, `drawn` has the
    /// index of the enclosing composite state, and for each transition, the indices of its arrows.
    ///
    /// ```
    /// let diagram = runstate::diagram::parse("stateDiagram-v2\n[*] --> A").unwrap();
    /// let graph = runstate::diagram::StateGraph::from_diagram(&diagram, "x").unwrap();
    /// assert_eq!(
    ///     graph.to_json().to_string(),
    ///     r#"{"edges":[],"initial":["A"],"name":"x","states":[{"line":2,"name":"A"}],"terminal":[],"warnings":[]}"#,
    /// );
    /// ```
    #[must_use]
    pub fn to_json(&self) -> Value {
        let states: Vec<Value> = self
            .states
            .iter()
            .map(|state| {
                let mut object = Map::from_iter([("name".to_owned(), json!(state.name))]);
                if let Some(text) = &state.description {
                    object.insert("description".to_owned(), json!(text));
                }
                line(&mut object, state.line);
                Value::Object(object)
            })
            .collect();
        let arrow = |from: &str, to: &str, label: Option<&str>, at: Option<usize>| {
            let ends = [("from", json!(from)), ("to", json!(to)), ("label", json!(label))];
            let mut object = Map::from_iter(ends.map(|(field, value)| (field.to_owned(), value)));
            line(&mut object, at);
            Value::Object(object)
        };
        let edges: Vec<Value> =
            self.edges.iter().map(|it| arrow(&it.from, &it.to, it.label.as_deref(), it.line)).collect();
        let name = |mark: &Mark| match &mark.label {
            None => json!(mark.state),
            Some(label) => json!({"state": mark.state, "label": label}),
        };
        let names = |marks: &[Mark]| marks.iter().map(name).collect::<Vec<_>>();
        let mut graph = json!({
            "name": self.name,
            "states": states,
            "edges": edges,
            "initial": names(&self.initial),
            "terminal": names(&self.terminal),
            "warnings": self.warnings,
        });
        if let Some(drawn) = &self.drawn {
            let arrows = drawn.arrows.iter().map(|it| arrow(&it.from, &it.to, it.label.as_deref(), it.line));
            let composites = drawn.composites.iter().map(|composite| {
                let mut object = Map::new();
                object.insert("name".to_owned(), json!(composite.name));
                if let Some(inside) = composite.inside {
                    object.insert("inside".to_owned(), json!(inside));
                }
                line(&mut object, composite.line);
                Value::Object(object)
            });
            graph["drawn"] = json!({
                "arrows": arrows.collect::<Vec<_>>(),
                "composites": composites.collect::<Vec<_>>(),
                "states": drawn.states,
                "edges": drawn.edges,
            });
        }
        graph
    }

    /// Parses the output of [`StateGraph::to_json`]. A state may also be just its name; `label`, `line`, `initial`,
    /// `terminal`, `warnings` and `drawn` are optional. Unknown fields are refused.
    ///
    /// ```
    /// use runstate::diagram::StateGraph;
    ///
    /// let text = r#"{"name": "x", "states": ["A", "B"], "edges": [{"from": "A", "to": "B"}], "initial": ["A"]}"#;
    /// assert_eq!(StateGraph::from_json(text).unwrap().edges.len(), 1);
    /// let error = StateGraph::from_json(&text.replace("\"to\": \"B\"", "\"to\": \"C\"")).unwrap_err();
    /// assert_eq!(error.to_string(), "edges[0].to: expected the name of a state, got `C`");
    /// ```
    ///
    /// # Errors
    ///
    /// [`JsonError`] with the place: invalid JSON, a missing field, a value of another type, a duplicate state or an
    /// undefined one.
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        let value: Value = crate::json::from_str(text).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            JsonError::new(place, "JSON", error.to_string())
        })?;
        let object = object(&value, "the graph")?;
        let fields = ["name", "states", "edges", "initial", "terminal", "warnings", "drawn"];
        only(object, "", &fields)?;
        let mut graph = StateGraph { name: string(object, "", "name")?, ..Self::default() };
        let mut names = HashSet::new();
        for (at, value) in list(object, "", "states", true)?.iter().enumerate() {
            let path = format!("states[{at}]");
            let state = match value {
                Value::String(name) => GraphState { name: name.clone(), ..GraphState::default() },
                value => {
                    let object = self::object(value, &path)?;
                    only(object, &path, &["name", "description", "line"])?;
                    let name = string(object, &path, "name")?;
                    GraphState {
                        name,
                        description: text_of(object, &path, "description")?,
                        line: number(object, &path)?,
                    }
                }
            };
            if state.name.is_empty() {
                return Err(JsonError::new(path, "a name", "an empty string"));
            }
            if !names.insert(state.name.clone()) {
                return Err(JsonError::new(path, "another name", format!("`{}` again", state.name)));
            }
            graph.states.push(state);
        }
        let known = |path: String, name: String| {
            if names.contains(&name) {
                Ok(name)
            } else {
                Err(JsonError::new(path, "the name of a state", format!("`{name}`")))
            }
        };
        for (at, value) in list(object, "", "edges", true)?.iter().enumerate() {
            let path = format!("edges[{at}]");
            let object = self::object(value, &path)?;
            only(object, &path, &ARROW)?;
            let end = |field: &str| known(format!("{path}.{field}"), string(object, &path, field)?);
            let (from, to) = (end("from")?, end("to")?);
            graph.edges.push(GraphEdge {
                from,
                to,
                label: text_of(object, &path, "label")?,
                line: number(object, &path)?,
            });
        }
        for (field, marks) in [("initial", &mut graph.initial), ("terminal", &mut graph.terminal)] {
            for (at, value) in list(object, "", field, false)?.iter().enumerate() {
                let path = format!("{field}[{at}]");
                let (state, label) = match value {
                    Value::String(name) => (name.clone(), None),
                    Value::Object(object) if field == "initial" => {
                        only(object, &path, &["state", "label"])?;
                        (string(object, &path, "state")?, text_of(object, &path, "label")?)
                    }
                    value => return Err(JsonError::new(path, "a string", kind(value))),
                };
                marks.push(Mark { state: known(path, state)?, label, line: None });
            }
        }
        for (at, value) in list(object, "", "warnings", false)?.iter().enumerate() {
            let Value::String(text) = value else {
                return Err(JsonError::new(format!("warnings[{at}]"), "a string", kind(value)));
            };
            graph.warnings.push(text.clone());
        }
        graph.drawn = match object.get("drawn") {
            None | Some(Value::Null) => None,
            Some(value) => Some(drawn(self::object(value, "drawn")?, &graph)?),
        };
        Ok(graph)
    }
}

fn drawn(object: &Map<String, Value>, graph: &StateGraph) -> Result<Drawn, JsonError> {
    let mut drawn = Drawn::default();
    only(object, "drawn", &["arrows", "composites", "states", "edges"])?;
    for (at, value) in list(object, "drawn", "arrows", true)?.iter().enumerate() {
        let path = format!("drawn.arrows[{at}]");
        let object = self::object(value, &path)?;
        only(object, &path, &ARROW)?;
        drawn.arrows.push(Arrow {
            from: string(object, &path, "from")?,
            to: string(object, &path, "to")?,
            label: text_of(object, &path, "label")?,
            line: number(object, &path)?,
        });
    }
    let composites = list(object, "drawn", "composites", true)?;
    for (at, value) in composites.iter().enumerate() {
        let path = format!("drawn.composites[{at}]");
        let object = self::object(value, &path)?;
        only(object, &path, &["name", "inside", "line"])?;
        let inside = match object.get("inside") {
            None | Some(Value::Null) => None,
            Some(value) => Some(place(value, &format!("{path}.inside"), composites.len())?),
        };
        drawn.composites.push(Composite {
            name: string(object, &path, "name")?,
            inside,
            line: number(object, &path)?,
        });
    }
    if let Some(at) = drawn.in_itself() {
        let name = &drawn.composites[at].name;
        let got = format!("`{name}`, which is inside of itself");
        return Err(JsonError::new(format!("drawn.composites[{at}].inside"), "another one", got));
    }
    for (at, value) in each(object, "states", graph.states.len())?.iter().enumerate() {
        let path = format!("drawn.states[{at}]");
        drawn.states.push(match value {
            Value::Null => None,
            value => Some(place(value, &path, composites.len())?),
        });
    }
    for (at, value) in each(object, "edges", graph.edges.len())?.iter().enumerate() {
        let path = format!("drawn.edges[{at}]");
        let Value::Array(arrows) = value else { return Err(JsonError::new(path, "a list", kind(value))) };
        let arrows = arrows.iter().map(|value| place(value, &path, drawn.arrows.len()));
        let arrows = arrows.collect::<Result<Vec<usize>, _>>()?;
        if arrows.is_empty() {
            return Err(JsonError::new(path, "an arrow at least", "an empty list"));
        }
        drawn.edges.push(arrows);
    }
    Ok(drawn)
}

impl Drawn {
    /// Returns whether this drawing belongs to that graph. Its fields are public, so a program may have replaced it.
    pub(crate) fn is_of(&self, graph: &StateGraph) -> bool {
        let is_place = |place: &usize| *place < self.composites.len();
        self.composites.iter().filter_map(|composite| composite.inside.as_ref()).all(is_place)
            && self.in_itself().is_none()
            && self.states.len() == graph.states.len()
            && self.states.iter().flatten().all(is_place)
            && self.edges.len() == graph.edges.len()
            && self.edges.iter().all(|arrows| arrows.iter().all(|arrow| *arrow < self.arrows.len()))
    }

    /// Finds a composite state inside of itself, at any depth.
    fn in_itself(&self) -> Option<usize> {
        // Each composite state is unvisited, on the current path upwards, or known to end.
        let mut seen = vec![0_u8; self.composites.len()];
        for start in 0..seen.len() {
            let (mut way, mut at) = (Vec::new(), Some(start));
            while let Some(place) = at.filter(|place| seen[*place] < 2) {
                if std::mem::replace(&mut seen[place], 1) == 1 {
                    return Some(place);
                }
                way.push(place);
                at = self.composites[place].inside;
            }
            way.into_iter().for_each(|place| seen[place] = 2);
        }
        None
    }
}

/// Reads a list with that number of elements.
fn each<'v>(object: &'v Map<String, Value>, field: &str, count: usize) -> Result<&'v [Value], JsonError> {
    let values = list(object, "drawn", field, true)?;
    if values.len() == count {
        return Ok(values);
    }
    let expected = format!("an entry for each of the {count} {field}");
    Err(JsonError::new(format!("drawn.{field}"), &expected, values.len().to_string()))
}

/// Reads an index into a list of that length.
fn place(value: &Value, path: &str, count: usize) -> Result<usize, JsonError> {
    let place = value.as_u64().and_then(|place| usize::try_from(place).ok());
    let wrong = || JsonError::new(path, &format!("a place from 0, below {count}"), value.to_string());
    place.filter(|place| *place < count).ok_or_else(wrong)
}

fn line(object: &mut Map<String, Value>, line: Option<usize>) {
    if let Some(line) = line {
        object.insert("line".to_owned(), json!(line));
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn object<'v>(value: &'v Value, path: &str) -> Result<&'v Map<String, Value>, JsonError> {
    value.as_object().ok_or_else(|| JsonError::new(path, "an object", kind(value)))
}

/// The fields of a transition.
const ARROW: [&str; 4] = ["from", "to", "label", "line"];

/// Refuses unknown fields, because they may be misspelled known ones.
fn only(object: &Map<String, Value>, path: &str, known: &[&str]) -> Result<(), JsonError> {
    match object.keys().find(|field| !known.contains(&field.as_str())) {
        None => Ok(()),
        Some(field) => {
            let path = if path.is_empty() { "the graph" } else { path };
            Err(JsonError::new(path, &format!("the fields {} alone", known.join(", ")), format!("`{field}`")))
        }
    }
}

fn field_path(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

fn string(object: &Map<String, Value>, path: &str, field: &str) -> Result<String, JsonError> {
    match object.get(field) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(JsonError::new(field_path(path, field), "a string", kind(other))),
        None => Err(JsonError::new(field_path(path, field), "a string", "nothing")),
    }
}

fn text_of(object: &Map<String, Value>, path: &str, field: &str) -> Result<Option<String>, JsonError> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => string(object, path, field).map(Some),
    }
}

fn number(object: &Map<String, Value>, path: &str) -> Result<Option<usize>, JsonError> {
    match object.get("line") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let line = value.as_u64().and_then(|line| usize::try_from(line).ok());
            let wrong = || JsonError::new(field_path(path, "line"), "a line number", value.to_string());
            line.map(Some).ok_or_else(wrong)
        }
    }
}

fn list<'v>(
    object: &'v Map<String, Value>,
    path: &str,
    field: &str,
    needed: bool,
) -> Result<&'v [Value], JsonError> {
    match object.get(field) {
        Some(Value::Array(values)) => Ok(values),
        Some(other) => Err(JsonError::new(field_path(path, field), "a list", kind(other))),
        None if needed => Err(JsonError::new(field_path(path, field), "a list", "nothing")),
        None => Ok(&[]),
    }
}
