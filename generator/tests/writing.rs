//! The same bytes whatever the threads, in parts, after a stop, or grown day by day; and nothing
//! half-made that looks whole.

mod common;

use bench_generator::{
    DATASET_FILE, Error, Options, Silent, Spec, TRUTH_FILE, UNFINISHED_FILE, continue_to, generate,
    unfinished_spec,
};
use common::{contents, make, options, rate, total};
use std::fs;

#[test]
fn threads_do_not_change_a_byte() {
    let made: Vec<_> = [1, 2, 5]
        .into_iter()
        .map(|threads| {
            let folder = tempfile::tempdir().unwrap();
            let spec = Spec::load("dirty", &total(20_000, 300)).unwrap();
            generate(spec, &options(folder.path(), threads), &Silent).unwrap();
            contents(folder.path())
        })
        .collect();
    assert!(made[0] == made[1] && made[0] == made[2]);
    assert_eq!(made[0].len(), 302, "logs, truth and dataset.json");
}

#[test]
fn the_size_of_a_data_set_does_not_change_its_first_days() {
    let (short, long) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    make("dirty", &rate(20.0, 30), short.path());
    make("dirty", &rate(20.0, 90), long.path());
    let long = contents(long.path());
    for (path, bytes) in contents(short.path()) {
        if path.ends_with(".log") {
            assert!(long[&path] == bytes, "{path} differs");
        }
    }
}

#[test]
fn chosen_logs_are_exactly_those_of_the_whole() {
    let (whole, part) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    make("dirty", &total(3_000, 100), whole.path());
    let spec = Spec::load("dirty", &total(3_000, 100)).unwrap();
    let chosen = Options {
        only_files: Some(40..47),
        ..options(part.path(), 2)
    };
    let info = generate(spec, &chosen, &Silent).unwrap();
    assert_eq!((info.only_files, info.tables), (Some((40, 47)), None));
    let whole = contents(whole.path());
    let logs: Vec<_> = contents(part.path())
        .into_iter()
        .filter(|(path, _)| path.ends_with(".log"))
        .collect();
    assert_eq!(logs.len(), 7);
    for (path, bytes) in logs {
        assert!(whole[&path] == bytes, "{path} differs");
    }
}

#[test]
fn a_data_set_that_was_continued_is_the_one_made_at_once() {
    for profile in ["varied", "dirty"] {
        let (grown, once) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        make(profile, &rate(15.0, 20), grown.path());
        continue_to(grown.path(), 33, 2, &Silent).unwrap();
        continue_to(grown.path(), 60, 1, &Silent).unwrap();
        make(profile, &rate(15.0, 60), once.path());
        assert!(contents(grown.path()) == contents(once.path()), "{profile}");
    }
}

#[test]
fn only_a_rate_can_be_continued() {
    let folder = tempfile::tempdir().unwrap();
    make("varied", &total(60, 3), folder.path());
    let error = continue_to(folder.path(), 10, 1, &Silent).unwrap_err();
    assert!(error.to_string().contains("made from a rate"), "{error}");
}

#[test]
fn a_stopped_run_is_seen_as_unfinished_and_finished_to_the_same_bytes() {
    let (stopped, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let spec = || Spec::load("lifelike", &total(3_000, 100)).unwrap();
    make("lifelike", &total(3_000, 100), whole.path());
    // What a kill leaves: the marker, some logs, a temporary file, no dataset.json.
    generate(spec(), &options(stopped.path(), 2), &Silent).unwrap();
    let names: Vec<_> = contents(stopped.path()).into_keys().collect();
    fs::write(
        stopped.path().join(UNFINISHED_FILE),
        unfinished_text(&spec()),
    )
    .unwrap();
    fs::remove_file(stopped.path().join(DATASET_FILE)).unwrap();
    fs::remove_file(stopped.path().join(TRUTH_FILE)).unwrap();
    for name in names.iter().filter(|name| name.ends_with(".log")).skip(37) {
        fs::remove_file(stopped.path().join(name)).unwrap();
    }
    let again = generate(spec(), &options(stopped.path(), 2), &Silent).unwrap_err();
    assert!(again.to_string().contains("--resume"), "{again}");
    let (resumed, only) = unfinished_spec(stopped.path()).unwrap();
    assert_eq!(only, None);
    let resume = Options {
        resume: true,
        ..options(stopped.path(), 2)
    };
    generate(resumed, &resume, &Silent).unwrap();
    assert!(contents(stopped.path()) == contents(whole.path()));
}

/// The marker as a run of this spec leaves it: made by a run that cannot write its first log.
fn unfinished_text(spec: &Spec) -> String {
    let folder = tempfile::tempdir().unwrap();
    let year = folder.path().join("x");
    let copy = Spec::resolved(spec.file().clone()).unwrap();
    struct Block<'a>(&'a std::path::Path);
    impl bench_generator::Progress for Block<'_> {
        fn begin(&self, _: u64, _: u64) {
            // A file stands where the folder of the first year would be.
            fs::write(self.0.join("2014"), "").unwrap();
        }
        fn advance(&self, _: u64, _: u64, _: u64) {}
    }
    let error = generate(copy, &options(&year, 1), &Block(&year)).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert!(!year.join(DATASET_FILE).exists());
    fs::read_to_string(year.join(UNFINISHED_FILE)).unwrap()
}

#[test]
fn a_log_that_was_changed_is_not_taken_for_a_finished_one() {
    let folder = tempfile::tempdir().unwrap();
    let info = make("varied", &rate(9.0, 12), folder.path());
    let path = folder.path().join(&info.files[3].path);
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, bytes).unwrap();
    let dataset = bench_generator::Dataset::open(folder.path()).unwrap();
    let error = dataset.check_files().unwrap_err();
    assert!(error.to_string().contains(&info.files[3].path), "{error}");
    let error = continue_to(folder.path(), 20, 1, &Silent).unwrap_err();
    assert!(error.to_string().contains(&info.files[3].path), "{error}");
}

#[test]
fn nothing_is_written_over_what_stands_there() {
    let folder = tempfile::tempdir().unwrap();
    let spec = || Spec::load("varied", &total(60, 3)).unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    let error = generate(spec(), &options(folder.path(), 1), &Silent).unwrap_err();
    assert!(error.to_string().contains("is not empty"), "{error}");
    let file = folder.path().join("notes.txt");
    let error = generate(spec(), &options(&file, 1), &Silent).unwrap_err();
    assert!(error.to_string().contains("is a file"), "{error}");
    let done = folder.path().join("done");
    make("varied", &total(60, 3), &done);
    let error = generate(spec(), &options(&done, 1), &Silent).unwrap_err();
    assert!(error.to_string().contains("holds a data set"), "{error}");
}
