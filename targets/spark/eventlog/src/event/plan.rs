//! A physical plan in an event: which of its metrics count files, and which of its exchanges are read
//! in how many partitions. Everything else of it is passed over.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// How deep a plan may nest. Spark's own recursion gives up near a thousand operators.
const DEEPEST: usize = 2_000;

/// What a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileMetric {
    FilesRead,
    BytesRead,
    FilesWritten,
    BytesWritten,
}

impl FileMetric {
    /// The names are those of Spark's own operators; they are not translated.
    fn of(name: &str) -> Option<Self> {
        match name {
            "number of files read" => Some(Self::FilesRead),
            "size of files read" => Some(Self::BytesRead),
            "number of written files" => Some(Self::FilesWritten),
            "written output" => Some(Self::BytesWritten),
            _ => None,
        }
    }
}

/// A metric of an operator: its name, and the accumulator that holds its value.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Metric {
    name: String,
    #[serde(rename = "accumulatorId")]
    accumulator: i64,
}

/// What matters of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Accumulators that count files.
    pub(crate) files: Vec<(i64, FileMetric)>,
    /// Accumulators of the partitions of an exchange: written by it, and, where adaptive execution
    /// reads it otherwise, read from it.
    pub(crate) shuffles: Vec<(i64, Option<i64>)>,
    /// All accumulators that an operator of the plan has.
    pub(crate) accumulators: Vec<i64>,
}

impl Plan {
    pub(super) fn of_metrics(metrics: &[Metric]) -> Self {
        let file = |one: &Metric| Some((one.accumulator, FileMetric::of(&one.name)?));
        Self {
            files: metrics.iter().filter_map(file).collect(),
            shuffles: Vec::new(),
            accumulators: metrics.iter().map(|one| one.accumulator).collect(),
        }
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut plan = Self::default();
        Operator {
            plan: &mut plan,
            depth: 0,
        }
        .deserialize(deserializer)?;
        Ok(plan)
    }
}

/// Exchanges at the top of what an operator hands up: those that a reader of shuffles above it reads.
type Exchanges = Vec<usize>;

struct Operator<'a> {
    plan: &'a mut Plan,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Operator<'_> {
    type Value = Exchanges;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Exchanges, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Operator<'_> {
    type Value = Exchanges;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an operator")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Exchanges, A::Error> {
        if self.depth > DEEPEST {
            return Err(A::Error::custom("the plan nests too deep"));
        }
        let mut name = String::new();
        let mut partitions = None;
        let mut below = Exchanges::new();
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "nodeName" => name = map.next_value()?,
                "children" => {
                    below = map.next_value_seed(Operators {
                        plan: self.plan,
                        depth: self.depth + 1,
                    })?;
                }
                "metrics" => {
                    for metric in map.next_value::<Vec<Metric>>()? {
                        self.plan.accumulators.push(metric.accumulator);
                        if let Some(kind) = FileMetric::of(&metric.name) {
                            self.plan.files.push((metric.accumulator, kind));
                        } else if metric.name == "number of partitions" {
                            partitions = Some(metric.accumulator);
                        }
                    }
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        match (&*name, partitions) {
            ("Exchange" | "ReusedExchange", Some(written)) => {
                self.plan.shuffles.push((written, None));
                Ok(vec![self.plan.shuffles.len() - 1])
            }
            ("AQEShuffleRead", Some(read)) => {
                if let [one] = *below {
                    self.plan.shuffles[one].1 = Some(read);
                }
                Ok(Vec::new())
            }
            // Stages stand between a reader and its exchange.
            ("ShuffleQueryStage", _) => Ok(below),
            _ => Ok(Vec::new()),
        }
    }
}

struct Operators<'a> {
    plan: &'a mut Plan,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Operators<'_> {
    type Value = Exchanges;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Exchanges, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Operators<'_> {
    type Value = Exchanges;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operators")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut operators: A) -> Result<Exchanges, A::Error> {
        let mut exchanges = Exchanges::new();
        let depth = self.depth;
        while let Some(below) = operators.next_element_seed(Operator {
            plan: &mut *self.plan,
            depth,
        })? {
            exchanges.extend(below);
        }
        Ok(exchanges)
    }
}

/// A key, borrowed where it can be.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}
