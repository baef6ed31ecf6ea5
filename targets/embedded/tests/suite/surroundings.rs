//! Bad surroundings: disks without room, folders that cannot be written, limits that are too small,
//! logs and lakes that are not what they should be. An attempt fails in clear words or its process
//! dies; nothing is lost, no table is wrong, and the next attempt with room completes the workflow
//! with the same rows.

use crate::child::{FAILED, Task};
use crate::common::{
    Message, contents, engine, patients, stable_rows, temporary, versions, write_log,
};
use bench_embedded::{Engine, Error, LogBatch, Options, Silent};
use bench_tables::Table;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Settings under which a workflow writes many files, compacts them and makes checkpoints.
const SETTINGS: &[(&str, &str)] = &[
    ("shuffle_partitions", "6"),
    ("adaptive", "false"),
    ("auto_compact", "true"),
    ("auto_compact_min_files", "4"),
    ("checkpoint_interval", "2"),
];

/// Three workflows of ten messages with long texts.
fn write_dataset(dataset: &Path) {
    for day in 1..=3_u32 {
        let messages: Vec<Message> = (0..10)
            .map(|n| {
                let ids = format!("{}^^^EPIC^MRN~{}^^^EMPI^MR", n % 4 + day, n % 3);
                // Text that does not shrink: every word another number.
                let words =
                    (0..1500_u32).map(|w| (w * 2_654_435 % 1_000_003 * day + n).to_string());
                Message::new(
                    &format!("202301{day:02}{n:02}0000"),
                    &format!("{}", n * day),
                )
                .ids(&ids)
                .diagnoses(&["A", "B"])
                .text(&words.collect::<Vec<_>>().join(" "))
            })
            .collect();
        write_log(dataset, &format!("{day}/202301{day:02}.log"), &messages);
    }
}

struct World {
    folder: crate::common::Temporary,
    task: Task,
    expected: (Contents, Vec<Vec<String>>),
}

type Contents = Vec<(Table, Vec<crate::common::RowMap>)>;

impl World {
    fn new() -> Self {
        let folder = temporary();
        let dataset = folder.path().join("logs");
        write_dataset(&dataset);
        let whole = folder.path().join("whole");
        let task = Task::new(&dataset, &whole, 1, SETTINGS);
        task.attempt().expect("nothing is in the way");
        let expected = (contents(&whole), patients(&whole));
        Self {
            folder,
            task,
            expected,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn assert_complete(&self, lake: &Path, what: &str) {
        let found = (contents(lake), patients(lake));
        assert!(found == self.expected, "{what}: rows differ");
    }
}

/// Data files that no version names.
fn orphans(lake: &Path) -> Vec<PathBuf> {
    let mut named = BTreeSet::new();
    let mut found = Vec::new();
    for table in Table::ALL {
        let folder = lake.join(table.name());
        for entry in walk(&folder.join("_delta_log")) {
            if entry.extension().is_some_and(|e| e == "json") {
                for line in fs::read_to_string(&entry).expect("it is read").lines() {
                    let line: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
                    if let Some(path) = line["add"]["path"].as_str() {
                        named.insert(folder.join(path));
                    }
                }
            }
        }
        let data = walk(&folder).into_iter();
        found.extend(data.filter(|path| path.extension().is_some_and(|e| e == "parquet")));
    }
    found.retain(|path| !named.contains(path) && !path.to_string_lossy().contains("_delta_log"));
    found
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("it is a folder") {
        let path = entry.expect("it is listed").path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// A file system in memory, of a size that can be changed; `None` where this user may mount none.
struct Mount(PathBuf);

impl Mount {
    fn new(at: PathBuf, options: &str) -> Option<Self> {
        fs::create_dir_all(&at).expect("a folder is made");
        if mount(&["-t", "tmpfs", "-o", options, "tmpfs"], &at) {
            return Some(Self(at));
        }
        eprintln!("SKIPPED: this user may not mount a file system");
        None
    }

    fn change(&self, options: &str) {
        let remount = format!("remount,{options}");
        assert!(mount(&["-o", &remount], &self.0), "{options}");
    }
}

fn mount(arguments: &[&str], at: &Path) -> bool {
    let run = Command::new("mount").args(arguments).arg(at).output();
    run.is_ok_and(|run| run.status.success())
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: a failing test may still have files open there.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_fails_the_attempt_and_the_next_one_with_room_completes() {
    let world = World::new();
    // A worker that lives on, and one that is started for every attempt.
    for lives_on in [true, false] {
        let Some(disk) = Mount::new(world.path("disk"), "size=64k") else {
            return;
        };
        let lake = disk.0.join("lake");
        let task = world.task.for_lake(&lake);
        let mut engine: Option<Engine> = None;
        let (mut next, mut failures, mut kilobytes) = (0, Vec::new(), 64);
        while next < task.workflows.len() {
            let attempt = match engine.take() {
                Some(engine) => Ok(engine),
                None => task.open(),
            };
            let attempt = attempt.and_then(|mut open| {
                let done = task.attempt_one(&mut open, next);
                engine = lives_on.then_some(open);
                done
            });
            match attempt {
                Ok(_) => next += 1,
                Err(error) => {
                    assert!(error.is_retryable(), "{error}");
                    let told = error.to_string();
                    assert!(told.contains("make room"), "{told}");
                    failures.push(told);
                    kilobytes += 24;
                    assert!(kilobytes < 32 * 1024, "it never fits: {failures:?}");
                    disk.change(&format!("size={kilobytes}k"));
                }
            }
        }
        eprintln!("{} attempts failed on a full disk", failures.len());
        assert!(failures.len() > 20, "{failures:?}");
        world.assert_complete(&lake, "after a full disk");
        assert_taken_back(&lake);
    }
}

/// What was written and not committed is gone.
fn assert_taken_back(lake: &Path) {
    assert_eq!(
        orphans(lake),
        [] as [PathBuf; 0],
        "what failed was taken back"
    );
}

#[test]
fn a_limit_on_file_sizes_fails_the_attempt_and_the_next_one_completes() {
    let world = World::new();
    let lake = world.path("lake");
    let task = world.task.for_lake(&lake);
    let mut failed = 0;
    for blocks in (1..200).step_by(6) {
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}");
        let output = task.attempt_under(world.folder.path(), &limit);
        if output.status.success() {
            break;
        }
        failed += 1;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        // The smallest limits leave no room for the error itself where stderr is a file; here it
        // is a pipe, so every failure is told.
        assert_eq!(output.status.code(), Some(FAILED), "{blocks}: {told}");
        assert!(told.contains("make room"), "{told}");
    }
    assert!(failed > 3, "{failed}");
    task.attempt().expect("nothing is in the way");
    world.assert_complete(&lake, "after a limit on file sizes");
    assert_taken_back(&lake);
}

#[test]
fn too_few_file_handles_fail_the_attempt_and_never_a_log() {
    let world = World::new();
    let lake = world.path("lake");
    let task = world.task.for_lake(&lake);
    let mut failed = 0;
    for handles in 8..80 {
        let limit = format!("ulimit -n {handles}");
        let output = task.attempt_under(world.folder.path(), &limit);
        if output.status.success() {
            world.assert_complete(&lake, &format!("with {handles} handles"));
            break;
        }
        failed += 1;
    }
    assert!(failed > 0, "the limit is never too small");
    task.attempt().expect("nothing is in the way");
    world.assert_complete(&lake, "after too few file handles");
}

#[test]
fn too_little_memory_ends_the_process_and_never_writes_a_wrong_table() {
    let world = World::new();
    let lake = world.path("lake");
    let task = world.task.for_lake(&lake);
    let (mut died, mut completed) = (0, 0);
    for megabytes in (20..2000_u32).step_by(40) {
        // One arena: near the limit the others are asked for in vain with every allocation.
        let limit = format!("export MALLOC_ARENA_MAX=1; ulimit -v {}", megabytes * 1024);
        let output = task.attempt_under(world.folder.path(), &limit);
        if output.status.success() {
            world.assert_complete(&lake, &format!("with {megabytes} MB"));
            completed = megabytes;
            break;
        }
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let clear = output.status.signal().is_some() || !told.trim().is_empty();
        assert!(clear, "{megabytes} MB: {} without a word", output.status);
        died += 1;
    }
    eprintln!("{died} processes died, the first one completed with {completed} MB of addresses");
    assert!(completed > 0 && died > 1, "{died}");
    task.attempt().expect("nothing is in the way");
    world.assert_complete(&lake, "after too little memory");
}

#[test]
fn a_read_only_lake_fails_the_attempt_for_good_until_it_can_be_written() {
    let world = World::new();
    let Some(disk) = Mount::new(world.path("disk"), "size=32m") else {
        return;
    };
    let lake = disk.0.join("lake");
    let task = world.task.for_lake(&lake);
    let mut open = task.open().expect("it can be written");
    task.attempt_one(&mut open, 0).expect("it can be written");
    let before = versions(&open);
    disk.change("ro");
    let new = world.task.for_lake(&disk.0.join("new"));
    let errors = [
        task.attempt_one(&mut open, 1).expect_err("it is read-only"),
        task.attempt().expect_err("it is read-only"),
        new.attempt().expect_err("it is read-only"),
    ];
    for error in errors {
        let told = error.to_string();
        assert!(told.contains("Read-only file system"), "{told}");
        assert!(told.contains("must be readable and writable"), "{told}");
        assert!(!error.is_retryable(), "{told}");
    }
    assert_eq!(versions(&open), before);
    disk.change("rw");
    for number in 1..task.workflows.len() {
        task.attempt_one(&mut open, number)
            .expect("it can be written");
    }
    world.assert_complete(&lake, "after a time of reading only");
}

#[test]
fn a_folder_without_the_right_to_write_is_named_and_not_tried_again() {
    use std::os::unix::fs::PermissionsExt;
    let folder = temporary();
    let closed = folder.path().join("closed");
    fs::create_dir_all(&closed).expect("a folder is made");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).expect("it is closed");
    if fs::write(closed.join("x"), "").is_ok() {
        eprintln!("SKIPPED: this user may write everywhere");
        return;
    }
    let error = open(&closed.join("lake"));
    assert!(error.to_string().contains("closed/lake"), "{error}");
    assert!(!error.is_retryable(), "{error}");
}

fn open(lake: &Path) -> Error {
    let lake = lake.to_str().expect("the path is text");
    Engine::open(lake, Options::default())
        .err()
        .expect("it is refused")
}

#[test]
fn a_file_where_a_table_should_be_is_named_and_not_tried_again() {
    let folder = temporary();
    fs::write(folder.path().join("reports_latest"), "in the way").expect("it is written");
    let error = open(folder.path());
    assert!(
        error.to_string().contains("table reports_latest"),
        "{error}"
    );
    assert!(!error.is_retryable(), "{error}");
}

#[test]
fn logs_that_give_no_rows_are_outcomes_and_the_others_are_ingested() {
    let folder = temporary();
    let (logs, lake) = (folder.path().join("logs"), folder.path().join("lake"));
    write_log(
        &logs,
        "20230113.log",
        &[Message::new("20230113000000", "7")],
    );
    write_log(&logs, "20230114.log", &[]);
    fs::create_dir_all(logs.join("20230115.log")).expect("a folder in a log's place");
    fs::write(logs.join("20231399.log"), "<SB>\nMSH|<R>\n<EB><R>\n").expect("it is written");
    let manifest = [
        "20230113.log",
        "20230114.log",
        "20230115.log",
        "20230116.log",
        "20231399.log",
        "20230113.log/20230117.log",
    ]
    .map(str::to_owned);
    let batch = LogBatch::of_manifest(&logs, &manifest).expect("they are named as logs");
    let mut engine = engine(&lake, &[]);
    for attempt in 1..=2 {
        let ledger = engine
            .ingest("w", &batch, &mut Silent)
            .expect("the good log is ingested");
        assert!(ledger.is_balanced());
        assert_eq!((ledger.logs, ledger.parsed), (6, 1));
        assert_eq!(ledger.continued, attempt == 2);
        let failed: Vec<(&str, &str)> = ledger
            .failed_logs
            .iter()
            .map(|log| (log.file.as_str(), log.reason.as_str()))
            .collect();
        for ((file, reason), (log, why)) in failed.iter().zip([
            ("20230114.log", "HL7 messages"),
            ("20230115.log", "cannot be read: Is a directory"),
            ("20230116.log", "cannot be read: No such file"),
            ("20231399.log", "date"),
            (
                "20230113.log/20230117.log",
                "cannot be read: Not a directory",
            ),
        ]) {
            assert_eq!(*file, log);
            assert!(reason.contains(why), "{file}: {reason}");
        }
        assert_eq!(failed.len(), 5);
        assert_eq!(stable_rows(&lake, Table::Reports).len(), 1);
    }
}

/// Rows of the tables that can be opened while the one of curated reports cannot.
fn contents_of_others(lake: &Path) -> Vec<Vec<crate::common::RowMap>> {
    let others = Table::ALL.iter().filter(|table| **table != Table::Curated);
    others.map(|table| stable_rows(lake, *table)).collect()
}

#[test]
fn a_log_entry_that_cannot_be_read_is_named_with_its_version() {
    let folder = temporary();
    let (logs, lake, mut engine) = crate::common::small_lake(folder.path());
    let before = contents_of_others(&lake);
    let entry = lake.join("reports_curated/_delta_log/00000000000000000002.json");
    fs::write(&entry, "{\"add\":{\"path\":").expect("it is written");
    write_log(
        &logs,
        "20230113.log",
        &[Message::new("20230113000000", "8")],
    );
    let batch = crate::common::batch(&logs);
    let error = engine
        .ingest("w2", &batch, &mut Silent)
        .expect_err("the entry is broken");
    assert!(
        matches!(
            error,
            Error::Commit {
                table: "reports_curated",
                version: 2,
                ..
            }
        ),
        "{error}"
    );
    let error = open(&lake);
    assert!(
        error.to_string().contains("table reports_curated"),
        "{error}"
    );
    assert!(contents_of_others(&lake) == before, "nothing was written");
    fs::remove_file(&entry).expect("it goes");
    let ledger = engine
        .ingest("w2", &batch, &mut Silent)
        .expect("it is well");
    assert_eq!(ledger.table(Table::Curated).updated, 1);
}

#[test]
fn a_commit_that_is_missing_below_others_is_told_and_nothing_is_written() {
    let folder = temporary();
    let (logs, lake, engine) = crate::common::small_lake(folder.path());
    drop(engine);
    let log = lake.join("reports/_delta_log");
    fs::rename(
        log.join("00000000000000000001.json"),
        log.join("00000000000000000002.json"),
    )
    .expect("a gap is made");
    let error = open(&lake);
    assert!(error.to_string().contains("table reports"), "{error}");
    assert!(!log.join("00000000000000000003.json").exists());
    assert!(logs.exists());
}

#[test]
fn a_data_file_that_was_cut_short_fails_the_workflow_and_is_named() {
    let folder = temporary();
    let (logs, lake, mut engine) = crate::common::small_lake(folder.path());
    let (path, _) = crate::common::files(&lake, Table::Curated).remove(0);
    let bytes = fs::read(&path).expect("it is read");
    fs::write(&path, &bytes[..bytes.len() - 9]).expect("it is cut");
    write_log(
        &logs,
        "20230113.log",
        &[Message::new("20230113000000", "8")],
    );
    let batch = crate::common::batch(&logs);
    let error = engine
        .ingest("w2", &batch, &mut Silent)
        .expect_err("the file is broken");
    let told = error.to_string();
    assert!(
        told.contains("table reports_curated") && told.contains("part-"),
        "{told}"
    );
    fs::write(&path, &bytes).expect("it is whole again");
    let ledger = engine
        .ingest("w2", &batch, &mut Silent)
        .expect("it is well");
    assert_eq!(ledger.table(Table::Curated).updated, 1);
    assert_eq!(stable_rows(&lake, Table::Curated).len(), 1);
}
