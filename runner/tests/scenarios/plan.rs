//! What `--dry-run` says.

use super::read;
use bench_runner::plan::{Logs, Plan, order, text};
use bench_runner::scenario::{Scenario, load};
use bench_runner::terminal::Terminal;

const PLAIN: Terminal = Terminal {
    color: false,
    width: 100,
    watched: false,
};

fn plan(scenario: &Scenario) -> Plan {
    Plan::of(scenario, &Logs::foresee(&scenario.dataset).unwrap())
}

#[test]
fn repeats_interleave_forth_and_back() {
    let rest = "[measure]\nrepeats = 3\n[variants.a]\n[variants.b]\n[variants.c]\n";
    let scenario = read(rest, &[]).scenario;
    let arms: Vec<String> = order(&scenario)
        .map(|(variant, repeat)| format!("{}{repeat}", variant.name))
        .collect();
    assert_eq!(arms.join(" "), "a1 b1 c1 c2 b2 a2 a3 b3 c3");
}

#[test]
fn workflows_and_messages_are_those_of_the_batches_that_run() {
    let rest = "[dataset]\nmessages = 1000\nlog_files = 25\n[sequence]\nfiles_per_workflow = 10\n\
                [variants.all]\n[variants.two]\nsequence.stop_after = 2\n[variants.twice]\nsequence.passes = 2\n";
    let scenario = read(rest, &[]).scenario;
    let logs = Logs::foresee(&scenario.dataset).unwrap();
    let counts = logs.messages.clone().unwrap();
    let plan = Plan::of(&scenario, &logs);
    let of = |at: usize| {
        let arm = &plan.arms[at];
        (arm.workflows, arm.workflows_in_all, arm.logs, arm.messages)
    };
    let first_20: u64 = counts[..20].iter().sum();
    assert_eq!(of(0), (3, 3, 25, Some(1000)));
    assert_eq!(of(1), (2, 3, 20, Some(first_20)));
    assert_eq!(of(2), (6, 6, 50, Some(2000)));
}

#[test]
fn what_the_generator_will_make_is_foreseen_exactly() {
    for dataset in [
        "messages = 300\nlog_files = 20\nprofile = \"lifelike\"\n",
        "per_day = 12.5\ndays = 30\nprofile = \"dirty\"\nseed = 4\n",
    ] {
        let scenario = read(&format!("[dataset]\n{dataset}"), &[]).scenario;
        let logs = Logs::foresee(&scenario.dataset).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("D");
        let bench_runner::scenario::DatasetSource::Generated { profile, overrides } =
            &scenario.dataset
        else {
            panic!("it is generated")
        };
        let spec = bench_generator::Spec::load(profile, overrides).unwrap();
        let options = bench_generator::Options {
            out: out.clone(),
            threads: 1,
            only_files: None,
            resume: false,
        };
        bench_generator::generate(spec, &options, &bench_generator::Silent).unwrap();
        assert_eq!(bench_hl7::discover(&out).unwrap().len() as u64, logs.count);
        let found = Logs::foresee(&bench_runner::scenario::DatasetSource::Folder(out)).unwrap();
        assert_eq!((found.count, found.messages), (logs.count, None));
        assert!(found.bytes > Some(0));
    }
}

#[test]
fn a_plan_is_told_with_its_arms_its_faults_and_what_it_will_take() {
    let quickstart = load("quickstart", &[]).unwrap().scenario;
    insta::assert_snapshot!("plan_quickstart", text(&plan(&quickstart), &PLAIN));
    let dev04 = load("dev04-sequential", &[]).unwrap().scenario;
    insta::assert_snapshot!("plan_dev04_sequential", text(&plan(&dev04), &PLAIN));
    let dev05 = load("dev05-concurrent", &[]).unwrap().scenario;
    insta::assert_snapshot!("plan_dev05_concurrent", text(&plan(&dev05), &PLAIN));
}

#[test]
fn what_a_command_takes_is_not_guessed() {
    let rest = "[target]\nkind = \"command\"\ncommand = [\"worker\"]\n[dataset]\nmessages = 100\nlog_files = 9\n";
    let plan = plan(&read(rest, &[]).scenario);
    assert_eq!((plan.seconds, plan.disk_bytes), (None, None));
    let json = serde_json::to_value(&plan).unwrap();
    assert_eq!(json["arms"][0]["workflows"], 1);
    assert_eq!(json["seconds"], serde_json::Value::Null);
    assert!(text(&plan, &PLAIN).contains("not known"));
}

#[test]
fn lakes_that_are_kept_add_up_and_dead_files_that_are_deleted_do_not() {
    let disk = |sets: &[(&str, &str)]| {
        let rest = "[dataset]\nmessages = 20_000\nlog_files = 700\n[variants.a]\n[variants.b]\n";
        plan(&read(rest, sets).scenario).disk_bytes.unwrap()
    };
    let dropped = disk(&[]);
    assert!(disk(&[("measure.keep_lake", "true")]) > dropped);
    let vacuumed = [
        ("settings.vacuum", "1"),
        ("settings.vacuum_retention", "0s"),
    ];
    assert!(disk(&vacuumed) < dropped);
}
