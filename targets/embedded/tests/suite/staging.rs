//! The platform's own test logs: row counts, a second ingest, and the files that settings make.

use crate::common::{settings, shared};
use bench_embedded::{Engine, Options, Silent, ingest_folder};
use bench_tables::Table;
use std::path::Path;

fn lake(folder: &crate::common::Temporary) -> String {
    folder
        .path()
        .join("lake")
        .to_str()
        .expect("the path is text")
        .to_owned()
}

fn options(pairs: &[(&str, &str)]) -> Options {
    Options {
        settings: settings(pairs),
        threads: 2,
        ..Options::default()
    }
}

#[test]
fn the_platforms_logs_make_the_rows_that_the_platform_makes_and_a_second_time_nothing() {
    let Some(logs) = shared("data/scout-staging/postgres") else {
        return;
    };
    let folder = crate::common::temporary();
    let lake = lake(&folder);
    let ledger =
        ingest_folder(&logs, &lake, 150, options(&[]), &mut Silent).expect("it is ingested");
    assert!(ledger.is_balanced(), "{ledger:?}");
    assert_eq!(ledger.unparsable.len(), 2);
    let rows = |table| crate::common::rows(Path::new(&lake), table).len();
    assert_eq!(rows(Table::Reports), 802);
    assert_eq!(rows(Table::Curated), 802);
    assert_eq!(rows(Table::Latest), 800);
    assert_eq!(rows(Table::Mapping), 802);
    assert_eq!(rows(Table::MappingHistory), 0);
    assert_eq!(rows(Table::Dx), 0);
    for failed in &ledger.failed_logs {
        assert!(
            failed.file.ends_with(".log") && !failed.reason.is_empty(),
            "{failed:?}"
        );
    }

    let before = crate::common::versions(&Engine::open(&lake, options(&[])).expect("it opens"));
    let again =
        ingest_folder(&logs, &lake, 150, options(&[]), &mut Silent).expect("it is ingested");
    assert_eq!(again.reports.unchanged, 802);
    assert_eq!(again.reports.inserted + again.reports.updated, 0);
    let after = crate::common::versions(&Engine::open(&lake, options(&[])).expect("it opens"));
    assert_eq!(before, after, "a second ingest commits nothing");
}

#[test]
fn two_hundred_partitions_make_as_many_files_as_in_the_reference() {
    let Some(logs) = shared("data/scout-staging/postgres") else {
        return;
    };
    let folder = crate::common::temporary();
    let set = options(&[("shuffle_partitions", "200"), ("adaptive", "false")]);
    let mut engine = Engine::open(&lake(&folder), set).expect("the lake opens");
    let found = bench_hl7::discover(&logs).expect("the logs are found");
    let batches = bench_embedded::LogBatch::split(&found, 150);
    // Live files after the first two workflows, measured with the reference.
    for (number, expected) in [(0, 111_u64), (1, 216)] {
        engine
            .ingest(&format!("w{number}"), &batches[number], &mut Silent)
            .expect("it is ingested");
        let state = engine.state();
        for table in [Table::Curated, Table::Mapping] {
            let files = state[table.name()].files;
            eprintln!(
                "workflow {}: {} has {files} live files",
                number + 1,
                table.name()
            );
            assert!(
                files.abs_diff(expected) * 100 <= expected * 15,
                "{files}, not {expected}"
            );
        }
        assert_eq!(state[Table::Latest.name()].files, 1, "latest is compacted");
    }
}

#[test]
fn small_parts_are_merged_where_adaptive_is_on() {
    let Some(logs) = shared("data/scout-staging/postgres") else {
        return;
    };
    let folder = crate::common::temporary();
    let ledger = ingest_folder(&logs, &lake(&folder), 150, options(&[]), &mut Silent)
        .expect("it is ingested");
    // The reference: 36, 6, 1 and 7 files after six workflows.
    assert_eq!(ledger.state(Table::Curated).files, 6);
    assert_eq!(ledger.state(Table::Latest).files, 1);
    let mapping = ledger.state(Table::Mapping).files;
    assert!((6..=8).contains(&mapping), "{mapping}");
    let reports = ledger.state(Table::Reports).files;
    assert!((31..=41).contains(&reports), "{reports}");
}
