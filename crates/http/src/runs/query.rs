//! The parameters of a query. An unknown one is refused.

use std::collections::BTreeMap;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;

use crate::app::App;
use crate::problem::{Code, Problem};

/// The parameters by name. A parameter that is given twice is refused, except `status`.
#[derive(Debug)]
pub(crate) struct Parameters(BTreeMap<String, Vec<String>>);

impl FromRequestParts<App> for Parameters {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let Query(pairs) = pairs.map_err(|error| refused(error.body_text()))?;
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in pairs {
            all.entry(name).or_default().push(value);
        }
        Ok(Parameters(all))
    }
}

pub(crate) fn refused(detail: impl Into<String>) -> Problem {
    Problem::new(Code::BadQuery, detail)
}

impl Parameters {
    /// Takes the values of a parameter, also those behind commas.
    pub(crate) fn all(&mut self, name: &str) -> Vec<String> {
        let values = self.0.remove(name).unwrap_or_default();
        values.iter().flat_map(|value| value.split(',')).map(str::to_owned).collect()
    }

    /// Takes the value of a parameter.
    pub(crate) fn one(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let mut values = self.0.remove(name).unwrap_or_default();
        match values.len() {
            0 | 1 => Ok(values.pop()),
            n => Err(refused(format!("{name}: got {n} values, expected one"))),
        }
    }

    /// Takes and reads the value of a parameter.
    pub(crate) fn read<T: FromStr>(&mut self, name: &str, expected: &str) -> Result<Option<T>, Problem> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        let value =
            text.parse().map_err(|_| refused(format!("{name}: got {text:?}, expected {expected}")))?;
        Ok(Some(value))
    }

    /// Takes the size of a page.
    pub(crate) fn limit(&mut self, max: usize, default: usize) -> Result<usize, Problem> {
        let expected = format!("a number from 1 to {max}");
        match self.read::<usize>("limit", &expected)? {
            Some(limit) if (1..=max).contains(&limit) => Ok(limit),
            Some(limit) => Err(refused(format!("limit: got {limit}, expected {expected}"))),
            None => Ok(default),
        }
    }

    /// Refuses the parameters that nothing took.
    pub(crate) fn finish(self, known: &str) -> Result<(), Problem> {
        match self.0.into_keys().next() {
            None => Ok(()),
            Some(name) => Err(refused(format!("got the unknown parameter {name:?}, expected {known}"))),
        }
    }
}
