//! The schema of RUN_STATE.json.

use std::{fmt, io};

use runstate::approval::ApprovalId;
use runstate::decision::digest;
use runstate::governed_run::{GovernedRunStatus, RunId, TimeLimits};
use runstate::snapshot::{KeyError, Keyring};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value};

use super::notes::Notes;
use super::timestamp::Timestamp;

/// The size limit of a RUN_STATE.json in bytes.
pub(super) const MOST_BYTES: u64 = 16 << 20;
/// The part of the limit that is reserved for the end of a run and its preparation, so that each run can end.
pub(super) const RESERVE: u64 = 4 << 20;

/// The content of the file. Fields of other programs are preserved, here and in the entries of the history. `S` is a
/// state, or a name that may be unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Document<S = GovernedRunStatus, N = Notes> {
    pub(super) run_id: RunId,
    pub(super) project_id: String,
    pub(super) current_state: S,
    pub(super) previous_state: Option<S>,
    pub(super) state_history: Vec<Entry<S>>,
    pub(super) tools_planned: Vec<String>,
    pub(super) tools_completed: Vec<String>,
    pub(super) tools_remaining: Vec<String>,
    pub(super) current_tool: Option<String>,
    pub(super) approvals_pending: Vec<ApprovalId>,
    pub(super) approvals_granted: Vec<ApprovalId>,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    /// Data outside of the schema; absent in files of other programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) runstate: Option<Extension<N>>,
    #[serde(flatten)]
    pub(super) further: Map<String, Value>,
}

/// A state of the run. The current state has no `exited_at`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry<S = GovernedRunStatus> {
    pub(super) state: S,
    pub(super) entered_at: Timestamp,
    pub(super) exited_at: Option<Timestamp>,
    #[serde(flatten)]
    pub(super) further: Map<String, Value>,
}

/// The name of a state in a file that another program may have written.
pub(super) trait Named: fmt::Display + PartialEq {
    /// The state of that name, if it is known.
    fn known(&self) -> Option<GovernedRunStatus>;
}

impl Named for GovernedRunStatus {
    fn known(&self) -> Option<GovernedRunStatus> {
        Some(*self)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct AnyName(String);

impl Named for AnyName {
    fn known(&self) -> Option<GovernedRunStatus> {
        self.0.parse().ok()
    }
}

impl fmt::Display for AnyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known() {
            Some(state) => state.fmt(f),
            None => write!(f, "{:?}", self.0.chars().take(60).collect::<String>()),
        }
    }
}

/// The field `runstate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Extension<N = Notes> {
    pub(super) version: u32,
    /// Data of the current state that the schema has no field for.
    pub(super) state: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) limits: Option<TimeLimits>,
    pub(super) notes: N,
    /// The tag over the whole file, if a key is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<String>,
}

/// The supported version of [`Extension`].
pub(super) const VERSION: u32 = 1;

impl<S: DeserializeOwned> Document<S> {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        // With a newer version, some field would fail. An error about the version is more useful.
        #[derive(Deserialize)]
        struct Peek {
            runstate: Option<PeekVersion>,
        }
        #[derive(Deserialize)]
        struct PeekVersion {
            version: u32,
        }
        if let Ok(Peek { runstate: Some(PeekVersion { version }) }) = runstate::json::from_slice(bytes)
            && version != VERSION
        {
            return Err(format!(
                "its field `runstate` has version {version}, expected {VERSION}; it is another version's"
            ));
        }
        runstate::json::from_slice(bytes).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let message: String = runstate::json::without_place(&error).chars().take(300).collect();
            format!("line {line}, column {column}: {message}")
        })
    }
}

impl<N: Serialize> Document<GovernedRunStatus, N> {
    /// Adds the tag.
    pub(super) fn tagged(mut self, keys: &Keyring) -> Self {
        let tag = self.under(|place, text| keys.tag(place, text));
        if let Some(ours) = &mut self.runstate {
            ours.tag = Some(tag);
        }
        self
    }

    /// Verifies and removes the tag.
    ///
    /// # Errors
    /// A wrong or missing tag, if keys are set; a tag, if no keys are set.
    pub(super) fn untagged(mut self, keys: Option<&Keyring>) -> Result<Self, String> {
        let tag = self.runstate.as_mut().and_then(|ours| ours.tag.take());
        match self.under(|place, text| Keyring::admits(keys, place, text, tag.as_deref())) {
            Ok(()) => Ok(self),
            Err(why @ KeyError::NoKeys { .. }) => Err(why.to_string()),
            Err(why) => Err(format!("{why}; restore it from a backup that was made with the key")),
        }
    }

    /// Calls `tag` with the context of a tag and the text that it covers. White space and key order do not matter.
    fn under<T>(&self, tag: impl FnOnce(&[&str], &[u8]) -> T) -> T {
        let content = serde_json::to_value(self).unwrap_or_else(|_| unreachable!("a document is JSON"));
        let version = self.state_history.len().to_string();
        tag(&["governed run", self.run_id.as_str(), &version], digest(&content).as_bytes())
    }

    pub(super) fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        self.serialize(&mut Serializer::with_formatter(&mut text, Layout::default()))
            .unwrap_or_else(|_| unreachable!("texts, numbers and JSON values are JSON"));
        text.push(b'\n');
        text
    }
}

/// The layout of the file: indented down to [`DEEPEST`], with each list of texts on one line. Long runs have
/// thousands of names, and each tool writes them again.
#[derive(Default)]
struct Layout {
    depth: usize,
    has_value: bool,
    /// Whether the next item of a list is the first one. A new line begins if that item is a list or an object.
    item: Option<bool>,
}

/// The depth down to which values are indented. It is the depth of the history entries and of the lists in the notes.
const DEEPEST: usize = 4;

impl Layout {
    fn line<W: ?Sized + io::Write>(&self, out: &mut W) -> io::Result<()> {
        const BLANKS: &[u8] = b"\n        ";
        if self.depth > DEEPEST { Ok(()) } else { out.write_all(&BLANKS[..=2 * self.depth]) }
    }

    fn begin<W: ?Sized + io::Write>(&mut self, out: &mut W, bracket: u8) -> io::Result<()> {
        if let Some(is_first) = self.item.take() {
            if !is_first && self.depth > DEEPEST {
                out.write_all(b" ")?;
            }
            self.line(out)?;
        }
        (self.depth, self.has_value) = (self.depth + 1, false);
        out.write_all(&[bracket])
    }

    fn end<W: ?Sized + io::Write>(&mut self, out: &mut W, bracket: u8) -> io::Result<()> {
        let is_indented = self.has_value && self.depth <= DEEPEST;
        self.depth -= 1;
        if is_indented {
            self.line(out)?;
        }
        self.has_value = true;
        out.write_all(&[bracket])
    }
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b'[')
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b']')
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        (self.item, self.has_value) = (Some(first), false);
        if first { Ok(()) } else { out.write_all(b",") }
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.item = None;
        Ok(())
    }

    fn begin_string<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        let is_behind_another = self.item.take() == Some(false);
        out.write_all(if is_behind_another { b" \"" } else { b"\"" })
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b'{')
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b'}')
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        match (first, self.depth > DEEPEST) {
            (true, _) => {}
            (false, false) => out.write_all(b",")?,
            (false, true) => out.write_all(b", ")?,
        }
        self.line(out)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
}
