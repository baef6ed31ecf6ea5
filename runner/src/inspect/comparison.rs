//! What the standard reads where the platform reads a column.

use super::origin::Origin;
use bench_hl7::inspect::{field, segment_lines};
use bench_hl7::{Delimiters, FieldPath, Message, StandardValue, Stop};
use bumpalo::Bump;
use serde::Serialize;

/// Segments of one name, repetitions and components that are looked up: each look-up walks the
/// whole message, and a stranger's message may hold any number of them.
const MAX_SEGMENTS: usize = 200;
const MAX_REPETITIONS: usize = 20;
const MAX_COMPONENTS: usize = 20;

/// What the standard reads in a field, beside what the platform reads there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Comparison {
    /// The same.
    Same,
    /// Something else, spelled with the usual delimiters.
    Different {
        /// What the standard reads.
        value: String,
    },
    /// Nothing, where the platform reads something.
    Absent,
    /// Unknown, since the parser stopped before.
    NotReached {
        /// Where and why.
        reason: String,
    },
}

impl Comparison {
    /// Compares what both modes read in a field.
    pub(super) fn of(platform: Option<&str>, standard: &StandardValue) -> Self {
        match (platform, standard) {
            (Some(platform), StandardValue::Value(value)) if value == platform => Self::Same,
            (None, StandardValue::Absent) => Self::Same,
            (_, StandardValue::Value(value)) => Self::Different {
                value: value.clone(),
            },
            (Some(_), StandardValue::Absent) => Self::Absent,
            (_, StandardValue::NotReached(stop)) => Self::NotReached {
                reason: stop_words(*stop),
            },
        }
    }

    /// Compares what both modes read where a column comes from; nothing to compare where another
    /// column shows the same field.
    pub(super) fn at(
        origin: Origin,
        message: &Message<'_>,
        delimiters: Option<Delimiters>,
        arena: &Bump,
    ) -> Option<Self> {
        let is_usual = delimiters.is_none_or(|delimiters| delimiters == Delimiters::USUAL);
        let look = |path: &FieldPath, has_parts: bool| {
            let reading = field(message, path, arena);
            let standard = match reading.standard {
                StandardValue::Value(value) if has_parts && !is_usual && !value.is_empty() => {
                    StandardValue::Value(respelled(message, path, arena))
                }
                other => other,
            };
            (reading.platform, standard)
        };
        match origin {
            Origin::Log | Origin::Follows(_) => None,
            Origin::Field(path) => {
                let path: FieldPath = path.parse().expect("origins are tested to be paths");
                let (platform, standard) = look(&path, path.component.is_none());
                Some(Self::of(platform, &standard))
            }
            Origin::Every(segment, number) => {
                let fields: Vec<_> = occurrences(message, segment, number, arena)
                    .map(|path| look(&path, segment != "OBX"))
                    .collect();
                Some(Self::of_all(&fields))
            }
        }
    }

    /// The comparison of fields that make one column together.
    fn of_all(fields: &[(Option<&str>, StandardValue)]) -> Self {
        let each = || {
            fields
                .iter()
                .map(|(platform, standard)| Self::of(*platform, standard))
        };
        if let Some(unknown) = each().find(|one| matches!(one, Self::NotReached { .. })) {
            return unknown;
        }
        if each().all(|one| one == Self::Same) {
            return Self::Same;
        }
        let values: Vec<&str> = fields
            .iter()
            .filter_map(|(_, standard)| match standard {
                StandardValue::Value(value) => Some(value.as_str()),
                _ => None,
            })
            .collect();
        Self::Different {
            value: values.join("\n"),
        }
    }
}

/// The same field of each segment of a name.
fn occurrences<'a>(
    message: &Message<'a>,
    segment: &'static str,
    number: usize,
    arena: &'a Bump,
) -> impl Iterator<Item = FieldPath> {
    segment_lines(message, arena)
        .filter(move |line| line.name == Some(segment))
        .take(MAX_SEGMENTS)
        .zip(1..)
        .map(move |(_, occurrence)| FieldPath {
            segment: segment.to_owned(),
            occurrence,
            field: number,
            repetition: None,
            component: None,
            subcomponent: None,
        })
}

/// A field that is written with other delimiters, with the usual ones.
fn respelled(message: &Message<'_>, path: &FieldPath, arena: &Bump) -> String {
    let part = |repetition, component| {
        let path = FieldPath {
            repetition: Some(repetition),
            component: Some(component),
            ..path.clone()
        };
        match field(message, &path, arena).standard {
            StandardValue::Value(value) => Some(value),
            StandardValue::Absent | StandardValue::NotReached(_) => None,
        }
    };
    let repetitions: Vec<String> = (1..=MAX_REPETITIONS)
        .map_while(|repetition| {
            let components: Vec<String> = (1..=MAX_COMPONENTS)
                .map_while(|component| part(repetition, component))
                .collect();
            (!components.is_empty()).then(|| components.join("^"))
        })
        .collect();
    repetitions.join("~")
}

/// Where and why the parser stopped.
fn stop_words(stop: Stop) -> String {
    format!("stopped at line {}: {}", stop.line, stop.reason)
}
