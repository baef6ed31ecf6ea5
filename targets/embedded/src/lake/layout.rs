//! Which rows go into which file: the part of the engine that the write settings are about.
//!
//! The output of a merge or append is hashed by its key into `shuffle_partitions` parts, and every
//! part that is not empty becomes one file (times the table's partition values), as it does when
//! Spark's shuffle feeds Delta's writer. `adaptive` merges neighbouring small parts first,
//! `optimize_write` packs everything into few files instead, `repartition_before_write` hashes by
//! the partition column of a partitioned table. Sizes are those of the rows in memory; Spark's are
//! those of its shuffle blocks, so the borders between "small" and "large" lie elsewhere.

use super::encode::{FileWriter, batch_bytes};
use super::parallel;
use super::table::Table;
use crate::error::{Error, Result};
use crate::settings::Settings;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::interleave_record_batch;
use arrow::datatypes::{Int32Type, SchemaRef};
use deltalake::kernel::Add;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_64;

const MIB: usize = 1024 * 1024;
/// What adaptive execution merges parts up to, at most and at least.
const ADVISORY_PART_BYTES: usize = 64 * MIB;
const LEAST_PART_BYTES: usize = MIB;
/// Rows in memory that make a file of about 128 MiB.
const OPTIMIZED_BIN_BYTES: usize = 512 * MIB;
/// Rows gathered at once.
const GATHER_ROWS: usize = 8192;

/// Where a row stands in the output: batch and row.
type At = (usize, usize);

/// Rows of one file.
struct Group {
    partition: Option<i32>,
    part: usize,
    rows: Vec<At>,
}

/// Writes rows in files as the settings say.
pub(crate) fn write(
    table: &Table,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    key: &str,
    settings: &Settings,
    threads: usize,
) -> Result<Vec<Add>> {
    let groups = groups(table, batches, key, settings, threads)?;
    let total: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let (across, within) = if groups.len() >= threads {
        (threads, 1)
    } else {
        (1, threads)
    };
    parallel::map(across, &groups, |group| {
        let mut file = FileWriter::new(table, schema, group.partition, group.part, within)?;
        if group.rows.len() == total {
            for batch in batches {
                file.push(batch)?;
            }
            return file.finish();
        }
        let all: Vec<&RecordBatch> = batches.iter().collect();
        for rows in group.rows.chunks(GATHER_ROWS) {
            let gathered = interleave_record_batch(&all, rows)
                .map_err(Error::columns(table.name(), "gathering rows"))?;
            file.push(&gathered)?;
        }
        file.finish()
    })
}

fn groups(
    table: &Table,
    batches: &[RecordBatch],
    key: &str,
    settings: &Settings,
    threads: usize,
) -> Result<Vec<Group>> {
    let partition_column = table.table.partition_columns().first().copied();
    let parts = settings.shuffle_partitions as usize;
    let by_partition = partition_column.is_some() && settings.repartition_before_write;
    let mut rows: BTreeMap<(Option<i32>, usize), Vec<At>> = BTreeMap::new();
    let mut per_part = vec![0_usize; parts];
    let mut total_rows = 0;
    for (number, batch) in batches.iter().enumerate() {
        let missing = |name: &str| Error::Columns {
            table: table.name(),
            action: "hashing rows",
            source: format!("column {name} is missing").into(),
        };
        let keys = batch
            .column_by_name(key)
            .ok_or_else(|| missing(key))?
            .as_string::<i32>();
        let years = match partition_column {
            None => None,
            Some(name) => {
                let column = batch.column_by_name(name).ok_or_else(|| missing(name))?;
                Some(column.as_primitive::<Int32Type>())
            }
        };
        total_rows += batch.num_rows();
        for row in 0..batch.num_rows() {
            let partition = years.and_then(|years| years.is_valid(row).then(|| years.value(row)));
            let part = if settings.optimize_write {
                0
            } else if by_partition {
                bucket(&partition.unwrap_or(i32::MIN).to_le_bytes(), parts)
            } else if keys.is_valid(row) {
                bucket(keys.value(row).as_bytes(), parts)
            } else {
                0
            };
            per_part[part] += 1;
            rows.entry((partition, part))
                .or_default()
                .push((number, row));
        }
    }
    if total_rows == 0 {
        return Ok(Vec::new());
    }
    let row_bytes = batches.iter().map(batch_bytes).sum::<usize>() / total_rows + 1;
    let merged: Vec<Group> = if settings.adaptive && !settings.optimize_write {
        let merged = coalesce(&per_part, row_bytes, threads);
        let mut groups: BTreeMap<(Option<i32>, usize), Vec<At>> = BTreeMap::new();
        for ((partition, part), mut of) in rows {
            groups
                .entry((partition, merged[part]))
                .or_default()
                .append(&mut of);
        }
        into_groups(groups)
    } else {
        into_groups(rows)
    };
    if settings.optimize_write {
        return Ok(bins(merged, (OPTIMIZED_BIN_BYTES / row_bytes).max(1)));
    }
    Ok(merged)
}

fn into_groups(rows: BTreeMap<(Option<i32>, usize), Vec<At>>) -> Vec<Group> {
    rows.into_iter()
        .map(|((partition, part), rows)| Group {
            partition,
            part,
            rows,
        })
        .collect()
}

/// Cuts groups that are too large for one file.
fn bins(groups: Vec<Group>, rows_per_file: usize) -> Vec<Group> {
    let mut cut = Vec::new();
    for group in groups {
        for rows in group.rows.chunks(rows_per_file) {
            cut.push(Group {
                partition: group.partition,
                part: cut.len(),
                rows: rows.to_vec(),
            });
        }
    }
    cut
}

/// The number of the merged part that each part falls into.
fn coalesce(rows_per_part: &[usize], row_bytes: usize, parallelism: usize) -> Vec<usize> {
    let total: usize = rows_per_part.iter().sum::<usize>() * row_bytes;
    let target = (total / parallelism.max(1)).clamp(LEAST_PART_BYTES, ADVISORY_PART_BYTES);
    let (mut current, mut bytes) = (0, 0);
    rows_per_part
        .iter()
        .map(|rows| {
            let size = rows * row_bytes;
            if bytes > 0 && bytes + size > target {
                current += 1;
                bytes = 0;
            }
            bytes += size;
            current
        })
        .collect()
}

fn bucket(key: &[u8], parts: usize) -> usize {
    let parts = parts as u64;
    usize::try_from(xxh3_64(key) % parts).expect("a part's number fits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_parts_are_filled_as_a_good_hash_fills() {
        // 157 rows in 200 parts: 200 (1 - (1 - 1/200)^157) = 109 are expected to be filled.
        let filled: std::collections::HashSet<usize> = (0..157)
            .map(|n| bucket(format!("2023/20230113_{n}.hl7").as_bytes(), 200))
            .collect();
        assert!((95..=123).contains(&filled.len()), "{}", filled.len());
    }

    #[test]
    fn small_parts_are_merged_with_their_neighbours() {
        assert_eq!(coalesce(&[1, 0, 2, 1], 1000, 2), [0, 0, 0, 0]);
        let large = coalesce(&[1; 8], MIB, 2);
        assert_eq!(large, [0, 0, 0, 0, 1, 1, 1, 1]);
        let huge = coalesce(&[1; 4], 60 * MIB, 1);
        assert_eq!(huge, [0, 1, 2, 3]);
    }

    #[test]
    fn a_group_that_is_too_large_is_cut() {
        let rows: Vec<At> = (0..5).map(|row| (0, row)).collect();
        let cut = bins(
            vec![Group {
                partition: None,
                part: 0,
                rows,
            }],
            2,
        );
        assert_eq!(
            cut.iter().map(|group| group.rows.len()).collect::<Vec<_>>(),
            [2, 2, 1]
        );
    }
}
