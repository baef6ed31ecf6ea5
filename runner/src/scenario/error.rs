//! What is wrong with a scenario: everything at once, each with its place.

use super::source::Place;
use std::collections::BTreeSet;
use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScenarioError {
    /// Where it was written, if it was.
    pub place: Option<Place>,
    /// The scenario's file, as it was named.
    pub file: String,
    /// The dotted key that it concerns.
    pub key: Option<String>,
    /// What is wrong and what is allowed.
    pub what: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(Place::File { line, column }) => write!(f, "{}:{line}:{column}: ", self.file)?,
            Some(Place::Flag(flag)) => write!(f, "{flag}: ")?,
            None => write!(f, "{}: ", self.file)?,
        }
        if let Some(key) = &self.key {
            write!(f, "`{key}` ")?;
        }
        f.write_str(&self.what)
    }
}

/// Everything that is wrong with a scenario, at least one thing, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioErrors(Vec<ScenarioError>);

impl ScenarioErrors {
    /// Each of them.
    #[must_use]
    pub fn all(&self) -> &[ScenarioError] {
        &self.0
    }

    pub(crate) fn one(file: &str, what: impl Into<String>) -> Self {
        Self(vec![ScenarioError {
            place: None,
            file: file.to_owned(),
            key: None,
            what: what.into(),
        }])
    }
}

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_faults(f, "scenario", &self.0)
    }
}

/// The only fault of a file, or each on a line of its own.
pub(crate) fn write_faults(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    faults: &[ScenarioError],
) -> fmt::Result {
    if let [only] = faults {
        return write!(f, "{only}");
    }
    write!(f, "the {what} has {} faults", faults.len())?;
    for fault in faults {
        write!(f, "\n  {fault}")?;
    }
    Ok(())
}

impl std::error::Error for ScenarioErrors {}

/// Collects what is wrong while a scenario is read.
pub(crate) struct Errors {
    file: String,
    found: BTreeSet<ScenarioError>,
    /// Keys whose value could not be read: what depends on them is not judged.
    unread: BTreeSet<String>,
}

impl Errors {
    pub(crate) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            found: BTreeSet::new(),
            unread: BTreeSet::new(),
        }
    }

    /// Notes that something is wrong with a key.
    pub(crate) fn at(&mut self, place: &Place, key: &str, what: impl Into<String>) {
        self.push(Some(place.clone()), Some(key.to_owned()), what.into());
    }

    /// Notes that a key's value, or a section that ends in a full stop, cannot be read.
    pub(crate) fn unread(&mut self, key: &str) {
        self.unread.insert(key.to_owned());
    }

    /// How many things were found.
    pub(crate) fn count(&self) -> usize {
        self.found.len()
    }

    /// Notes that something is wrong at a place, whatever the key.
    pub(crate) fn plain(&mut self, place: Option<Place>, what: impl Into<String>) {
        self.push(place, None, what.into());
    }

    fn push(&mut self, place: Option<Place>, key: Option<String>, what: String) {
        let file = self.file.clone();
        self.found.insert(ScenarioError {
            place,
            file,
            key,
            what,
        });
    }

    /// Whether these keys could be read wherever they stand.
    pub(crate) fn could_read(&self, keys: &[&str]) -> bool {
        let is_of = |unread: &String, key: &str| {
            unread == key || unread.ends_with('.') && key.starts_with(unread.as_str())
        };
        !self
            .unread
            .iter()
            .any(|unread| keys.iter().any(|key| is_of(unread, key)))
    }

    /// The value, or everything that was found.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, ScenarioErrors> {
        match value {
            Some(value) if self.found.is_empty() => Ok(value),
            _ => Err(ScenarioErrors(self.found.into_iter().collect())),
        }
    }
}
