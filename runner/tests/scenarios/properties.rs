//! What must hold for any input.

use super::{LEAST, parse, read};
use bench_runner::scenario::{SHIPPED, load, parse as parse_file};
use proptest::prelude::*;
use std::path::Path;

/// A scenario that is shown as TOML and read again is the same.
fn survives(loaded: &bench_runner::scenario::Loaded) {
    let toml = loaded.toml();
    let again = parse_file(&toml, Path::new("shown.toml"), Path::new(""), &[])
        .unwrap_or_else(|errors| panic!("{errors}\n{toml}"));
    assert_eq!(again.scenario, loaded.scenario, "{toml}");
}

#[test]
fn every_shipped_scenario_is_shown_as_a_file_that_loads_as_the_same() {
    for (name, _) in SHIPPED {
        survives(&load(name, &[]).unwrap());
    }
    for (key, value) in [
        ("sequence.mode", "sequential"),
        ("faults", "[]"),
        ("sequence.deadline", "1h30min"),
        ("target.kind", "null"),
    ] {
        let set = [(key.to_owned(), value.to_owned())];
        survives(&load("dev05-concurrent", &set).unwrap());
    }
}

#[test]
fn what_is_seldom_written_is_shown_as_a_file_that_loads_as_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for rest in [
        "expect = \"fail\"\nabout = \"two \\\"lines\\\"\\nof text\"\n[variants.a]\nexpect = \"complete\"\n[variants.\"b.c\"]\n",
        "[resources]\nmemory = \"1GiB\"\ncpus = 3\n[variants.a.resources]\nmemory = \"none\"\ncpus = \"none\"\n[variants.b]\n",
        "[target]\nkind = \"command\"\ncommand = [\"a b\", \"'c'\", \"\"]\nlake = \"s3://x/y\"\n[target.storage]\n\"a.b\" = \"1\"\n\"c d\" = \"\\u0001\"\n[settings]\n\"x.y\" = 1.5\nz = \"\"\n[variants.e.target]\nkind = \"null\"\n[variants.f]\n",
        "[sequence]\nmode = \"concurrent\"\nlaunch_interval = \"0s\"\nqueue = \"shuffled\"\nworkers = 2\n[variants.s.sequence]\nmode = \"sequential\"\n[variants.c.sequence]\nlaunch_interval = \"1.5s\"\n",
        "[variants.a]\n[variants.b]\n[[faults]]\nworkflow = 1\nkill = \"SIGTERM\"\nafter = \"1ms\"\nvariants = [\"b\"]\n[[faults]]\nworkflow = 1\npause = \"3s\"\nstage = \"dx-append\"\n",
        "[variants.default.settings]\nvacuum = 3\nvacuum_retention = \"0s\"\n",
        "[matrix]\n\"sequence.retry.factor\" = [1, 2.5]\n\"settings.vacuum\" = [\"never\", 4]\n",
    ] {
        survives(&read(rest, &[]));
    }
    survives(&read(
        "",
        &[("dataset.path", path), ("target.lake", "lakes")],
    ));
}

/// Pieces from which files are put together that are nearly right.
const PIECES: &[&str] = &[
    "format = 1\n",
    "name = \"x\"\n",
    "about = \"y\"\n",
    "expect = \"fail\"\n",
    "[dataset]\n",
    "messages = 50\n",
    "log_files = 5\n",
    "path = \"/\"\n",
    "per_day = 2.5\n",
    "days = 9\n",
    "start = 2015-01-01\n",
    "profile = \"dirty\"\n",
    "[sequence]\n",
    "mode = \"concurrent\"\n",
    "launch_interval = \"1s\"\n",
    "workers = 2\n",
    "stop_after = 1\n",
    "passes = 3\n",
    "retry = { max_attempts = 2, initial = \"1s\" }\n",
    "deadline = \"none\"\n",
    "[target]\n",
    "kind = \"command\"\n",
    "kind = \"null\"\n",
    "command = [\"x\"]\n",
    "lake = \"s3://a\"\n",
    "storage.k = \"v\"\n",
    "[resources]\n",
    "memory = \"1GiB\"\n",
    "memory = \"none\"\n",
    "cpus = 2\n",
    "[settings]\n",
    "shuffle_partitions = 16\n",
    "adaptive = false\n",
    "vacuum = \"end\"\n",
    "other = 1\n",
    "[variants.a]\n",
    "[variants.b.settings]\n",
    "[variants.a.sequence]\n",
    "[matrix]\n",
    "\"resources.memory\" = [\"1GiB\", \"2GiB\"]\n",
    "\"settings.adaptive\" = [true, false]\n",
    "[[faults]]\n",
    "workflow = 1\n",
    "attempt = 2\n",
    "kill = \"SIGKILL\"\n",
    "stage = \"latest\"\n",
    "after = \"1s\"\n",
    "pause = \"1s\"\n",
    "variants = [\"a\"]\n",
    "[measure]\n",
    "repeats = 2\n",
    "[verify]\n",
    "rows = false\n",
    "x",
    "=",
    "[",
    "\"",
    "\n",
    "{",
    "99999999999999999999",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_panics_the_reader(text in any::<String>()) {
        let _ = parse(&text, &[]).map_err(|errors| errors.to_string());
        let _ = parse(&format!("{LEAST}{text}"), &[]).map_err(|errors| errors.to_string());
    }

    #[test]
    fn no_pieces_panic_the_reader_and_what_loads_is_shown_as_the_same(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..14),
    ) {
        let text = format!("{LEAST}{}", pieces.concat());
        match parse(&text, &[]) {
            Ok(loaded) => survives(&loaded),
            Err(errors) => prop_assert!(!errors.to_string().is_empty()),
        }
    }

    #[test]
    fn no_set_panics_the_reader(key in "[a-z_.\"\\[\\]]{0,40}", value in any::<String>()) {
        let _ = parse(LEAST, &[(&key, &value)]);
        for known in ["sequence.deadline", "resources.memory", "settings.vacuum", "faults", "matrix", "about", "variants.default.expect"] {
            if let Ok(loaded) = parse(LEAST, &[(known, &value)]) {
                survives(&loaded);
            }
        }
    }

    #[test]
    fn any_amount_of_time_and_memory_is_shown_as_the_same(seconds in 0_u64..31_000_000, nanos in 0_u32..1_000_000_000, bytes in 1_u64 << 20..1 << 60) {
        let initial = format!("{seconds}s {nanos}ns");
        let memory = bytes.to_string();
        let max = "366d";
        let loaded = read("", &[
            ("sequence.retry.initial", &initial),
            ("sequence.retry.max", max),
            ("resources.memory", &memory),
        ]);
        prop_assert_eq!(loaded.scenario.variants[0].resources.memory, Some(bytes));
        survives(&loaded);
    }
}
