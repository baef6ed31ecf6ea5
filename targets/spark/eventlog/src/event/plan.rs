//! A physical plan in an event: which of its metrics count files, and which of its exchanges are read
//! in how many partitions. Everything else of it is passed over.
//!
//! Plans nest as deep as queries do, deeper than serde_json follows, so no recursion is made over them.
//! Spark writes an operator as `{"nodeName":…,"simpleString":…,"children":[…],"metadata":{…},
//! "metrics":[…]}`, without blanks and in this order. Its first and its last key are searched for: as
//! quotation marks inside a string are escaped, neither is found in one. That the line is JSON is
//! serde's to say.

use memchr::memmem;
use serde::Deserialize;

const FIRST: &[u8] = b"{\"nodeName\":\"";
const LAST: &[u8] = b"\"metrics\":[";

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

/// An operator whose end has not come yet.
struct Open<'a> {
    name: &'a [u8],
    /// The exchange right below it, by its place in `Plan::shuffles`.
    exchange: Option<usize>,
}

impl Plan {
    /// The metrics of an event that has no plan around them.
    pub(super) fn of_metrics(metrics: &[Metric]) -> Self {
        let mut plan = Self::default();
        plan.metrics(metrics);
        plan
    }

    /// The plan in the text of an event; nothing where operators do not end in the order in which they
    /// began. An event without a plan has an empty one.
    pub(super) fn scan(text: &[u8]) -> Option<Self> {
        let mut plan = Self::default();
        let mut open: Vec<Open<'_>> = Vec::new();
        let mut first = memmem::find_iter(text, FIRST).peekable();
        for last in memmem::find_iter(text, LAST) {
            while let Some(at) = first.next_if(|at| *at < last) {
                let name = &text[at + FIRST.len()..];
                let name = &name[..memchr::memchr(b'"', name)?];
                let exchange = None;
                open.push(Open { name, exchange });
            }
            let ended = open.pop()?;
            // The array begins with the key's last byte; what follows it is left alone.
            let array = serde_json::Deserializer::from_slice(&text[last + LAST.len() - 1..]);
            let metrics: Vec<Metric> = array.into_iter().next()?.ok()?;
            let exchange = plan.end(&ended, &metrics);
            if let Some(above) = open.last_mut() {
                above.exchange = exchange;
            }
        }
        (open.is_empty() && first.next().is_none()).then_some(plan)
    }

    /// Takes an operator that has ended; hands up the exchange that one above it may read.
    fn end(&mut self, operator: &Open<'_>, metrics: &[Metric]) -> Option<usize> {
        let partitions = self.metrics(metrics);
        match (operator.name, partitions) {
            (b"Exchange" | b"ReusedExchange", Some(written)) => {
                self.shuffles.push((written, None));
                Some(self.shuffles.len() - 1)
            }
            (b"AQEShuffleRead", Some(read)) => {
                self.shuffles[operator.exchange?].1 = Some(read);
                None
            }
            // Stages stand between a reader and its exchange.
            (b"ShuffleQueryStage", _) => operator.exchange,
            _ => None,
        }
    }

    /// Takes the metrics of an operator; hands up the one that counts partitions.
    fn metrics(&mut self, metrics: &[Metric]) -> Option<i64> {
        let mut partitions = None;
        for Metric { name, accumulator } in metrics {
            self.accumulators.push(*accumulator);
            if let Some(kind) = FileMetric::of(name) {
                self.files.push((*accumulator, kind));
            } else if name == "number of partitions" {
                partitions = Some(*accumulator);
            }
        }
        partitions
    }
}
