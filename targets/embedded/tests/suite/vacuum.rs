//! Vacuum: what is dead for longer than the retention goes, and nothing else ever.

use crate::child::{KILL_AT, Task};
use crate::common::{contents, patients, temporary};
use bench_embedded::Engine;
use bench_tables::Table;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const HOUR: Duration = Duration::from_secs(3600);

/// Settings under which every workflow takes files out again.
const SETTINGS: &[(&str, &str)] = &[
    ("shuffle_partitions", "3"),
    ("adaptive", "false"),
    ("auto_compact", "true"),
    ("auto_compact_min_files", "2"),
    ("checkpoint_interval", "4"),
];

fn with_retention(retention: &'static str) -> Vec<(&'static str, &'static str)> {
    let mut settings = SETTINGS.to_vec();
    settings.push(("vacuum_retention", retention));
    settings
}

fn data_files(lake: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders: Vec<PathBuf> = Table::ALL.iter().map(|t| lake.join(t.name())).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it is listed") {
            let path = entry.expect("it is listed").path();
            if path.is_dir() && !path.ends_with("_delta_log") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "parquet") {
                found.insert(path);
            }
        }
    }
    found
}

/// Data files of the tables' current versions, as delta-rs lists them.
fn live_files(lake: &Path) -> BTreeSet<PathBuf> {
    Table::ALL
        .iter()
        .flat_map(|table| crate::common::files(lake, *table))
        .map(|(path, _)| PathBuf::from(path))
        .collect()
}

fn make_old(files: &BTreeSet<PathBuf>, age: Duration) {
    let then = SystemTime::now() - age;
    for path in files {
        let file = File::options().append(true).open(path).expect("it opens");
        file.set_modified(then).expect("it gets older");
    }
}

fn open(task: &Task) -> Engine {
    task.open().expect("the lake opens")
}

fn dataset(folder: &Path) -> PathBuf {
    let dataset = folder.join("logs");
    crate::kill::write_dataset(&dataset);
    dataset
}

#[test]
fn orphans_older_than_the_retention_go_and_younger_ones_and_live_files_stay() {
    let folder = temporary();
    let dataset = dataset(folder.path());
    let lake = folder.path().join("lake");
    let task = Task::new(&dataset, &lake, 1, &with_retention("1h"));
    task.attempt().expect("nothing is in the way");
    let before = data_files(&lake);

    // Logs that are new to the lake, whose attempts die before they commit to reports.
    let mut more = task.clone();
    for (name, _) in &mut more.workflows {
        name.push_str("-again");
    }
    let killed = |at: u32| {
        let mut command = more.command(folder.path(), "");
        let status = command.env(KILL_AT, at.to_string()).status();
        assert!(!status.expect("it starts").success(), "point {at}");
    };
    killed(1);
    let old: BTreeSet<PathBuf> = data_files(&lake).difference(&before).cloned().collect();
    assert!(!old.is_empty(), "the killed attempt left a file");
    make_old(&old, HOUR * 2);
    killed(1);
    let all = data_files(&lake);
    let young: BTreeSet<PathBuf> = all
        .difference(&before)
        .filter(|path| !old.contains(*path))
        .cloned()
        .collect();
    assert!(!young.is_empty(), "the killed attempt left a file");
    // Live files are as old as they like; those that a commit took out a moment ago are kept, too.
    make_old(&before, HOUR * 1000);

    let rows = (contents(&lake), patients(&lake));
    let deleted = open(&task).vacuum().expect("it runs");
    assert_eq!(deleted, old.len());
    let expected: BTreeSet<PathBuf> = all.difference(&old).cloned().collect();
    assert!(data_files(&lake) == expected, "only the old orphans went");
    assert_eq!(open(&task).vacuum().expect("it runs"), 0, "and only once");

    make_old(&young, HOUR + Duration::from_secs(60));
    assert_eq!(open(&task).vacuum().expect("it runs"), young.len());
    assert!(rows == (contents(&lake), patients(&lake)));
}

#[test]
fn files_that_a_commit_took_out_go_when_the_retention_is_over() {
    let folder = temporary();
    let dataset = dataset(folder.path());
    let lake = folder.path().join("lake");
    let task = Task::new(&dataset, &lake, 1, &with_retention("1h"));
    task.attempt().expect("nothing is in the way");
    let (all, live) = (data_files(&lake), live_files(&lake));
    assert!(live.len() < all.len() && live.is_subset(&all));
    make_old(&all, HOUR * 3);
    assert_eq!(
        open(&task).vacuum().expect("it runs"),
        0,
        "taken out just now"
    );

    let rows = (contents(&lake), patients(&lake));
    let none = Task::new(&dataset, &lake, 1, &with_retention("0s"));
    let deleted = open(&none).vacuum().expect("it runs");
    assert_eq!(deleted, all.len() - live.len());
    assert!(data_files(&lake) == live, "what is live stays");
    assert!(rows == (contents(&lake), patients(&lake)));
}

#[test]
fn what_the_next_attempt_needs_stays_whatever_the_retention() {
    let folder = temporary();
    let dataset = dataset(folder.path());
    let whole = folder.path().join("whole");
    let task = Task::new(&dataset, &whole, 1, &with_retention("0s"));
    task.attempt().expect("nothing is in the way");
    let expected = (contents(&whole), patients(&whole));
    // Enough points to lie between any two tables; each takes a process that starts and dies.
    let (mut killed, mut kept) = (0, 0);
    for at in (1..).step_by(7) {
        let lake = folder.path().join(format!("lake-{at}"));
        let task = task.for_lake(&lake);
        let mut command = task.command(folder.path(), "");
        command.env(KILL_AT, at.to_string());
        if command.output().expect("it starts").status.success() {
            break;
        }
        killed += 1;
        open(&task).vacuum().expect("it runs");
        let left = data_files(&lake).len();
        kept += usize::from(left > live_files(&lake).len());
        task.attempt().expect("the next attempt completes");
        let found = (contents(&lake), patients(&lake));
        assert!(found == expected, "rows differ after point {at}");
        fs::remove_dir_all(&lake).expect("the lake goes");
    }
    eprintln!("killed at {killed} points, at {kept} of them dead files were still needed");
    assert!(killed > 15 && kept > 0, "{killed}, {kept}");
}
