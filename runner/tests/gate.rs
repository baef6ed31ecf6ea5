//! The nightly gate, as it is used: runs are kept, later ones are held against them, and the exit code
//! says what became of it.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Three workflows, with a file for each of many parts.
const SMALL: &str = r#"
format = 1
name = "small"

[dataset]
messages = 90
log_files = 9
seed = 7
profile = "webs"

[sequence]
files_per_workflow = 3
retry = { max_attempts = 2, initial = "10ms", factor = 1, max = "10ms" }

[settings]
adaptive = false
shuffle_partitions = 4
"#;

/// The worker that is slow on purpose; cargo builds it with the tests.
fn slow() -> String {
    let test = std::env::current_exe().unwrap();
    let program = test
        .parent()
        .unwrap()
        .with_file_name("examples")
        .join("slow");
    assert!(
        program.exists(),
        "{} is missing: cargo test without --test builds it, or cargo build --examples",
        program.display()
    );
    program.display().to_string()
}

/// A folder in which runs are made and held against each other.
struct Nights {
    folder: TempDir,
}

impl Nights {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("s.toml"), SMALL).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Exit code, and standard output after standard error.
    fn bench(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_bench"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("COLUMNS", "120")
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text =
            String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        (output.status.code(), text.into_owned())
    }

    /// Makes a run, and moves it to a name of its own.
    fn night(&self, name: &str, sets: &[&str]) -> String {
        let mut arguments = vec!["run", "s.toml", "--quiet", "--out", "made"];
        for set in sets {
            arguments.extend(["--set", set]);
        }
        let (exit, text) = self.bench(&arguments);
        assert_eq!(exit, Some(0), "{text}");
        let made = fs::read_dir(self.path("made")).unwrap().next().unwrap();
        let target = self.path(name);
        fs::rename(made.unwrap().path(), &target).unwrap();
        target.display().to_string()
    }

    fn save(&self, run: &str) -> (Option<i32>, String) {
        self.bench(&["baseline", "save", "--baseline", "store", run])
    }

    fn gate(&self, more: &[&str]) -> (Option<i32>, String) {
        let mut arguments = vec!["gate", "--baseline", "store"];
        arguments.extend(more);
        self.bench(&arguments)
    }

    /// The files of the store that hold entries.
    fn entries(&self) -> Vec<PathBuf> {
        let folder = self.path("store/entries/small/default");
        let mut files: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        files
    }
}

fn command(words: &[&str]) -> [String; 2] {
    let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    [
        "target.kind=\"command\"".to_owned(),
        format!("target.command=[{}]", words.join(",")),
    ]
}

#[test]
fn a_second_night_is_the_same_and_what_changed_has_an_exit_code_of_its_own() {
    let nights = Nights::new();
    let first = nights.night("first", &[]);

    // Nothing is kept yet.
    let (exit, text) = nights.gate(&[&first]);
    assert_eq!(exit, Some(14), "{text}");
    let (exit, text) = nights.save(&first);
    assert_eq!(exit, Some(0), "{text}");
    // A run is not held against itself.
    assert_eq!(nights.gate(&[&first]).0, Some(14));

    let second = nights.night("second", &[]);
    let (exit, text) = nights.gate(&[&second, "--out", "said"]);
    assert_eq!(exit, Some(0), "{text}");
    assert!(text.starts_with("# Gate: same"), "{text}");
    let read = |name: &str| fs::read_to_string(nights.path("said").join(name)).unwrap();
    let verdict: Value = serde_json::from_str(&read("verdict.json")).unwrap();
    assert_eq!(verdict["verdict"], "same");
    let rows = verdict["variants"][0]["rows"].as_array().unwrap();
    let judged = rows.iter().filter(|row| !row["verdict"].is_null()).count();
    assert!(judged > 30, "{judged} figures are judged");
    let time = rows
        .iter()
        .find(|row| row["id"] == "service_total")
        .unwrap();
    assert!(time["verdict"].is_null(), "times of two nights never gate");
    assert!(read("junit.xml").contains("testsuite name=\"small/default\""));
    assert!(read("summary.md").contains("All figures of small/default"));
    let benchmark: Value = serde_json::from_str(&read("benchmark.json")).unwrap();
    assert!(benchmark.as_array().unwrap().len() > 30);

    // More files, by an engine that does not say so: found by counting, from one run.
    let [kind, program] = command(&[&slow(), "--partitions", "16"]);
    let worse = nights.night("worse", &[&kind, &program]);
    let (exit, text) = nights.gate(&[&worse]);
    assert_eq!(exit, Some(13), "another target is not compared: {text}");
    assert!(text.contains("--across target"), "{text}");
    let (exit, text) = nights.gate(&[&worse, "--across", "target"]);
    assert_eq!(exit, Some(12), "{text}");
    assert!(text.contains("curated: live files"), "{text}");
    assert!(text.contains("**across**"), "it says so: {text}");
    let (exit, text) = nights.gate(&[&worse, "--across", "target", "--tolerance", "rows=1"]);
    assert_eq!(exit, Some(64), "{text}");

    // One more rewrite for each merge: found by the bytes that were written.
    let [kind, program] = command(&[&slow(), "--rewrite"]);
    let rewrites = nights.night("rewrites", &[&kind, &program]);
    let (exit, text) = nights.gate(&[&rewrites, "--across", "target"]);
    assert_eq!(exit, Some(12), "{text}");
    assert!(text.contains("bytes written by all stages"), "{text}");

    // The same engine behind the wrapper, as it is: the same.
    let [kind, program] = command(&[&slow()]);
    let wrapped = nights.night("wrapped", &[&kind, &program]);
    let (exit, text) = nights.gate(&[&wrapped, "--across", "target"]);
    assert_eq!(exit, Some(0), "{text}");

    // Another data set.
    let other = nights.night("other", &["dataset.seed=8"]);
    let (exit, text) = nights.gate(&[&other]);
    assert_eq!(exit, Some(13), "{text}");
    assert!(text.contains("data set: digest"), "{text}");
}

#[test]
fn a_store_that_is_not_as_it_must_be_is_never_taken_for_an_empty_one() {
    let nights = Nights::new();
    let (first, second) = (nights.night("first", &[]), nights.night("second", &[]));
    assert_eq!(nights.save(&first).0, Some(0));
    let [path] = <[PathBuf; 1]>::try_from(nights.entries()).unwrap();
    let whole = fs::read(&path).unwrap();
    let refused = |content: &[u8], why: &str| {
        fs::write(&path, content).unwrap();
        let (exit, text) = nights.gate(&[&second]);
        assert_eq!(exit, Some(64), "{why}: {text}");
        assert!(text.contains(why), "{why}: {text}");
    };
    // Whatever is cut off, it is noticed.
    for length in [0, 1, 40, 120, whole.len() / 2, whole.len() - 1] {
        refused(&whole[..length], "is damaged");
    }
    let mut flipped = whole.clone();
    let at = flipped.len() - 20;
    flipped[at] ^= 1;
    refused(&flipped, "checksum");
    let text = String::from_utf8(whole.clone()).unwrap();
    refused(
        text.replacen("\"format\":1", "\"format\":9", 1).as_bytes(),
        "format 9",
    );
    // An entry in the place of another.
    fs::write(&path, &whole).unwrap();
    fs::rename(&path, path.with_file_name("another.json")).unwrap();
    let (exit, said) = nights.gate(&[&second]);
    assert_eq!(
        (exit, said.contains("another run")),
        (Some(64), true),
        "{said}"
    );
    // Somebody was writing it.
    let unfinished = path.with_file_name(".x.json.0.unfinished");
    fs::rename(path.with_file_name("another.json"), &unfinished).unwrap();
    let (exit, said) = nights.gate(&[&second]);
    assert_eq!(
        (exit, said.contains("never finished")),
        (Some(64), true),
        "{said}"
    );
    fs::rename(&unfinished, &path).unwrap();
    assert_eq!(nights.gate(&[&second]).0, Some(0));
    // The store itself.
    let (kept, lost) = (nights.path("store/entries"), nights.path("lost"));
    fs::rename(&kept, &lost).unwrap();
    let (exit, said) = nights.gate(&[&second]);
    assert_eq!(
        (exit, said.contains("lost its folder entries")),
        (Some(64), true),
        "{said}"
    );
    assert_eq!(nights.save(&second).0, Some(64), "nor is it begun anew");
    fs::rename(&lost, &kept).unwrap();
    assert_eq!(nights.gate(&[&second]).0, Some(0));
    let about = nights.path("store/store.json");
    let said = fs::read_to_string(&about).unwrap();
    fs::write(&about, said.replacen("\"format\":1", "\"format\":2", 1)).unwrap();
    assert_eq!(nights.gate(&[&second]).0, Some(64));
    fs::remove_file(&about).unwrap();
    let (exit, said) = nights.gate(&[&second]);
    assert_eq!(
        (exit, said.contains("no store")),
        (Some(64), true),
        "{said}"
    );
    assert_eq!(nights.save(&second).0, Some(64), "nor is it begun anew");
}

#[test]
fn jobs_that_save_at_the_same_time_lose_nothing_and_overwrite_nothing() {
    let nights = Nights::new();
    let run = nights.night("one", &[]);
    // Runs of other names: the same, told otherwise.
    let names: Vec<String> = (0..6).map(|number| format!("night-{number}")).collect();
    for name in &names {
        copy(Path::new(&run), &nights.path(name), name);
    }
    std::thread::scope(|scope| {
        for name in names.iter().chain(&names) {
            let nights = &nights;
            scope.spawn(move || {
                let (exit, text) = nights.save(name);
                assert_eq!(exit, Some(0), "{text}");
            });
        }
    });
    assert_eq!(nights.entries().len(), names.len());
    let (exit, text) = nights.bench(&["baseline", "list", "--baseline", "store"]);
    assert_eq!(exit, Some(0), "{text}");
    assert!(
        names.iter().all(|name| text.contains(name.as_str())),
        "{text}"
    );
    // The same name with other content is refused.
    let file = nights.path("night-0/run.json");
    let other = fs::read_to_string(&file).unwrap().replace("ext4", "ext5");
    let other = other.replacen("\"cores\": ", "\"cores\": 9", 1);
    fs::write(&file, other).unwrap();
    let (exit, text) = nights.save("night-0");
    assert_eq!(
        (exit, text.contains("other content")),
        (Some(64), true),
        "{text}"
    );
    // What is dropped is gone, and the rest stays.
    let drop = |name: &str| nights.bench(&["baseline", "drop", "--baseline", "store", name]);
    assert_eq!(drop("night-1").0, Some(0));
    assert_eq!(nights.entries().len(), names.len() - 1);
    assert_eq!(drop("night-1").0, Some(64));
    assert_eq!(drop("small/default").0, Some(0));
    assert_eq!(nights.gate(&[&run]).0, Some(14));
}

#[test]
fn a_run_that_is_no_measure_is_neither_kept_nor_let_through() {
    let nights = Nights::new();
    let good = nights.night("good", &[]);
    assert_eq!(nights.save(&good).0, Some(0));
    let bad = nights.path("bad");
    copy(Path::new(&good), &bad, "bad");
    let file = bad.join("verification.json");
    let said = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        said.replacen("\"passed\": true", "\"passed\": false", 1),
    )
    .unwrap();
    assert_eq!(nights.gate(&["bad"]).0, Some(10));
    let (exit, text) = nights.save("bad");
    assert_eq!(
        (exit, text.contains("nothing was kept")),
        (Some(10), true),
        "{text}"
    );
}

/// Copies a run's files to a run of another name.
fn copy(run: &Path, to: &Path, name: &str) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(run).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
    let file = to.join("run.json");
    let mut told: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    told["run"] = name.into();
    fs::write(&file, serde_json::to_vec_pretty(&told).unwrap()).unwrap();
}

/// Both sides run here, so this takes as long as it takes; what is asserted is what was run and that few
/// pairs give no verdict on time.
#[test]
fn both_sides_run_in_one_directory_and_few_pairs_give_no_verdict_on_time() {
    let nights = Nights::new();
    let arguments = |against: &str| {
        let mut all = vec!["gate", "--against", against, "s.toml", "--quiet"];
        all.extend(["--pairs", "2", "--runs", "made", "--format", "json"]);
        nights.bench(&all)
    };
    let (exit, text) = arguments(env!("CARGO_BIN_EXE_bench"));
    assert_eq!(exit, Some(0), "{text}");
    let verdict: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let rows = verdict["variants"][0]["rows"].as_array().unwrap();
    let total = rows
        .iter()
        .find(|row| row["id"] == "service_total")
        .unwrap();
    assert!(total["verdict"].is_null());
    assert!(
        total["why"].as_str().unwrap().contains("2 pairs"),
        "{total}"
    );
    let run = fs::read_dir(nights.path("made")).unwrap().next().unwrap();
    let csv = fs::read_to_string(run.unwrap().path().join("workflows.csv")).unwrap();
    let arms: Vec<String> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').take(2).collect::<Vec<_>>().join("-"))
        .collect();
    let mut order = arms.clone();
    order.dedup();
    assert_eq!(
        order,
        [
            "default.new-1",
            "default.base-1",
            "default.again-1",
            "default.again-2",
            "default.base-2",
            "default.new-2"
        ]
    );
}

/// A scenario of eight short workflows, for what is really measured.
const MEASURED: [&str; 8] = [
    "quickstart",
    "--set",
    "dataset.messages=400",
    "--set",
    "dataset.log_files=80",
    "--set",
    "sequence.files_per_workflow=10",
    "--quiet",
];

/// What a gate says of the machine that it runs on, variant by variant: its exit code and its rows.
fn measured(nights: &Nights, against: &str, more: &[&str]) -> (Option<i32>, Value) {
    let mut all = vec!["gate", "--against", against];
    all.extend(MEASURED);
    all.extend(["--set", "settings.shuffle_partitions=8", "--format", "json"]);
    all.extend(more);
    let (exit, text) = nights.bench(&all);
    let json = text.find('{').unwrap_or_else(|| panic!("{text}"));
    (exit, serde_json::from_str(&text[json..]).unwrap())
}

fn tell(round: usize, verdict: &Value) {
    for variant in verdict["variants"].as_array().unwrap() {
        let rows = variant["rows"].as_array().unwrap();
        let timed = rows.iter().filter(|row| !row["pairs"].is_null());
        let said: Vec<String> = timed
            .map(|row| {
                let pairs = &row["pairs"];
                let ratio = pairs["median"].as_f64().unwrap_or(f64::NAN);
                let ends = ["low", "high"].map(|end| pairs[end].as_f64().unwrap_or(f64::NAN));
                format!(
                    "{} {} {ratio:.3} [{:.3}, {:.3}]",
                    row["id"], row["verdict"], ends[0], ends[1]
                )
            })
            .collect();
        println!(
            "{round} {}: {}: {}",
            variant["variant"],
            variant["verdict"],
            said.join("; ")
        );
    }
}

/// Takes a number from the environment, so that somebody with a night to spare may ask for more.
fn rounds(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
#[ignore = "a quarter of an hour; prints figures of docs/statistics.md"]
fn an_engine_against_itself_does_not_fire() {
    let nights = Nights::new();
    let rounds = rounds("BENCH_GATE_ROUNDS", 20);
    let fired = (1..=rounds)
        .filter(|round| {
            let (exit, verdict) =
                measured(&nights, env!("CARGO_BIN_EXE_bench"), &["--pairs", "10"]);
            tell(*round, &verdict);
            exit != Some(0)
        })
        .count();
    println!("{fired} of {rounds} gates fired");
    // One in twenty, and one more, since twenty are few.
    assert!(fired <= rounds / 20 + 1, "{fired} of {rounds}");
}

#[test]
#[ignore = "some minutes; prints figures of docs/statistics.md"]
fn an_engine_that_is_a_tenth_slower_is_found_by_ten_pairs() {
    let nights = Nights::new();
    let rounds = rounds("BENCH_GATE_ROUNDS", 10);
    let [kind, program] = command(&[&slow(), "--percent", "10"]);
    let honest = format!("{} worker embedded", env!("CARGO_BIN_EXE_bench"));
    let more = [
        "--pairs",
        "10",
        "--set",
        kind.as_str(),
        "--set",
        program.as_str(),
    ];
    let found = (1..=rounds)
        .filter(|round| {
            let (exit, verdict) = measured(&nights, &honest, &more);
            tell(*round, &verdict);
            exit == Some(12)
        })
        .count();
    println!("{found} of {rounds} gates fired");
    assert!(found * 10 >= rounds * 9, "{found} of {rounds}");
}
