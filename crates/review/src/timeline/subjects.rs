//! The names of instances in a column of a table.

use std::collections::{BTreeMap, HashMap};

use super::fit::short;
use super::open::OpenWait;
use super::{Row, Timeline};

/// The instances by their numbers, with their lifecycles and names.
pub(super) type Instances = BTreeMap<usize, (String, String)>;

/// The shown name of each instance. Different instances have different names.
pub(super) struct Subjects {
    shown: HashMap<usize, String>,
    has_numbers: bool,
}

impl Subjects {
    /// Shortens the names to that width. Instances that would look alike have numbers.
    pub(super) fn new(instances: &Instances, width: usize) -> Self {
        let fitted = |number: usize, width: usize| {
            instances.get(&number).map(|(lifecycle, name)| short(lifecycle, name, width)).unwrap_or_default()
        };
        let mut shown: HashMap<usize, String> =
            instances.keys().map(|number| (*number, fitted(*number, width))).collect();
        let mut numbered: HashMap<usize, usize> = HashMap::new();
        loop {
            let mut of_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for number in instances.keys() {
                of_name.entry(&shown[number]).or_default().push(*number);
            }
            // A name that looks like one with a number has a number too.
            let alike = of_name.into_values().filter(|alike| alike.len() > 1).flatten();
            let mut new: Vec<usize> = alike.filter(|number| !numbered.contains_key(number)).collect();
            if new.is_empty() {
                return Subjects { shown, has_numbers: !numbered.is_empty() };
            }
            new.sort_unstable();
            for number in new {
                let end = format!("#{}", numbered.len() + 1);
                numbered.insert(number, numbered.len());
                shown.insert(number, fitted(number, width.saturating_sub(end.len())) + &end);
            }
        }
    }

    /// Returns whether instances look alike in that width.
    pub(super) fn has_numbers(&self) -> bool {
        self.has_numbers
    }

    pub(super) fn shown(&self, number: usize) -> &str {
        self.shown.get(&number).map_or("", String::as_str)
    }
}

impl Timeline<'_> {
    /// The instances of the rows.
    pub(super) fn instances(&self, open: &[OpenWait]) -> Instances {
        let of_row = |row: &Row| (row.number, (row.lifecycle.clone(), row.instance(self)));
        let of_wait = |wait: &OpenWait| (wait.number, (wait.lifecycle.clone(), wait.instance.clone()));
        self.rows.iter().map(of_row).chain(open.iter().map(of_wait)).collect()
    }
}
