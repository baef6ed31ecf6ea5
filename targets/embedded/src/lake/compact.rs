//! Compaction: small files of a table partition into few large ones, rows unchanged.
//!
//! Two kinds, as in Delta. Auto compaction runs after a commit, where a partition holds enough
//! small files. The explicit one (`OPTIMIZE`) of `reports_latest` is a clustering compaction: the
//! reference's table is clustered by accession, and every run there rewrites all files that are not
//! yet one cluster. Here the files are joined in the order of their least accession, row group by
//! row group; rows are not sorted across files, which would need the table in memory.

use super::commit::{Commit, Outcome};
use super::encode::FileWriter;
use super::log::{CLUSTERED, KeyRange, LiveFile};
use super::parallel;
use super::read;
use super::table::Table;
use crate::error::Result;
use crate::settings::Settings;
use deltalake::kernel::Add;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

const MIB: i64 = 1024 * 1024;
/// Largest file that auto compaction makes; half of it is no longer small.
const AUTO_FILE_BYTES: i64 = 128 * MIB;
/// Largest file that an explicit compaction makes.
const OPTIMIZE_FILE_BYTES: i64 = 1024 * MIB;

/// What a compaction did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Compacted {
    /// Files that went.
    pub(crate) removed: usize,
    /// Files that came.
    pub(crate) added: usize,
    /// Bytes that were written.
    pub(crate) bytes: i64,
}

/// Compacts partitions with enough small files; `None` where there are none.
pub(crate) fn auto(
    table: &mut Table,
    settings: &Settings,
    threads: usize,
) -> Result<Option<Compacted>> {
    if !settings.auto_compact {
        return Ok(None);
    }
    let least = settings.auto_compact_min_files as usize;
    compact(table, true, threads, |files| {
        let small: Vec<LiveFile> = files
            .into_iter()
            .filter(|file| file.size < AUTO_FILE_BYTES / 2)
            .collect();
        if small.len() < least {
            Vec::new()
        } else {
            bins(small, AUTO_FILE_BYTES)
        }
    })
}

/// Makes one cluster of all files that are not yet one; `None` where there is nothing to do.
pub(crate) fn cluster(table: &mut Table, threads: usize) -> Result<Option<Compacted>> {
    compact(table, false, threads, |files| {
        if files.len() == 1 && files[0].clustered {
            return Vec::new();
        }
        bins(files, OPTIMIZE_FILE_BYTES)
    })
}

fn compact(
    table: &mut Table,
    auto: bool,
    threads: usize,
    choose: impl Fn(Vec<LiveFile>) -> Vec<Vec<LiveFile>>,
) -> Result<Option<Compacted>> {
    let mut partitions: BTreeMap<Option<String>, Vec<LiveFile>> = BTreeMap::new();
    let column = table.table.partition_columns().first().copied();
    for file in table.files() {
        let value = column.and_then(|column| file.partition.get(column).cloned().flatten());
        partitions.entry(value).or_default().push(file.clone());
    }
    let chosen: Vec<Vec<LiveFile>> = partitions
        .into_values()
        .flat_map(&choose)
        .filter(|bin| bin.len() > 1 || (!auto && bin.len() == 1))
        .collect();
    if chosen.is_empty() {
        return Ok(None);
    }
    let (across, within) = if chosen.len() >= threads {
        (threads, 1)
    } else {
        (1, threads)
    };
    let this: &Table = table;
    let adds = parallel::map(across, &chosen, |bin| join(this, bin, !auto, within))?;
    let removes: Vec<LiveFile> = chosen.into_iter().flatten().collect();
    let compacted = Compacted {
        removed: removes.len(),
        added: adds.len(),
        bytes: adds.iter().map(|add| add.size).sum(),
    };
    let mut commit = Commit::new("OPTIMIZE");
    commit.data_change = false;
    commit.parameters = vec![
        ("predicate", "[]".to_owned()),
        ("auto", auto.to_string()),
        (
            "clusterBy",
            if auto {
                "[]".into()
            } else {
                "[\"accession_number\"]".into()
            },
        ),
        ("zOrderBy", "[]".to_owned()),
    ];
    let unsigned = |n: i64| u64::try_from(n).unwrap_or_default();
    commit.metrics = vec![
        ("numRemovedFiles", removes.len() as u64),
        (
            "numRemovedBytes",
            unsigned(removes.iter().map(|file| file.size).sum()),
        ),
        ("numAddedFiles", adds.len() as u64),
        ("numAddedBytes", unsigned(compacted.bytes)),
    ];
    commit.adds = adds;
    commit.removes = removes;
    // A compaction that another writer overtook is not worth repeating: the next one does it.
    match table.commit(&commit)? {
        Outcome::Committed(_) => Ok(Some(compacted)),
        Outcome::Conflict => Ok(None),
    }
}

/// Files in the order of their keys, cut where a bin would become too large.
fn bins(mut files: Vec<LiveFile>, most: i64) -> Vec<Vec<LiveFile>> {
    let least = |file: &LiveFile| match &file.key {
        KeyRange::Between(least, _) => least.clone(),
        KeyRange::Null | KeyRange::Unknown => String::new(),
    };
    files.sort_by_cached_key(|file| (least(file), file.path.clone()));
    let mut bins: Vec<Vec<LiveFile>> = Vec::new();
    let mut bytes = 0;
    for file in files {
        if bins.is_empty() || bytes + file.size > most {
            bins.push(Vec::new());
            bytes = 0;
        }
        bytes += file.size;
        if let Some(bin) = bins.last_mut() {
            bin.push(file);
        }
    }
    bins
}

fn join(table: &Table, bin: &[LiveFile], clustered: bool, threads: usize) -> Result<Add> {
    let column = table.table.partition_columns().first().copied();
    let partition =
        column.and_then(|column| bin.first()?.partition.get(column)?.as_ref()?.parse().ok());
    let schema = Arc::clone(table.schema());
    let mut writer = FileWriter::new(table, &schema, partition, 0, threads)?;
    for file in bin {
        for batch in read::rows(table, file, None)? {
            writer.push(&batch?)?;
        }
    }
    let mut add = writer.finish()?;
    if clustered {
        add.tags = Some(HashMap::from([(
            CLUSTERED.to_owned(),
            Some("true".to_owned()),
        )]));
    }
    Ok(add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, size: i64, least: &str) -> LiveFile {
        LiveFile {
            path: path.to_owned(),
            size,
            rows: Some(1),
            partition: HashMap::new(),
            key: KeyRange::Between(least.to_owned(), least.to_owned()),
            clustered: false,
        }
    }

    #[test]
    fn bins_follow_the_keys_and_stay_below_the_limit() {
        let files = vec![file("1", 6, "c"), file("2", 4, "a"), file("3", 5, "b")];
        let bins = bins(files, 10);
        let paths: Vec<Vec<&str>> = bins
            .iter()
            .map(|bin| bin.iter().map(|file| file.path.as_str()).collect())
            .collect();
        assert_eq!(paths, [vec!["2", "3"], vec!["1"]]);
    }
}
