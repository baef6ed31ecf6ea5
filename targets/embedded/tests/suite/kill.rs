//! Killed with SIGKILL at every point between two effects, and at random times.
//!
//! The engine under test runs in a process of its own: this test program started again with one of
//! its tests, told by the environment what to do and where to die.

use crate::child::{KILL_AT, Task};
use crate::common::{Message, RowMap, contents, patients, write_log};
use bench_tables::Table;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

const SIGKILL: i32 = 9;

/// Settings under which every kind of effect happens in a few small workflows.
const SETTINGS: &[(&str, &str)] = &[
    ("shuffle_partitions", "3"),
    ("adaptive", "false"),
    ("auto_compact", "true"),
    ("auto_compact_min_files", "4"),
    ("checkpoint_interval", "3"),
];

/// Three workflows with everything in them: NULL years, no accession, life cycles, diagnoses that
/// come and go, ids that join and conflict, a new identifier column, a file sent again.
pub(crate) fn write_dataset(dataset: &Path) {
    let day = |day: u32, n: u32| format!("202301{day:02}{n:02}0000");
    let ids = |mpi: &str, mrn: &str| match (mpi, mrn) {
        ("", mrn) => format!("{mrn}^^^EPIC^MRN"),
        (mpi, "") => format!("{mpi}^^^EMPI^MR"),
        (mpi, mrn) => format!("{mrn}^^^EPIC^MRN~{mpi}^^^EMPI^MR"),
    };
    let m = |time: &str, accession: &str, mpi: &str, mrn: &str| {
        Message::new(time, accession).ids(&ids(mpi, mrn))
    };
    write_log(
        dataset,
        "1/20230101.log",
        &[
            m(&day(1, 1), "100", "m1", "").diagnoses(&["A", "B"]),
            m(&day(1, 2), "101", "", "e1").diagnoses(&["C"]),
            m(&day(1, 3), "", "m9", "e9"),
            m("no time", "102", "m3", "e3"),
            m(&day(1, 4), "103", "m4", "e4").diagnoses(&["D"]),
            m(&day(1, 5), "104", "m5", "").diagnoses(&["E"]),
        ],
    );
    write_log(
        dataset,
        "2/20230102.log",
        &[
            m(&day(2, 1), "100", "m1", "e1").diagnoses(&["F"]),
            m(&day(2, 2), "105", "m4", "e5").diagnoses(&["G"]),
            m(&day(2, 3), "103", "m4", "e4").diagnoses(&[]),
            m("no time", "106", "m6", "e6").diagnoses(&["H"]),
            Message::new(&day(2, 4), "107").ids("7^^^ABC^MR~e7^^^EPIC^MRN"),
        ],
    );
    write_log(
        dataset,
        "3/20230103.log",
        &[
            m(&day(3, 1), "101", "m2", "e1").diagnoses(&["I"]),
            m(&day(3, 2), "108", "m5", "e8").diagnoses(&["J", "K"]),
            m("no time", "109", "", "e3"),
        ],
    );
}

/// Everything that one attempt after the other does: each workflow, then the first once more as a
/// deliberate ingest.
fn everything(dataset: &Path, lake: &Path) -> Task {
    let mut task = Task::new(dataset, lake, 1, SETTINGS);
    let first = task.workflows[0].1.clone();
    task.workflows.push(("again".to_owned(), first));
    task
}

fn start(task: &Task, folder: &Path, kill_at: Option<u64>) -> Child {
    let mut command = task.command(folder, "");
    if let Some(at) = kill_at {
        command.env(KILL_AT, at.to_string());
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program starts")
}

/// Rows and patients of a lake.
type Contents = (Vec<(Table, Vec<RowMap>)>, Vec<Vec<String>>);

/// The ingest of a data set, and what a lake of it holds that nobody disturbed.
fn task_and_contents(folder: &Path) -> (Task, Contents) {
    let dataset = folder.join("logs");
    write_dataset(&dataset);
    let whole = folder.join("whole");
    let task = everything(&dataset, &whole);
    task.attempt().expect("nothing is in the way");
    (task, (contents(&whole), patients(&whole)))
}

#[test]
fn a_process_killed_between_any_two_effects_is_completed_by_the_next_attempt() {
    let folder = crate::common::temporary();
    let (task, expected) = task_and_contents(folder.path());

    // Two at a time: most of a run is waiting for a process to start and to die.
    let kill_every_other = |first: u64| -> u64 {
        let mut points = 0;
        for at in (first..).step_by(2) {
            let lake = folder.path().join(format!("lake-{at}"));
            let task = task.for_lake(&lake);
            let mut child = start(&task, folder.path(), Some(at));
            let status = child.wait().expect("it ends");
            if status.success() {
                break;
            }
            assert_eq!(status.signal(), Some(SIGKILL), "point {at}: {status}");
            points += 1;
            task.attempt().expect("it is completed");
            let found = (contents(&lake), patients(&lake));
            assert!(found == expected, "rows differ after a kill at point {at}");
            std::fs::remove_dir_all(&lake).expect("the lake goes");
        }
        points
    };
    let points = std::thread::scope(|scope| {
        let odd = scope.spawn(|| kill_every_other(1));
        let even = kill_every_other(2);
        even + odd.join().expect("no point fails")
    });
    eprintln!("killed at each of {points} points");
    assert!(points > 100, "{points}");
}

#[test]
fn a_process_killed_again_and_again_at_random_times_gets_there() {
    let folder = crate::common::temporary();
    let (task, expected) = task_and_contents(folder.path());
    let lake = folder.path().join("lake");
    let task = task.for_lake(&lake);
    // Times between nothing and more than a whole run, in no order.
    for round in 0..24_u64 {
        let mut child = start(&task, folder.path(), None);
        std::thread::sleep(Duration::from_millis(5 + round * 7919 % 400));
        let _ = child.kill();
        child.wait().expect("it ends");
    }
    task.attempt().expect("it is completed");
    assert!((contents(&lake), patients(&lake)) == expected);
}
