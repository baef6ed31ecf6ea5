//! Which layer wins, and what a value that is set by hand does to the others.

use super::{parse, read};
use bench_runner::scenario::{
    DatasetSource, Expect, FaultKind, Loaded, Mode, Queue, TargetKind, When,
};
use std::time::Duration;

const TWO: &str = "\
[settings]
adaptive = false
[variants.a.settings]
shuffle_partitions = 200
[variants.b.settings]
shuffle_partitions = 16
";

fn names(loaded: &Loaded) -> Vec<&str> {
    loaded
        .scenario
        .variants
        .iter()
        .map(|variant| variant.name.as_str())
        .collect()
}

fn partitions(rest: &str, pairs: &[(&str, &str)]) -> Vec<u64> {
    read(rest, pairs)
        .scenario
        .variants
        .iter()
        .map(|variant| variant.settings["shuffle_partitions"].as_u64().unwrap())
        .collect()
}

#[test]
fn what_is_left_out_has_the_documented_default() {
    let scenario = read("", &[]).scenario;
    let [variant] = scenario.variants.as_slice() else {
        panic!("one variant")
    };
    assert_eq!(
        (variant.name.as_str(), variant.expect),
        ("default", Expect::Complete)
    );
    let sequence = &variant.sequence;
    assert_eq!(sequence.mode, Mode::Sequential);
    assert_eq!((sequence.workers, sequence.slots), (1, 1));
    assert_eq!((sequence.files_per_workflow, sequence.passes), (150, 1));
    assert_eq!((sequence.seed, sequence.stop_after), (1, None));
    let waits = [1, 2, 3, 4, 5, 6].map(|failed| sequence.retry.wait(failed).as_secs());
    assert_eq!(sequence.retry.max_attempts, 5);
    assert_eq!(waits, [30, 60, 120, 240, 300, 300]);
    assert_eq!(variant.target.kind, TargetKind::Embedded);
    assert_eq!(variant.target.start_timeout, Duration::from_secs(60));
    assert_eq!(variant.target.heartbeat_timeout, Duration::from_secs(30));
    assert_eq!(
        (variant.resources.memory, variant.resources.cpus),
        (None, None)
    );
    assert!(variant.settings.is_empty() && variant.faults.is_empty());
    let measure = &scenario.measure;
    assert_eq!((measure.repeats, measure.sample_interval.as_secs()), (1, 1));
    assert!(measure.probe && !measure.keep_lake && scenario.verify.rows);
    assert!(matches!(scenario.dataset,
        DatasetSource::Generated { ref profile, .. } if profile == "varied"));
}

#[test]
fn a_set_on_a_key_reaches_every_variant_and_one_on_a_variant_only_that() {
    let all = ("settings.shuffle_partitions", "8");
    let one = ("variants.b.settings.shuffle_partitions", "32");
    assert_eq!(partitions(TWO, &[]), [200, 16]);
    assert_eq!(partitions(TWO, &[all]), [8, 8]);
    assert_eq!(partitions(TWO, &[one]), [200, 32]);
    assert_eq!(partitions(TWO, &[one, all]), [8, 32]);
}

#[test]
fn variants_stand_in_the_order_of_the_file() {
    let loaded = read("[variants.z]\n[variants.a]\n[variants.m]\n", &[]);
    assert_eq!(names(&loaded), ["z", "a", "m"]);
}

#[test]
fn a_limit_of_the_base_is_lifted_by_none() {
    let rest = "[resources]\nmemory = \"1GiB\"\n[sequence]\nstop_after = 2\n\
                [variants.a]\n[variants.b]\nresources.memory = \"none\"\nsequence.stop_after = \"none\"\n";
    let scenario = read(rest, &[]).scenario;
    let limits: Vec<_> = scenario
        .variants
        .iter()
        .map(|variant| (variant.resources.memory, variant.sequence.stop_after))
        .collect();
    assert_eq!(limits, [(Some(1 << 30), Some(2)), (None, None)]);
}

#[test]
fn a_matrix_crosses_its_lists_the_last_one_fastest() {
    let rest = "[matrix]\n\"resources.memory\" = [\"1GiB\", \"96MiB\"]\n\
                settings.shuffle_partitions = [200, 16]\n";
    let loaded = read(rest, &[]);
    assert_eq!(
        names(&loaded),
        [
            "memory-1GiB--shuffle_partitions-200",
            "memory-1GiB--shuffle_partitions-16",
            "memory-96MiB--shuffle_partitions-200",
            "memory-96MiB--shuffle_partitions-16",
        ]
    );
    let last = &loaded.scenario.variants[3];
    assert_eq!(last.resources.memory, Some(96 << 20));
    assert_eq!(last.settings["shuffle_partitions"], 16);
}

#[test]
fn a_matrix_beside_variants_crosses_each_of_them() {
    let rest = format!("{TWO}[matrix]\n\"resources.cpus\" = [1, 2]\n");
    let loaded = read(&rest, &[]);
    assert_eq!(
        names(&loaded),
        ["a--cpus-1", "a--cpus-2", "b--cpus-1", "b--cpus-2"]
    );
    let one = ("variants.a.settings.shuffle_partitions", "7");
    assert_eq!(partitions(&rest, &[one]), [7, 7, 16, 16]);
    let cell = ("variants.a--cpus-2.settings.shuffle_partitions", "7");
    assert_eq!(partitions(&rest, &[cell]), [200, 7, 16, 16]);
}

#[test]
fn a_key_that_is_set_by_hand_is_no_axis_any_more() {
    let rest = "[matrix]\n\"resources.memory\" = [\"1GiB\", \"2GiB\"]\n\
                \"settings.shuffle_partitions\" = [200, 16]\n";
    let loaded = read(rest, &[("resources.memory", "3GiB")]);
    assert_eq!(
        names(&loaded),
        ["shuffle_partitions-200", "shuffle_partitions-16"]
    );
    let loaded = read(rest, &[("matrix.\"resources.memory\"", "[\"4GiB\"]")]);
    assert_eq!(loaded.scenario.variants.len(), 2);
    assert_eq!(loaded.scenario.variants[0].resources.memory, Some(4 << 30));
}

#[test]
fn a_folder_set_by_hand_drops_what_the_generator_would_make() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let rest = "[dataset]\nmessages = 100\nlog_files = 10\nseed = 1\n";
    let scenario = read(rest, &[("dataset.path", path)]).scenario;
    assert_eq!(
        scenario.dataset,
        DatasetSource::Folder(folder.path().to_owned())
    );
}

#[test]
fn messages_set_by_hand_keep_the_size_of_a_log_and_a_rate_drops_a_total() {
    let rest = "[dataset]\nmessages = 1000\nlog_files = 100\n";
    let overrides = |pairs: &[(&str, &str)]| match read(rest, pairs).scenario.dataset {
        DatasetSource::Generated { overrides, .. } => overrides,
        DatasetSource::Folder(_) => panic!("it is generated"),
    };
    let fewer = overrides(&[("dataset.messages", "250")]);
    assert_eq!((fewer.messages, fewer.log_files), (Some(250), Some(25)));
    let both = overrides(&[("dataset.messages", "250"), ("dataset.log_files", "7")]);
    assert_eq!((both.messages, both.log_files), (Some(250), Some(7)));
    let rate = overrides(&[("dataset.per_day", "20"), ("dataset.days", "9")]);
    assert_eq!((rate.messages, rate.log_files), (None, None));
    assert_eq!((rate.per_day, rate.days), (Some(20.0), Some(9)));
}

#[test]
fn a_value_set_by_hand_is_a_text_where_its_key_needs_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("2015");
    std::fs::create_dir(&path).unwrap();
    let loaded = read(
        "",
        &[("dataset.path", path.to_str().unwrap()), ("about", "2015")],
    );
    assert_eq!(loaded.scenario.about.as_deref(), Some("2015"));
    let loaded = read(
        "",
        &[
            ("dataset.start", "2016-01-01"),
            ("resources.memory", "2GiB"),
        ],
    );
    assert_eq!(loaded.scenario.variants[0].resources.memory, Some(2 << 30));
}

#[test]
fn paths_in_a_file_begin_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("logs")).unwrap();
    let file = folder.path().join("mine.toml");
    let text = format!(
        "{}[dataset]\npath = \"logs\"\n[target]\nlake = \"s3://b/p\"\n",
        super::LEAST
    );
    std::fs::write(&file, text).unwrap();
    let loaded = bench_runner::scenario::load(file.to_str().unwrap(), &[]).unwrap();
    let logs = folder.path().join("logs");
    assert_eq!(loaded.scenario.dataset, DatasetSource::Folder(logs));
    assert_eq!(
        loaded.scenario.variants[0].target.lake.as_deref(),
        Some("s3://b/p")
    );
}

#[test]
fn a_variant_that_is_sequential_leaves_the_concurrency_of_its_base() {
    let rest = "[sequence]\nmode = \"concurrent\"\nlaunch_interval = \"1s\"\nworkers = 3\nqueue = \"shuffled\"\n\
                [variants.all]\n[variants.one.sequence]\nmode = \"sequential\"\n";
    let scenario = read(rest, &[]).scenario;
    let [all, one] = scenario.variants.as_slice() else {
        panic!("two variants")
    };
    let concurrent = Mode::Concurrent {
        launch_interval: Duration::from_secs(1),
        queue: Queue::Shuffled,
    };
    assert_eq!((&all.sequence.mode, all.sequence.workers), (&concurrent, 3));
    assert_eq!(
        (&one.sequence.mode, one.sequence.workers),
        (&Mode::Sequential, 1)
    );
    let loaded = read(rest, &[("sequence.mode", "sequential")]);
    assert_eq!(loaded.scenario.variants[0].sequence.workers, 1);
}

#[test]
fn faults_are_done_to_the_variants_that_they_name() {
    let rest = "[variants.a]\n[variants.b]\n\
                [[faults]]\nworkflow = 3\nmemory = \"64MiB\"\n\
                [[faults]]\nworkflow = 2\nattempt = 2\nkill = \"SIGKILL\"\nstage = \"latest\"\nvariants = [\"b\"]\n\
                [[faults]]\nworkflow = 1\npause = \"2s\"\nafter = \"250ms\"\nvariants = [\"a\"]\n";
    let scenario = read(rest, &[]).scenario;
    let [a, b] = scenario.variants.as_slice() else {
        panic!("two variants")
    };
    let kinds = |faults: &[bench_runner::scenario::Fault]| -> Vec<FaultKind> {
        faults.iter().map(|fault| fault.kind.clone()).collect()
    };
    let pause = FaultKind::Pause {
        for_: Duration::from_secs(2),
        at: When::After(Duration::from_millis(250)),
    };
    let kill = FaultKind::Kill {
        signal: "SIGKILL".to_owned(),
        at: When::Stage("latest".to_owned()),
    };
    assert_eq!(kinds(&a.faults), [FaultKind::Memory(64 << 20), pause]);
    assert_eq!(kinds(&b.faults), [FaultKind::Memory(64 << 20), kill]);
    let loaded = read(rest, &[("faults", "[]")]);
    assert!(
        loaded
            .scenario
            .variants
            .iter()
            .all(|one| one.faults.is_empty())
    );
}

#[test]
fn further_settings_are_passed_to_a_command_and_refused_for_the_embedded_engine() {
    let rest = "[target]\nkind = \"command\"\ncommand = [\"python3\", \"worker.py\"]\n\
                [settings]\nshuffle_partitions = 16\nexecutors = 3\n\"spark.sql.x\" = \"on\"\n";
    let scenario = read(rest, &[]).scenario;
    let variant = &scenario.variants[0];
    assert_eq!(variant.target.command, ["python3", "worker.py"]);
    assert_eq!(variant.settings["executors"], 3);
    assert_eq!(variant.settings["spark.sql.x"], "on");
    let text = format!("{}{rest}", super::LEAST);
    let errors = parse(&text, &[("target.kind", "embedded")]).unwrap_err();
    assert_eq!(errors.all().len(), 2, "{errors}");
}

#[test]
fn every_value_keeps_where_it_came_from() {
    let loaded = read(TWO, &[("measure.repeats", "2")]);
    let from = |key: &str| {
        let (_, layer) = &loaded.origins.variants[1];
        layer
            .get(key)
            .or(loaded.origins.scenario.get(key))
            .unwrap()
            .origin
            .to_string()
    };
    assert_eq!(from("settings.adaptive"), "line 4");
    assert_eq!(from("settings.shuffle_partitions"), "variant b, line 8");
    assert_eq!(from("measure.repeats"), "--set measure.repeats=2");
    assert_eq!(from("sequence.passes"), "default");
}
