//! RUN_STATE.json, field by field (document 001, "RUN_STATE.json Schema").

use std::{fmt, io};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value};

use super::notes::Notes;
use super::when::When;
use crate::approval::ApprovalId;
use crate::decision::digest;
use crate::governed_run::{GovernedRunStatus, RunId, TimeLimits};
use crate::snapshot::{KeyError, Keyring};

/// The most bytes of a RUN_STATE.json that are read.
pub(super) const MOST_BYTES: u64 = 16 << 20;
/// The part of them that only the end of a run, and the way there, may use: so each run can end.
pub(super) const RESERVE: u64 = 4 << 20;

/// The file as it is. What others put into it stays, here and in the entries of the history. `S` is a state, or a name that may
/// be none.
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
    pub(super) created_at: When,
    pub(super) updated_at: When,
    /// Data that the schema has no place for; absent in the files of other tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) runstate: Option<Extension<N>>,
    #[serde(flatten)]
    pub(super) further: Map<String, Value>,
}

/// A state that the run was in, or is in when it has no `exited_at`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry<S = GovernedRunStatus> {
    pub(super) state: S,
    pub(super) entered_at: When,
    pub(super) exited_at: Option<When>,
    #[serde(flatten)]
    pub(super) further: Map<String, Value>,
}

/// The name of a state in a file that another program may have written.
pub(super) trait Named: fmt::Display + PartialEq {
    /// The state, if there is one of that name.
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
    /// Data of the present state beside the fields of the schema.
    pub(super) state: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) limits: Option<TimeLimits>,
    pub(super) notes: N,
    /// The tag of all the rest, where there is a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<String>,
}

/// The version of [`Extension`] that is read and written.
pub(super) const VERSION: u32 = 1;

impl<S: DeserializeOwned> Document<S> {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        // A newer version's field would fail in some detail; better to name the version.
        #[derive(Deserialize)]
        struct Peek {
            runstate: Option<PeekVersion>,
        }
        #[derive(Deserialize)]
        struct PeekVersion {
            version: u32,
        }
        if let Ok(Peek { runstate: Some(PeekVersion { version }) }) = crate::json::from_slice(bytes)
            && version != VERSION
        {
            return Err(format!(
                "its field `runstate` has version {version}, expected {VERSION}; it is another version's"
            ));
        }
        crate::json::from_slice(bytes).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let message: String = crate::json::without_place(&error).chars().take(300).collect();
            format!("line {line}, column {column}: {message}")
        })
    }
}

impl<N: Serialize> Document<GovernedRunStatus, N> {
    /// The same, with its tag.
    pub(super) fn tagged(mut self, keys: &Keyring) -> Self {
        let tag = self.under(|place, text| keys.tag(place, text));
        if let Some(ours) = &mut self.runstate {
            ours.tag = Some(tag);
        }
        self
    }

    /// The same without its tag, which is checked.
    ///
    /// # Errors
    /// A tag that does not fit or is missing, where there are keys; a tag, where there are none.
    pub(super) fn untagged(mut self, keys: Option<&Keyring>) -> Result<Self, String> {
        let tag = self.runstate.as_mut().and_then(|ours| ours.tag.take());
        match self.under(|place, text| Keyring::admits(keys, place, text, tag.as_deref())) {
            Ok(()) => Ok(self),
            Err(why @ KeyError::NoKeys { .. }) => Err(why.to_string()),
            Err(why) => Err(format!("{why}; restore it from a backup that was made with the key")),
        }
    }

    /// The place of a tag, and its text: the content, whatever the white space and the order of keys.
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

/// The layout of the file: indented down to [`DEEPEST`], and a list of texts is one line, as in document 001. Long runs have thousands of
/// names, which are written anew with each tool.
#[derive(Default)]
struct Layout {
    depth: usize,
    has_value: bool,
    /// Where an item of a list is next: whether it is the first. A line begins where it is a list or an object.
    item: Option<bool>,
}

/// The depth down to which values are indented: that of the entries of the history and of the lists of notes.
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
