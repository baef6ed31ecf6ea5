//! Several workers on one lake: nothing lost, nothing doubled.

use crate::common::{Message, engine, patients, stable_rows, write_log};
use bench_embedded::{LogBatch, Silent};
use bench_tables::Table;
use std::path::Path;

/// Workflows that write to the same accessions and the same patients.
pub(crate) fn write_dataset(dataset: &Path, workflows: u32) {
    for day in 1..=workflows {
        let messages: Vec<Message> = (0..12)
            .map(|n| {
                let time = format!("202301{day:02}{n:02}0000");
                let ids = match n % 3 {
                    0 => format!("{}^^^EPIC^MRN", (day + n) % 6),
                    1 => format!("{}^^^EMPI^MR", n % 4),
                    _ => format!("{}^^^EPIC^MRN~{}^^^EMPI^MR", (day * n) % 6, n % 4),
                };
                // Accessions that several workflows write to, and some of their own.
                let accession = if n % 2 == 0 {
                    format!("{n}")
                } else {
                    format!("{day}-{n}")
                };
                Message::new(&time, &accession)
                    .ids(&ids)
                    .diagnoses(&["A", "B"])
            })
            .collect();
        write_log(dataset, &format!("{day:02}/202301{day:02}.log"), &messages);
    }
}

fn concurrent(writers: usize, workflows: u32) {
    let folder = crate::common::temporary();
    let dataset = folder.path().join("logs");
    write_dataset(&dataset, workflows);
    let logs = bench_hl7::discover(&dataset).expect("the logs are found");
    let batches = LogBatch::split(&logs, 1);
    let set = [
        ("shuffle_partitions", "3"),
        ("auto_compact", "true"),
        ("checkpoint_interval", "5"),
        ("auto_compact_min_files", "6"),
    ];

    let alone = folder.path().join("alone");
    let mut one = engine(&alone, &set);
    for (number, batch) in batches.iter().enumerate() {
        one.ingest(&format!("w{number}"), batch, &mut Silent)
            .expect("it is ingested");
    }

    let lake = folder.path().join("lake");
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let (batches, lake, set) = (&batches, &lake, &set);
            scope.spawn(move || {
                let mut engine = engine(lake, set);
                for (number, batch) in batches.iter().enumerate() {
                    if number % writers == writer {
                        let ledger = engine.ingest(&format!("w{number}"), batch, &mut Silent);
                        assert!(ledger.expect("it is ingested").is_balanced());
                    }
                }
            });
        }
    });
    assert_same(&lake, &alone);
}

/// What does not depend on the order of workflows is equal; every accession has a latest row, the
/// later of two times whichever came first.
pub(crate) fn assert_same(lake: &Path, alone: &Path) {
    for table in [
        Table::Reports,
        Table::Curated,
        Table::Latest,
        Table::Dx,
        Table::Mapping,
    ] {
        let (found, expected) = (stable_rows(lake, table), stable_rows(alone, table));
        assert_eq!(found.len(), expected.len(), "rows of {table:?}");
        assert!(found == expected, "rows of {table:?} differ");
    }
    assert_eq!(patients(lake), patients(alone));
}

#[test]
fn two_writers_lose_and_double_nothing() {
    concurrent(2, 8);
}

#[test]
fn eight_writers_lose_and_double_nothing() {
    concurrent(8, 16);
}
