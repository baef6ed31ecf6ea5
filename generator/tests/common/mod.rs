//! Small data sets for the tests.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its own part"
)]

use bench_generator::{DatasetInfo, Options, Overrides, Silent, Spec, generate};
use std::path::Path;

pub const SEED: u64 = 42;

pub fn total(messages: u64, log_files: u64) -> Overrides {
    Overrides {
        seed: Some(SEED),
        messages: Some(messages),
        log_files: Some(log_files),
        ..Overrides::default()
    }
}

pub fn rate(per_day: f64, days: u64) -> Overrides {
    Overrides {
        seed: Some(SEED),
        per_day: Some(per_day),
        days: Some(days),
        ..Overrides::default()
    }
}

pub fn options(out: &Path, threads: usize) -> Options {
    Options {
        out: out.to_path_buf(),
        threads,
        only_files: None,
        resume: false,
    }
}

pub fn make(profile: &str, overrides: &Overrides, out: &Path) -> DatasetInfo {
    let spec = Spec::load(profile, overrides).unwrap();
    generate(spec, &options(out, 2), &Silent).unwrap()
}

/// Every file of a folder with its bytes, by path.
pub fn contents(folder: &Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}
