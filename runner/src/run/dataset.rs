//! The logs of a run: generated ones from the cache, or a folder that exists.

use super::error::RunError as Error;
use crate::scenario::DatasetSource;
use bench_generator::{
    DATASET_FILE, Dataset, GENERATOR_VERSION, Options, Overrides, Progress, Spec, generate,
};
use bench_hl7::discover;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Logs, and what is known of them.
pub(crate) struct Logs {
    /// Their folder, absolute.
    pub(crate) root: PathBuf,
    /// Each by its path relative to the folder, in path order.
    pub(crate) paths: Vec<String>,
    /// What identifies them.
    pub(crate) identity: Identity,
    /// The data set, where it is a generated one.
    pub(crate) truth: Option<Dataset>,
}

/// What identifies a data set: two runs are about the same logs if and only if the digests are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// XXH3-128 over one line a log, `path TAB bytes TAB digest LF`, in path order.
    pub(crate) digest: String,
    /// Logs.
    pub(crate) log_files: u64,
    /// Bytes of all logs.
    pub(crate) bytes: u64,
    /// Messages, where a generator has counted them.
    pub(crate) messages: Option<u64>,
    /// Version of the generator that made it.
    pub(crate) generator_version: Option<u32>,
    /// The generator's profile.
    pub(crate) profile: Option<String>,
    /// Its seed.
    pub(crate) seed: Option<u64>,
    /// The folder.
    pub(crate) path: PathBuf,
    /// Whether the truth is known, so that rows can be verified against it.
    pub(crate) truth: bool,
}

/// The logs that a scenario asks for. Generated ones are taken from the cache if they are there and
/// still have the digest that they were made with.
pub(crate) fn prepare(
    source: &DatasetSource,
    cache: &Path,
    progress: &dyn Progress,
) -> Result<Logs, Error> {
    match source {
        DatasetSource::Generated { profile, overrides } => {
            generated(profile, overrides, cache, progress)
        }
        DatasetSource::Folder(path) => folder(path),
    }
}

fn generated(
    profile: &str,
    overrides: &Overrides,
    cache: &Path,
    progress: &dyn Progress,
) -> Result<Logs, Error> {
    let spec = Spec::load(profile, overrides)?;
    let key = key(&spec);
    let name = format!("{}-{key:016x}", spec.file().name());
    let place = cache.join(&name);
    create_dir(cache)?;
    // Two runs that need the same data set: the second waits and then finds it.
    let _lock = super::folder::lock(&cache.join(format!("{name}.lock")), true)?;
    let mut found = Dataset::open(&place).ok();
    if let Some(dataset) = &found
        && dataset.check_files().is_err()
    {
        found = None;
    }
    let dataset = if let Some(dataset) = found {
        dataset
    } else {
        remove(&place)?;
        let unfinished = cache.join(format!("{name}.unfinished"));
        remove(&unfinished)?;
        let options = Options {
            out: unfinished.clone(),
            threads: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            only_files: None,
            resume: false,
        };
        generate(spec, &options, progress)?;
        fs::rename(&unfinished, &place).map_err(Error::at("name", &place))?;
        Dataset::open(&place)?
    };
    of_dataset(place, dataset)
}

/// Names a spec among those of the cache.
fn key(spec: &Spec) -> u64 {
    let text = serde_json::to_string(spec.file()).unwrap_or_default();
    xxhash_rust::xxh3::xxh3_64(format!("{GENERATOR_VERSION}\n{text}").as_bytes())
}

fn of_dataset(place: PathBuf, dataset: Dataset) -> Result<Logs, Error> {
    let info = dataset.info();
    let identity = Identity {
        digest: info.digest.clone(),
        log_files: info.log_files,
        bytes: info.bytes,
        messages: Some(info.messages()),
        generator_version: Some(info.generator_version),
        profile: Some(info.spec.name().to_owned()),
        seed: Some(info.spec.seed()),
        path: place.clone(),
        truth: true,
    };
    Ok(Logs {
        paths: info.files.iter().map(|file| file.path.clone()).collect(),
        root: place,
        identity,
        truth: Some(dataset),
    })
}

/// A folder of logs. One that the generator has made and nobody has changed since brings its truth.
pub(super) fn folder(path: &Path) -> Result<Logs, Error> {
    let root = path.canonicalize().map_err(Error::at("read", path))?;
    if root.join(DATASET_FILE).exists() {
        let dataset = Dataset::open(&root)?;
        dataset.check_files()?;
        if dataset.info().only_files.is_none() {
            return of_dataset(root, dataset);
        }
    }
    let logs = discover(&root)?;
    if logs.is_empty() {
        return Err(Error::NoLogs { path: root });
    }
    let mut whole = Xxh3::new();
    let mut bytes = 0;
    for log in &logs {
        // A log that cannot be read is the engine's to report; here it has no bytes.
        let content = fs::read(&log.path).unwrap_or_default();
        bytes += content.len() as u64;
        let digest = xxh3_128(&content);
        let line = format!("{}\t{}\t{digest:032x}\n", log.relative, content.len());
        whole.update(line.as_bytes());
    }
    Ok(Logs {
        identity: Identity {
            digest: format!("{:032x}", whole.digest128()),
            log_files: logs.len() as u64,
            bytes,
            messages: None,
            generator_version: None,
            profile: None,
            seed: None,
            path: root.clone(),
            truth: false,
        },
        paths: logs.into_iter().map(|log| log.relative).collect(),
        root,
        truth: None,
    })
}

/// The logs of each workflow: up to `size` in path order, the whole so many times.
pub(crate) fn batches(paths: &[String], size: u32, passes: u32) -> Vec<Vec<String>> {
    let one: Vec<Vec<String>> = paths
        .chunks(size.max(1) as usize)
        .map(<[String]>::to_vec)
        .collect();
    (0..passes).flat_map(|_| one.clone()).collect()
}

fn create_dir(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(Error::at("create", path))
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::at("remove", path)(error))
        }
        _ => Ok(()),
    }
}
