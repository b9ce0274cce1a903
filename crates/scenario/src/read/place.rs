//! Places in a YAML text.

use std::fmt;

use runstate::diagram::{LineIndex, Span};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error, Location, Spanned};

use super::options::options;
use crate::check::Part;

/// The place of a parser error.
pub(super) fn of_error(text: &str, error: &Error) -> Option<Span> {
    error.location().map(|at| span(text, at))
}

/// Finds the place of a value by its path. The text is parsed a second time, into a tree with places, so that the types
/// of a scenario need no places.
pub(super) fn of_path(text: &str, path: &[Part]) -> Option<Span> {
    let root: Spanned<Tree> = serde_saphyr::from_str_with_options(text, options()).ok()?;
    let mut found = &root;
    for part in path {
        let next = match (&found.value, part) {
            (Tree::Fields(fields), Part::Field(name)) => {
                fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
            }
            (Tree::Items(items), Part::Item(at)) => items.get(*at),
            _ => None,
        };
        match next {
            Some(next) => found = next,
            // A missing value has the place of its parent.
            None => break,
        }
    }
    Some(span(text, found.referenced))
}

/// A YAML value as its places alone.
enum Tree {
    Fields(Vec<(String, Spanned<Tree>)>),
    Items(Vec<Spanned<Tree>>),
    Scalar,
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Branches;
        impl<'de> Visitor<'de> for Branches {
            type Value = Tree;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Tree::Fields(fields))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Tree::Items(items))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Tree, E> {
                Ok(Tree::Scalar)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Tree, E> {
                Ok(Tree::Scalar)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Tree, E> {
                Ok(Tree::Scalar)
            }

            fn visit_i128<E>(self, _: i128) -> Result<Tree, E> {
                Ok(Tree::Scalar)
            }

            fn visit_u128<E>(self, _: u128) -> Result<Tree, E> {
                Ok(Tree::Scalar)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Tree, E> {
                Ok(Tree::Scalar)
            }

            fn visit_str<E>(self, _: &str) -> Result<Tree, E> {
                Ok(Tree::Scalar)
            }

            fn visit_unit<E>(self) -> Result<Tree, E> {
                Ok(Tree::Scalar)
            }

            fn visit_none<E>(self) -> Result<Tree, E> {
                Ok(Tree::Scalar)
            }

            fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<Tree, D::Error> {
                Tree::deserialize(value)
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<Tree, D::Error> {
                IgnoredAny::deserialize(value).map(|_| Tree::Scalar)
            }
        }
        deserializer.deserialize_any(Branches)
    }
}

/// The bytes of a place, by its byte offset if the parser has it, else by line and column.
fn span(text: &str, at: Location) -> Span {
    let place = at.span();
    if let Some(start) = place.byte_offset() {
        let start = usize::try_from(start).unwrap_or(text.len()).min(text.len());
        let length = place.byte_len().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        return Span::new(start, start.saturating_add(length).min(text.len()));
    }
    let lines = LineIndex::new(text);
    let line = usize::try_from(at.line()).unwrap_or(1);
    let column = usize::try_from(at.column()).unwrap_or(1).saturating_sub(1);
    let start = lines.line_start(line).unwrap_or(text.len());
    let offset: usize = text[start..].chars().take(column).map(char::len_utf8).sum();
    Span::new(start + offset, start + offset)
}
