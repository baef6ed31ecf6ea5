//! A data set on disk: what `dataset.json` says, and looking messages up again.

use crate::error::Error;
use crate::maker::{Maker, MessageTruth, Outcome, Plan, Scratch};
use crate::spec::{Spec, SpecFile};
use crate::totals::{LOGS_PER_WORKFLOW, Totals};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The version of the generator: another one may make other bytes from the same spec. Raised with
/// every change of a golden digest, and said in the changelog.
pub const GENERATOR_VERSION: u32 = 2;

/// Name of the file that describes a data set. It is written last.
pub const DATASET_FILE: &str = "dataset.json";

const FORMAT: u32 = 1;

/// A log of a data set.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Path within the data set.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// XXH3-128 of its bytes, 32 hexadecimal digits.
    pub digest: String,
    /// Messages that the platform reads in it, empty and unparsable ones included.
    pub messages: u32,
    /// Whether the whole log fails, since nothing in it begins with `<SB>`.
    pub failed: bool,
}

/// What a data set is: the contents of `dataset.json`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DatasetInfo {
    /// Version of this file's form.
    pub format: u32,
    /// Version of the generator that made it.
    pub generator_version: u32,
    /// XXH3-128 over one line a log, `path TAB bytes TAB digest LF`, in path order.
    pub digest: String,
    /// The spec with every key.
    pub spec: SpecFile,
    /// Logs that were written, from and before, where not all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_files: Option<(u64, u64)>,
    /// Logs.
    pub log_files: u64,
    /// Bytes of all logs.
    pub bytes: u64,
    /// Messages written, by what the platform makes of them.
    pub outcomes: BTreeMap<String, u64>,
    /// Messages by injected fault.
    pub faults: BTreeMap<String, u64>,
    /// Logs that one workflow takes in `tables`, in path order.
    pub logs_per_workflow: u64,
    /// Rows of each table after all workflows; absent where not all logs were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<BTreeMap<String, u64>>,
    /// The logs, in path order.
    pub files: Vec<FileEntry>,
}

impl DatasetInfo {
    pub(crate) fn new(
        spec: &Spec,
        only_files: Option<&Range<u64>>,
        totals: &Totals,
        files: Vec<FileEntry>,
    ) -> Self {
        let mut whole = Xxh3::new();
        for file in &files {
            let line = format!("{}\t{}\t{}\n", file.path, file.bytes, file.digest);
            whole.update(line.as_bytes());
        }
        Self {
            format: FORMAT,
            generator_version: GENERATOR_VERSION,
            digest: hex(whole.digest128()),
            spec: spec.file().clone(),
            only_files: only_files.map(|range| (range.start, range.end)),
            log_files: files.len() as u64,
            bytes: files.iter().map(|file| file.bytes).sum(),
            outcomes: totals.outcomes(),
            faults: totals.faults(),
            logs_per_workflow: LOGS_PER_WORKFLOW,
            tables: only_files.is_none().then(|| totals.tables()),
            files,
        }
    }

    /// The file as text: the head indented, then a line a log.
    pub(crate) fn to_json(&self) -> String {
        let head = Self {
            files: Vec::new(),
            ..self.clone()
        };
        let head = serde_json::to_string_pretty(&head).expect("a data set's head is JSON");
        let mut text = head
            .strip_suffix("[]\n}")
            .expect("the list of files stands last")
            .to_owned();
        text.push('[');
        for (at, file) in self.files.iter().enumerate() {
            text.push_str(if at == 0 { "\n    " } else { ",\n    " });
            text.push_str(&serde_json::to_string(file).expect("a file entry is JSON"));
        }
        text.push_str("\n  ]\n}\n");
        text
    }

    /// Messages of the plan. A message that another one swallows is written besides, and counts
    /// only among the outcomes (`joined`).
    #[must_use]
    pub fn messages(&self) -> u64 {
        let joined = self.outcomes.get(Outcome::Joined.name());
        self.outcomes.values().sum::<u64>() - joined.copied().unwrap_or(0)
    }
}

/// XXH3-128 of bytes as hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(xxh3_128(bytes))
}

fn hex(hash: u128) -> String {
    format!("{hash:032x}")
}

/// A data set that stands in a folder.
pub struct Dataset {
    folder: PathBuf,
    info: DatasetInfo,
    plan: Plan,
}

impl Dataset {
    /// Opens a finished data set.
    ///
    /// # Errors
    /// [`Error::Dataset`] if the folder holds none, or one of another version; [`Error::Io`].
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let info = read_info(folder)?;
        let plan = Plan::new(Spec::resolved(info.spec.clone())?);
        Ok(Self {
            folder: folder.to_path_buf(),
            info,
            plan,
        })
    }

    /// What `dataset.json` says.
    #[must_use]
    pub fn info(&self) -> &DatasetInfo {
        &self.info
    }

    /// Reads every log and compares it with its recorded size and digest.
    ///
    /// # Errors
    /// [`Error::Dataset`] naming the first log that differs; [`Error::Io`] if one cannot be read.
    pub fn check_files(&self) -> Result<(), Error> {
        for file in &self.info.files {
            let path = self.folder.join(&file.path);
            let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
            if bytes.len() as u64 != file.bytes || digest(&bytes) != file.digest {
                return Err(Error::Dataset {
                    path,
                    what: format!(
                        "is not as it was made: {} bytes with another digest than the {} recorded",
                        bytes.len(),
                        file.bytes
                    ),
                });
            }
        }
        Ok(())
    }

    /// Makes one log again and hands over the truth of each of its messages, in the order of the
    /// log. The log is named by its path within the data set, its file name or its stem.
    ///
    /// # Errors
    /// [`Error::NoSuchMessage`] if there is no such log.
    pub fn log(&self, log: &str, look: impl FnMut(&MessageTruth<'_>)) -> Result<(), Error> {
        let at = self.find(log)?;
        let maker = Maker::new(&self.plan);
        maker.log(at, &mut Vec::new(), &mut Scratch::default(), look);
        Ok(())
    }

    fn find(&self, log: &str) -> Result<usize, Error> {
        let logs = &self.plan.timeline.logs;
        let name = Path::new(log).file_stem().and_then(|stem| stem.to_str());
        let place = logs.iter().position(|plan| {
            Some(plan.stem().as_str()) == name
                && (Path::new(&plan.path()).ends_with(log)
                    || Path::new(log).ends_with(plan.path())
                    || Some(log) == name)
        });
        place.ok_or_else(|| Error::NoSuchMessage {
            what: format!("the data set has no log {log}"),
        })
    }

    /// Makes one message again and hands over its truth. The log is named as in [`Self::log`];
    /// `ordinal` counts from 0 within the log, as the platform does.
    ///
    /// # Errors
    /// [`Error::NoSuchMessage`] if there is no such log or message.
    pub fn message<T>(
        &self,
        log: &str,
        ordinal: u32,
        look: impl FnOnce(&MessageTruth<'_>) -> T,
    ) -> Result<T, Error> {
        let mut look = Some(look);
        let mut found = None;
        let mut count = 0;
        self.log(log, |truth| {
            count += u32::from(truth.ordinal.is_some());
            if truth.ordinal == Some(ordinal)
                && let Some(look) = look.take()
            {
                found = Some(look(truth));
            }
        })?;
        found.ok_or_else(|| Error::NoSuchMessage {
            what: match count {
                0 => format!("no message is read in log {log}"),
                1 => format!("log {log} has one message, number 0: there is no number {ordinal}"),
                _ => format!(
                    "log {log} has messages 0 to {}: there is no number {ordinal}",
                    count - 1
                ),
            },
        })
    }
}

/// Reads `dataset.json` of a finished data set.
pub(crate) fn read_info(folder: &Path) -> Result<DatasetInfo, Error> {
    let path = folder.join(DATASET_FILE);
    let missing = |what: &str| Error::Dataset {
        path: folder.to_path_buf(),
        what: what.to_owned(),
    };
    if !path.exists() {
        return Err(missing(
            if folder.join(crate::write::UNFINISHED_FILE).exists() {
                "is an unfinished data set: finish it with --resume"
            } else {
                "holds no data set: there is no dataset.json"
            },
        ));
    }
    let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
    let head: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| missing(&format!("has a dataset.json that cannot be read: {error}")))?;
    let number = |key: &str| head.get(key).and_then(serde_json::Value::as_u64);
    for (key, here) in [("format", FORMAT), ("generator_version", GENERATOR_VERSION)] {
        if number(key) != Some(u64::from(here)) {
            return Err(missing(&format!(
                "has {key} {}, and this program makes and reads {key} {here}: make it again",
                number(key).map_or_else(|| "none".to_owned(), |found| found.to_string()),
            )));
        }
    }
    serde_json::from_value(head)
        .map_err(|error| missing(&format!("has a dataset.json that cannot be read: {error}")))
}
