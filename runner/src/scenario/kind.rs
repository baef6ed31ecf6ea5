//! What the value of a key may be: how it is read, described, written, and told to editors.

use super::source::{Node, Tree};
use super::units;
use crate::terminal::thousands;
use bench_embedded::{COUNTS, SettingKind, Settings};
use serde_json::json;
use std::time::Duration;

/// What a key's value may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Boolean,
    /// A whole number within bounds.
    Count {
        least: u64,
        most: u64,
    },
    /// A number within bounds.
    Number {
        least: f64,
        most: f64,
    },
    /// A text that is not empty.
    Text,
    /// A name that can be part of a file's name.
    Name,
    /// A day, as text or as TOML's date.
    Day,
    /// One of these words.
    Choice(&'static [Word]),
    /// A duration of at least this, and at most [`LONGEST`].
    Duration {
        least: Duration,
    },
    /// Bytes, at least so many.
    Size {
        least: u64,
    },
    /// A list of texts.
    Words,
    /// A setting that the embedded engine knows.
    Setting(&'static str, SettingKind),
    /// A setting that another engine may know.
    Scalar,
    /// Nothing yet.
    NotBuilt,
}

/// A word of a choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub(super) name: &'static str,
    /// Whether the part that it asks for exists.
    pub(super) is_built: bool,
}

/// A word whose part exists.
pub(super) const fn word(name: &'static str) -> Word {
    Word {
        name,
        is_built: true,
    }
}

/// A word whose part is planned.
pub(super) const fn planned(name: &'static str) -> Word {
    Word {
        name,
        is_built: false,
    }
}

/// No duration is longer.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);
/// What lifts a limit that a base has set.
pub(super) const NONE: &str = "none";
/// Names are at most so long, since they become parts of file names.
const LONGEST_NAME: usize = 100;

/// A value that was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// A text, a name, a day or a word.
    Text(String),
    /// A duration.
    Duration(Duration),
    /// Bytes.
    Size(u64),
    /// A list of texts.
    Words(Vec<String>),
    /// A limit of the base is lifted.
    Lifted,
}

impl Value {
    /// As TOML.
    #[must_use]
    pub fn toml(&self) -> String {
        match self {
            Self::Boolean(value) => value.to_string(),
            Self::Count(value) => value.to_string(),
            Self::Number(value) => toml::Value::Float(*value).to_string(),
            Self::Text(value) => toml::Value::String(value.clone()).to_string(),
            Self::Duration(value) => format!("\"{}\"", units::duration_text(*value)),
            Self::Size(value) => format!("\"{}\"", units::size_text(*value)),
            Self::Words(words) => {
                let words: Vec<String> = words
                    .iter()
                    .map(|word| toml::Value::String(word.clone()).to_string())
                    .collect();
                format!("[{}]", words.join(", "))
            }
            Self::Lifted => format!("\"{NONE}\""),
        }
    }

    /// As JSON: durations in seconds, sizes in bytes.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        match self {
            Self::Boolean(value) => json!(value),
            Self::Count(value) | Self::Size(value) => json!(value),
            Self::Number(value) => json!(value),
            Self::Text(value) => json!(value),
            Self::Duration(value) => json!(value.as_secs_f64()),
            Self::Words(words) => json!(words),
            Self::Lifted => serde_json::Value::Null,
        }
    }
}

/// Whether a text can be part of a file's name anywhere.
pub(super) fn is_name(text: &str) -> bool {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(is_plain)
        && !text.ends_with('.')
        && text.len() <= LONGEST_NAME
}

/// What a name may be.
pub(super) const NAME: &str = "a name of letters, digits, `-`, `_` and `.` that begins with a \
                               letter or digit, does not end in `.` and has at most 100 characters";

impl Kind {
    /// Reads a value; else says what is wrong with it.
    pub(crate) fn read(&self, node: &Node) -> Result<Value, String> {
        let wrong = || format!("is {}; allowed is {}", node.tree.describe(), self.allowed());
        let value = match (self, &node.tree) {
            (Self::NotBuilt, _) => return Err("is not built yet: leave it out".to_owned()),
            (Self::Boolean, Tree::Boolean(value)) => Some(Value::Boolean(*value)),
            (Self::Count { least, most }, Tree::Integer(value)) => u64::try_from(*value)
                .ok()
                .filter(|value| (least..=most).contains(&value))
                .map(Value::Count),
            (Self::Number { least, most }, Tree::Integer(_) | Tree::Float(_)) => {
                let value = match node.tree {
                    Tree::Integer(value) => value as f64,
                    Tree::Float(value) => value,
                    _ => f64::NAN,
                };
                (*least..=*most)
                    .contains(&value)
                    .then_some(Value::Number(value))
            }
            (Self::Text, Tree::String(text)) => {
                (!text.is_empty() && !text.contains('\0')).then(|| Value::Text(text.clone()))
            }
            (Self::Name, Tree::String(text)) => is_name(text).then(|| Value::Text(text.clone())),
            (Self::Day, Tree::String(text) | Tree::Datetime(text)) => {
                Some(Value::Text(text.clone()))
            }
            (Self::Choice(words), Tree::String(text)) => {
                match words.iter().find(|word| word.name == text) {
                    Some(word) if !word.is_built => {
                        return Err(format!(
                            "is {text:?}, which is not built yet; allowed is {}",
                            self.allowed()
                        ));
                    }
                    Some(_) => Some(Value::Text(text.clone())),
                    None => {
                        let names = words.iter().map(|word| word.name);
                        let hint = super::keys::nearest(text, names)
                            .map(|near| format!("; the nearest is \"{near}\""))
                            .unwrap_or_default();
                        return Err(wrong() + &hint);
                    }
                }
            }
            (Self::Duration { least }, Tree::String(text)) => units::duration(text)
                .filter(|value| (least..=&LONGEST).contains(&value))
                .map(Value::Duration),
            (Self::Size { least }, Tree::String(_) | Tree::Integer(_)) => {
                let bytes = match &node.tree {
                    Tree::String(text) => units::size(text),
                    Tree::Integer(value) => u64::try_from(*value).ok(),
                    _ => None,
                };
                bytes.filter(|bytes| bytes >= least).map(Value::Size)
            }
            (Self::Words, Tree::Array(items)) => items
                .iter()
                .map(|item| match &item.tree {
                    Tree::String(text) => Some(text.clone()),
                    _ => None,
                })
                .collect::<Option<Vec<String>>>()
                .map(Value::Words),
            (Self::Setting(name, kind), tree) => {
                return setting(name, *kind, tree).ok_or_else(wrong);
            }
            (Self::Scalar, Tree::Boolean(value)) => Some(Value::Boolean(*value)),
            (Self::Scalar, Tree::Integer(value)) => u64::try_from(*value).ok().map(Value::Count),
            (Self::Scalar, Tree::Float(value)) => {
                value.is_finite().then_some(Value::Number(*value))
            }
            (Self::Scalar, Tree::String(text)) => Some(Value::Text(text.clone())),
            _ => None,
        };
        value.ok_or_else(wrong)
    }

    /// What is allowed, in words that follow "allowed is".
    pub(super) fn allowed(&self) -> String {
        match self {
            Self::Boolean => "true or false".to_owned(),
            Self::Count { least, most } if least == most => least.to_string(),
            Self::Count { least, most } if *most >= WHOLE.1 => {
                format!("a whole number from {} up", thousands(*least))
            }
            Self::Count { least, most } => format!(
                "a whole number from {} to {}",
                thousands(*least),
                thousands(*most)
            ),
            Self::Number { least, most } => format!("a number from {least} to {most}"),
            Self::Text => "a text that is not empty".to_owned(),
            Self::Name => NAME.to_owned(),
            Self::Day => "a day, YYYY-MM-DD".to_owned(),
            Self::Choice(words) => {
                let built: Vec<String> = words
                    .iter()
                    .filter(|word| word.is_built)
                    .map(|word| format!("\"{}\"", word.name))
                    .collect();
                match built.split_last() {
                    Some((last, [])) => last.clone(),
                    Some((last, before)) => format!("{} or {last}", before.join(", ")),
                    None => "nothing yet".to_owned(),
                }
            }
            Self::Duration { least } if least.is_zero() => units::DURATION.to_owned(),
            Self::Duration { least } => format!(
                "{}, at least {}",
                units::DURATION,
                units::duration_text(*least)
            ),
            Self::Size { least } => {
                format!("{}, at least {}", units::SIZE, units::size_text(*least))
            }
            Self::Words => "a list of texts".to_owned(),
            Self::Setting(_, SettingKind::Boolean) => "true or false".to_owned(),
            Self::Setting(_, SettingKind::Count) => format!(
                "a whole number from {} to {}",
                COUNTS.start(),
                thousands(u64::from(*COUNTS.end()))
            ),
            Self::Setting(_, SettingKind::Vacuum) => {
                "\"never\", \"end\" or a number of workflows".to_owned()
            }
            Self::Setting(_, SettingKind::Duration) => {
                "a text with a whole number and s, min, h or d, such as \"168h\"".to_owned()
            }
            Self::Scalar => "true or false, a number or a text".to_owned(),
            Self::NotBuilt => "nothing yet".to_owned(),
        }
    }

    /// The same for editors, as JSON Schema. It may be laxer than [`Self::read`], never stricter.
    pub(super) fn schema(&self) -> serde_json::Value {
        match self {
            Self::Boolean | Self::Setting(_, SettingKind::Boolean) => json!({"type": "boolean"}),
            Self::Count { least, most } => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Self::Number { least, most } => {
                json!({"type": "number", "minimum": least, "maximum": most})
            }
            Self::Text => json!({"type": "string", "minLength": 1}),
            Self::Name => json!({
                "type": "string",
                "pattern": "^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9_-])?$",
                "maxLength": LONGEST_NAME,
            }),
            Self::Day => json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}),
            Self::Choice(words) => {
                let names: Vec<&str> = words
                    .iter()
                    .filter(|word| word.is_built)
                    .map(|word| word.name)
                    .collect();
                json!({"enum": names})
            }
            Self::Duration { .. } => json!({"type": "string", "pattern": "^ *[0-9].*[a-zµ] *$"}),
            Self::Size { least } => json!({"anyOf": [
                {"type": "string", "pattern": "^[0-9]"},
                {"type": "integer", "minimum": least},
            ]}),
            Self::Words => json!({"type": "array", "items": {"type": "string"}}),
            Self::Setting(_, SettingKind::Count) => {
                json!({"type": "integer", "minimum": COUNTS.start(), "maximum": COUNTS.end()})
            }
            Self::Setting(_, SettingKind::Vacuum) => json!({"anyOf": [
                {"enum": ["never", "end"]},
                {"type": "integer", "minimum": 1},
            ]}),
            Self::Setting(_, SettingKind::Duration) => {
                json!({"type": "string", "pattern": "^[0-9]+ *(s|min|h|d)$"})
            }
            Self::Scalar => json!({"type": ["boolean", "number", "string"]}),
            Self::NotBuilt => json!(false),
        }
    }
}

/// Whole numbers as TOML has them, from 0 up.
pub(super) const WHOLE: (u64, u64) = (0, i64::MAX as u64);

/// Reads a setting by the engine's own rules.
fn setting(name: &str, kind: SettingKind, tree: &Tree) -> Option<Value> {
    let (text, value) = match (kind, tree) {
        (SettingKind::Boolean, Tree::Boolean(value)) => (value.to_string(), Value::Boolean(*value)),
        (SettingKind::Count | SettingKind::Vacuum, Tree::Integer(value)) => {
            (value.to_string(), Value::Count(u64::try_from(*value).ok()?))
        }
        (SettingKind::Vacuum | SettingKind::Duration, Tree::String(text)) => {
            // A number of workflows is a number, not a text.
            if kind == SettingKind::Vacuum && text.parse::<u64>().is_ok() {
                return None;
            }
            (text.clone(), Value::Text(text.clone()))
        }
        _ => return None,
    };
    Settings::default().set(name, &text).ok()?;
    Some(value)
}
