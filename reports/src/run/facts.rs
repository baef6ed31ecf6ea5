//! `run.json`, by dotted paths.
//!
//! It is kept as it stands rather than as a struct of its own: what a run knew of itself grows with
//! every version, old runs stay readable, and a run that was imported knows little. What is not there
//! is `None`, and the reader of it decides what that means.

use serde_json::Value;

/// What a run says of itself.
#[derive(Clone, Debug)]
pub struct Facts(pub(super) Value);

impl Facts {
    /// Facts from their JSON value, as `run.json` holds them.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self(value)
    }

    /// The value at a dotted path, unless it is not there or null.
    #[must_use]
    pub fn at(&self, path: &str) -> Option<&Value> {
        let found = path
            .split('.')
            .try_fold(&self.0, |value, name| value.get(name));
        found.filter(|value| !value.is_null())
    }

    /// The text at a path.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        self.at(path)?.as_str()
    }

    /// The number at a path.
    #[must_use]
    pub fn number(&self, path: &str) -> Option<f64> {
        self.at(path)?.as_f64()
    }

    /// The truth value at a path.
    #[must_use]
    pub fn flag(&self, path: &str) -> Option<bool> {
        self.at(path)?.as_bool()
    }

    /// The variants of the scenario, in its order.
    pub fn variants(&self) -> impl Iterator<Item = Self> {
        let variants = self.at("scenario.variants").and_then(Value::as_array);
        variants.into_iter().flatten().cloned().map(Self)
    }

    /// The variant of that name.
    #[must_use]
    pub fn variant(&self, name: &str) -> Option<Self> {
        self.variants().find(|one| one.text("name") == Some(name))
    }

    /// Names of the variants.
    #[must_use]
    pub fn variant_names(&self) -> Vec<String> {
        self.variants()
            .filter_map(|one| one.text("name").map(str::to_owned))
            .collect()
    }

    /// These facts with nothing but one variant.
    pub(super) fn only(&self, variant: &str) -> Option<Self> {
        let mut value = self.0.clone();
        let variants = value.pointer_mut("/scenario/variants")?.as_array_mut()?;
        variants.retain(|one| one["name"] == variant);
        (!variants.is_empty()).then_some(Self(value))
    }

    /// Whether somebody measured this by hand, and it was imported.
    #[must_use]
    pub fn imported(&self) -> bool {
        self.text("status") == Some("imported")
    }

    /// Everything below a path that is no object, with its dotted key, in the order of the keys.
    #[must_use]
    pub fn leaves(&self, path: &str) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        if let Some(value) = self.at(path) {
            collect(path, value, &mut found);
        }
        found
    }
}

fn collect(prefix: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                collect(&format!("{prefix}.{name}"), member, found);
            }
        }
        other => found.push((prefix.to_owned(), other.clone())),
    }
}
