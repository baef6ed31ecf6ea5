//! What wrong files are told. Each is told everything at once.

use super::{LEAST, parse, read};
use std::fmt::Write;

/// A wrong file with a name, without its first two lines where they are as they should be.
const WRONG: &[(&str, &str)] = &[
    (
        "keys that do not exist",
        "nam = 1\n[sequence]\nworker = 2\nretry.max_attemps = 1\n[resource]\nmemory = \"1GiB\"\n[settings]\nshufle_partitions = 3\n[measure]\nqwertz = 1\n",
    ),
    (
        "a key in the wrong section",
        "launch_interval = \"1s\"\n[settings]\nmemory = \"1GiB\"\n",
    ),
    (
        "values of another type",
        "about = 3\n[sequence]\nworkers = \"two\"\nmode = true\n[settings]\nadaptive = \"false\"\nshuffle_partitions = true\n[measure]\nprobe = 1\n[target]\ncommand = \"worker.py\"\n",
    ),
    (
        "values out of range",
        "[sequence]\nworkers = 0\nfiles_per_workflow = -1\nretry.factor = 0.5\n[resources]\nmemory = 0\ncpus = 0\n[settings]\nshuffle_partitions = 0\nvacuum = \"0\"\n[measure]\nrepeats = 99999999999999999999999999\nsample_interval = \"1ms\"\n",
    ),
    (
        "units",
        "[sequence]\nretry.initial = \"5\"\ndeadline = 30\nattempt_timeout = \"5 parsecs\"\n[resources]\nmemory = \"2 gigs\"\n",
    ),
    (
        "words",
        "expect = \"die\"\n[sequence]\nmode = \"paralel\"\nqueue = \"random\"\n[resources]\nenforcement = \"cgroups\"\n[dataset]\nencoding = \"latin1\"\n",
    ),
    (
        "what is not built yet",
        "[target]\nkind = \"temporal\"\n[verify]\ntrino = \"http://127.0.0.1:8080/lake/default\"\n[variants.a.target]\nkind = \"temporal\"\n[variants.b.target]\nkind = \"scout\"\n",
    ),
    (
        "spark",
        "[target]\nkind = \"spark\"\npipeline = \"scot\"\n[settings]\nshufle_partitions = 3\n[variants.a]\ntarget.pipeline = \"scout\"\n[variants.b.target]\nkind = \"embedded\"\nmaster = \"yarn\"\nconf.\"spark.x\" = 1\n[variants.c]\ntarget.conf.spark.x = 1\nsequence = { mode = \"concurrent\", launch_interval = \"1s\", slots = 2 }\n[[faults]]\nworkflow = 1\nkill = \"SIGKILL\"\nstage = \"curatd\"\n",
    ),
    (
        "tables and values mixed up",
        "sequence = 3\nvariants = []\nmatrix = 1\nfaults = { workflow = 1 }\n[resources.memory]\nx = 1\n[target.storage]\nx = { y = 1 }\n",
    ),
    (
        "what cannot differ between variants",
        "[variants.a.dataset]\nmessages = 3\n[variants.b]\nname = \"b\"\nmeasure.repeats = 2\n[matrix]\n\"dataset.messages\" = [1, 2]\n",
    ),
    (
        "names",
        "[variants.\"a/b\"]\n[variants.\"\"]\n[variants.\"..\"]\n",
    ),
    (
        "concurrent keys without concurrency",
        "[sequence]\nlaunch_interval = \"1s\"\nqueue = \"fifo\"\nworkers = 2\nslots = 2\n",
    ),
    (
        "concurrency without an interval",
        "[sequence]\nmode = \"concurrent\"\n",
    ),
    (
        "targets",
        "[target]\nkind = \"command\"\n[variants.a.target]\nkind = \"embedded\"\ncommand = [\"x\"]\n[variants.b.target]\ncommand = [\"x\"]\nstorage.region = \"x\"\n",
    ),
    (
        "the end of the sequence",
        "[dataset]\nmessages = 100\nlog_files = 40\n[sequence]\nfiles_per_workflow = 10\nstop_after = 5\nretry.max = \"1s\"\n",
    ),
    (
        "faults that cannot happen",
        "[dataset]\nmessages = 100\nlog_files = 40\n[sequence]\nfiles_per_workflow = 10\nstop_after = 3\nretry.max_attempts = 2\n[resources]\nmemory = \"1GiB\"\n[[faults]]\nworkflow = 5\nmemory = \"64MiB\"\n[[faults]]\nworkflow = 4\nmemory = \"64MiB\"\n[[faults]]\nworkflow = 1\nattempt = 3\nkill = \"SIGKILL\"\nafter = \"1s\"\n[[faults]]\nworkflow = 1\nkill = \"SIGKILL\"\nstage = \"latests\"\n[[faults]]\nworkflow = 2\nmemory = \"2GiB\"\n[[faults]]\nworkflow = 1\nvariants = [\"tuned\"]\nmemory = \"64MiB\"\n",
    ),
    (
        "faults that are not whole",
        "[[faults]]\nmemory = \"64MiB\"\n[[faults]]\nworkflow = 1\n[[faults]]\nworkflow = 1\nmemory = \"64MiB\"\nkill = \"SIGKILL\"\n[[faults]]\nworkflow = 1\nmemory = \"64MiB\"\nafter = \"1s\"\n[[faults]]\nworkflow = 1\nkill = \"SIGKILL\"\n[[faults]]\nworkflow = 1\npause = \"1s\"\nstage = \"latest\"\nafter = \"1s\"\n[[faults]]\nworkflow = 1\nkill = \"KILL\"\nworkflows = 3\n[[faults]]\nworkflow = 1\nmemory = \"64MiB\"\n[[faults]]\nworkflow = 1\nmemory = \"32MiB\"\nvariants = []\n",
    ),
    (
        "the matrix",
        "[matrix]\n\"resources.memory\" = \"1GiB\"\n\"resources.cpus\" = []\n\"settings.shuffle_partitions\" = [16, 0, 16]\n\"sequence.worker\" = [1, 2]\nresources = 3\n",
    ),
    (
        "a matrix of two variants of one name",
        "[matrix]\n\"target.lake\" = [\"s3://a/b\", \"s3://a_b\", \"s3://a:b\"]\n",
    ),
    (
        "a data set that the generator refuses",
        "[dataset]\nmessages = 10\nlog_files = 20\nstart = \"2015-02-30\"\n",
    ),
    (
        "a profile that is not there",
        "[dataset]\nprofile = \"vared\"\n",
    ),
    (
        "a folder and a generator",
        "[dataset]\npath = \"/\"\nmessages = 10\nseed = 3\n",
    ),
    (
        "a folder that is not there",
        "[dataset]\npath = \"/nowhere/at/all\"\n",
    ),
];

#[test]
fn every_fault_of_a_file_is_told_at_once_with_its_place_and_what_is_allowed() {
    let mut told = String::new();
    for (name, rest) in WRONG {
        let text = format!("{LEAST}{rest}");
        let errors = parse(&text, &[]).expect_err(name);
        let _ = writeln!(told, "## {name}\n{errors}\n");
    }
    insta::assert_snapshot!("wrong_files", told);
}

#[test]
fn what_is_no_toml_is_told_for_every_line() {
    let errors = parse("format = 1\nname = \n[sequence\nmode = 'x'\na b\n", &[]).unwrap_err();
    insta::assert_snapshot!("no_toml", errors.to_string());
}

#[test]
fn a_file_without_format_and_name_is_told_how_to_begin() {
    let errors = parse("format = 2\n[measure]\nrepeats = 2\n", &[]).unwrap_err();
    insta::assert_snapshot!("no_name", errors.to_string());
    assert!(parse("", &[]).is_err());
}

#[test]
fn what_is_set_by_hand_is_judged_like_the_file() {
    let file = "[dataset]\nmessages = 100\nlog_files = 10\n[variants.tuned]\n";
    let mut told = String::new();
    for (key, value) in [
        ("settings.shufle_partitions", "3"),
        ("settings.shuffle_partitions", "many"),
        ("resources.memory", "lots"),
        ("variants.tune.resources.memory", "1GiB"),
        ("variants.tuned", "1"),
        ("variants.tuned.dataset.messages", "1"),
        ("matrix.resources.memory", "1GiB"),
        ("a..b", "1"),
        ("", ""),
        ("dataset.messages", "0"),
        ("dataset.log_files", "1000"),
        ("dataset.path", "/nowhere/at/all"),
        ("faults", "[{ workflow = 1 }]"),
    ] {
        let text = format!("{LEAST}{file}");
        let errors = parse(&text, &[(key, value)]).expect_err(key);
        let _ = writeln!(told, "{errors}");
    }
    let text = format!("{LEAST}[dataset]\npath = \"/\"\n");
    let errors = parse(&text, &[("dataset.messages", "10")]).unwrap_err();
    let _ = writeln!(told, "{errors}");
    let errors = parse(LEAST, &[("dataset.path", "/"), ("dataset.seed", "1")]).unwrap_err();
    let _ = writeln!(told, "{errors}");
    insta::assert_snapshot!("wrong_sets", told);
}

#[test]
fn a_scenario_that_is_not_there_names_those_that_are() {
    let told = ["quickstrat", "scenarios/dev04-ful.toml", "qqqqqqqqqqq"].map(|name| {
        let errors = bench_runner::scenario::load(name, &[]).unwrap_err();
        errors.to_string()
    });
    insta::assert_snapshot!("not_there", told.join("\n"));
}

#[test]
fn a_file_that_is_no_utf_8_is_told_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    std::fs::write(&path, b"format = 1\nname = \"\xff\"\n").unwrap();
    let errors = bench_runner::scenario::load(path.to_str().unwrap(), &[]).unwrap_err();
    assert!(
        errors.to_string().contains("no UTF-8 in line 2"),
        "{errors}"
    );
}

#[test]
fn a_matrix_that_explodes_is_refused() {
    let numbers: Vec<String> = (1..=40).map(|number| number.to_string()).collect();
    let list = numbers.join(", ");
    let text =
        format!("{LEAST}[matrix]\n\"resources.cpus\" = [{list}]\n\"sequence.seed\" = [{list}]\n");
    let errors = parse(&text, &[]).unwrap_err().to_string();
    assert!(errors.contains("more than 1000 variants"), "{errors}");
}

#[test]
fn one_slip_is_one_error() {
    let text =
        format!("{LEAST}[sequence]\nmode = \"concurent\"\nlaunch_interval = \"1s\"\nworkers = 3\n");
    assert_eq!(parse(&text, &[]).unwrap_err().all().len(), 1);
    // With the slip put right the rest is right too.
    read(
        "[sequence]\nmode = \"concurrent\"\nlaunch_interval = \"1s\"\nworkers = 3\n",
        &[],
    );
}
