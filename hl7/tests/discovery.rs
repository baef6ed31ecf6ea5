//! Which files are logs, in which order, and which folders are refused.

use bench_hl7::{Error, LogPath, discover};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn folder(files: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, b"").expect("a file");
    }
    dir
}

fn found(root: &Path) -> Vec<String> {
    discover(root)
        .expect("a good folder")
        .into_iter()
        .map(|log| log.relative)
        .collect()
}

#[test]
fn logs_are_found_at_any_depth_and_nothing_else_is() {
    let dir = folder(&[
        "20230101.log",
        "a/b/c/20230102.log",
        "a/.hidden.log",
        "a/x.LOG",
        "a/x.log.gz",
        "a/log",
        ".log",
        "a/truth.parquet",
        ".folder/20230103.log",
    ]);
    assert_eq!(
        found(dir.path()),
        [".folder/20230103.log", "20230101.log", "a/b/c/20230102.log"]
    );
}

#[test]
fn logs_come_in_byte_order_of_the_relative_path() {
    let dir = folder(&[
        "a/1.log", "a.log", "a-b.log", "B.log", "b.log", "a/Z.log", "a0.log", "é.log",
    ]);
    assert_eq!(
        found(dir.path()),
        [
            "B.log", "a-b.log", "a.log", "a/1.log", "a/Z.log", "a0.log", "b.log", "é.log"
        ]
    );
}

#[test]
fn a_folder_named_like_a_log_is_a_folder() {
    let dir = folder(&["x.log/20230101.log"]);
    assert_eq!(found(dir.path()), ["x.log/20230101.log"]);
}

#[test]
fn an_empty_folder_has_no_logs() {
    assert_eq!(found(folder(&[]).path()), [""; 0]);
}

#[test]
fn two_logs_of_one_stem_are_refused_and_both_named() {
    let dir = folder(&[
        "2023/20230101.log",
        "2024/20230101.log",
        "2023/20230102.log",
    ]);
    let error = discover(dir.path()).unwrap_err();
    let Error::DuplicateStem {
        stem,
        first,
        second,
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!(stem, "20230101");
    assert_eq!(*first, dir.path().join("2023/20230101.log"));
    assert_eq!(*second, dir.path().join("2024/20230101.log"));
    let text = error.to_string();
    assert!(
        text.contains("2023/20230101.log") && text.contains("2024/20230101.log"),
        "{text}"
    );
}

#[test]
fn stems_that_differ_in_anything_are_different() {
    let dir = folder(&[
        "a/20230101.log",
        "b/20230101_PORU.log",
        "c/20230101_poru.log",
    ]);
    assert_eq!(found(dir.path()).len(), 3);
}

#[test]
fn a_single_log_is_found_by_itself() {
    let dir = folder(&["2023/20230101_PORU.log"]);
    let logs = discover(&dir.path().join("2023/20230101_PORU.log")).expect("a log");
    let [
        LogPath {
            relative,
            stem,
            date,
            ..
        },
    ] = &logs[..]
    else {
        panic!("{logs:?}")
    };
    assert_eq!(
        (relative.as_str(), stem.as_str()),
        ("20230101_PORU.log", "20230101_PORU")
    );
    assert_eq!(date.expect("a date").to_string(), "2023/01/01");
}

#[test]
fn a_single_file_that_is_no_log_is_refused() {
    let dir = folder(&["20230101.txt", ".20230101.log"]);
    for name in ["20230101.txt", ".20230101.log"] {
        let error = discover(&dir.path().join(name)).unwrap_err();
        assert!(matches!(error, Error::NotALog { .. }), "{error}");
    }
}

#[test]
fn a_path_that_is_not_there_is_named() {
    let error = discover(Path::new("no/such/folder"))
        .unwrap_err()
        .to_string();
    assert_eq!(error, "cannot read no/such/folder");
}

#[test]
fn a_log_without_a_date_is_found_and_stages_nothing() {
    let dir = folder(&["20231301.log", "notes.log"]);
    for log in discover(dir.path()).expect("a good folder") {
        assert_eq!(log.date, None);
        assert_eq!(log.source_file(0), None);
    }
}

#[test]
fn a_staged_name_can_be_appended_to_a_root() {
    let dir = folder(&["x/20230101.log"]);
    let log = &discover(dir.path()).expect("a good folder")[0];
    let mut name = "s3://staging/".to_owned();
    assert!(log.write_source_file(7, &mut name));
    assert_eq!(
        name,
        "s3://staging/2023/20230101.zip/2023/01/01/20230101_7.hl7"
    );
}

#[cfg(unix)]
mod links {
    use super::{discover, folder, found};
    use bench_hl7::Error;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_to_a_folder_that_contains_it_does_not_loop() {
        let dir = folder(&["a/20230101.log", "b/20230102.log"]);
        symlink(dir.path(), dir.path().join("a/up")).expect("a link");
        symlink(dir.path().join("b"), dir.path().join("a/to-b")).expect("a link");
        symlink(dir.path().join("a"), dir.path().join("b/to-a")).expect("a link");
        symlink("self", dir.path().join("self")).expect("a link");
        assert_eq!(found(dir.path()), ["a/20230101.log", "b/20230102.log"]);
    }

    #[test]
    fn logs_behind_links_are_found() {
        let outside = folder(&["in/20230103.log", "20230104.txt"]);
        let dir = folder(&["20230101.log"]);
        symlink(outside.path().join("in"), dir.path().join("linked")).expect("a link");
        symlink(
            outside.path().join("20230104.txt"),
            dir.path().join("20230104.log"),
        )
        .expect("a link");
        assert_eq!(
            found(dir.path()),
            ["20230101.log", "20230104.log", "linked/20230103.log"]
        );
    }

    #[test]
    fn a_broken_link_is_left_to_its_reader() {
        let dir = folder(&[]);
        symlink("nowhere", dir.path().join("20230101.log")).expect("a link");
        assert_eq!(found(dir.path()), ["20230101.log"]);
    }

    #[test]
    fn a_socket_named_like_a_log_is_refused() {
        let dir = folder(&[]);
        let path = dir.path().join("20230101.log");
        let _socket = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
        let error = discover(dir.path()).unwrap_err();
        assert!(matches!(error, Error::NotAFile { .. }), "{error}");
    }

    #[test]
    fn a_log_whose_path_is_not_utf8_is_refused_and_other_files_are_not() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let dir = folder(&[]);
        fs::write(dir.path().join(OsStr::from_bytes(b"\xff.txt")), b"").expect("a file");
        assert_eq!(found(dir.path()), [""; 0]);
        fs::write(dir.path().join(OsStr::from_bytes(b"\xff.log")), b"").expect("a file");
        let error = discover(dir.path()).unwrap_err();
        assert!(matches!(error, Error::PathNotUtf8 { .. }), "{error}");
    }
}
