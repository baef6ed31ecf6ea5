use super::*;
use crate::event::{JobResult, Properties, TaskMetrics};
use crate::figures::Figures;

fn job(job: i64, stages: &[i64], workflow: &str) -> Event {
    Event::JobStart(JobStart {
        job,
        time: Some(1_000),
        stages: stages.to_vec(),
        properties: Some(Properties {
            workflow: (!workflow.is_empty()).then(|| workflow.to_owned()),
            ..Properties::default()
        }),
    })
}

fn job_of_execution(id: i64, execution: i64, workflow: &str, group: Option<&str>) -> Event {
    let Event::JobStart(mut start) = job(id, &[], workflow) else {
        unreachable!("a job was made");
    };
    let properties = start.properties.get_or_insert_default();
    properties.execution = Some(execution.to_string());
    properties.group = group.map(str::to_owned);
    Event::JobStart(start)
}

fn end(job: i64) -> Event {
    Event::JobEnd(JobEnd {
        job,
        time: 1_500,
        result: JobResult {
            result: "JobSucceeded".to_owned(),
        },
    })
}

fn submitted(stage: i64, attempt: i64) -> Event {
    Event::StageSubmitted(StageId { stage, attempt })
}

fn task(stage: i64, attempt: i64) -> Event {
    Event::TaskEnd(Box::new(TaskEnd {
        stage: StageId { stage, attempt },
        outcome: TaskOutcome::Succeeded,
        milliseconds: 10,
        metrics: TaskMetrics::default(),
    }))
}

fn execution(execution: i64, root: Option<i64>, group: Option<&str>) -> Event {
    Event::ExecutionStart(Box::new(ExecutionStart {
        execution,
        root,
        group: group.map(str::to_owned),
        ..ExecutionStart::default()
    }))
}

/// Figures by workflow; "" for what no job claims.
fn figures(events: impl IntoIterator<Item = Event>) -> BTreeMap<String, Figures> {
    let mut application = Application::default();
    events.into_iter().for_each(|event| application.take(event));
    let groups = application.finish().into_iter();
    groups
        .map(|(group, (tally, _))| (group.workflow.unwrap_or_default(), tally.figures()))
        .collect()
}

#[test]
fn a_task_belongs_to_the_job_that_runs_its_stage_and_not_to_one_that_reuses_it() {
    let found = figures([
        job(0, &[0, 1], "1"),
        submitted(0, 0),
        task(0, 0),
        submitted(1, 0),
        task(1, 0),
        end(0),
        job(1, &[0, 2], "2"),
        submitted(2, 0),
        task(2, 0),
        end(1),
    ]);
    assert_eq!((found["1"].tasks, found["2"].tasks), (2, 1));
}

#[test]
fn a_stage_that_is_run_again_for_another_job_counts_there() {
    let found = figures([
        job(0, &[0], "1"),
        submitted(0, 0),
        task(0, 0),
        end(0),
        job(1, &[0, 1], "2"),
        submitted(0, 1),
        task(0, 1),
    ]);
    assert_eq!((found["1"].tasks, found["2"].tasks), (1, 1));
    assert_eq!(found["2"].jobs_unfinished, 1);
}

#[test]
fn what_no_job_claims_is_kept_in_a_group_without_names() {
    let found = figures([task(7, 0), job(0, &[], ""), end(0)]);
    assert_eq!((found[""].tasks, found[""].jobs), (1, 1));
    assert_eq!(found[""].job_p50_s, Some(0.5));
}

#[test]
fn an_execution_belongs_where_its_jobs_do_or_its_root_or_its_job_group() {
    let found = figures([
        execution(0, Some(0), None),
        execution(1, Some(0), None),
        job_of_execution(0, 1, "1", Some("g1")),
        execution(2, Some(2), Some("g1")),
        execution(3, Some(3), None),
    ]);
    assert_eq!(found["1"].sql_executions, 3);
    assert_eq!(found[""].sql_executions, 1);
}

#[test]
fn a_write_that_no_plan_names_is_known_by_the_shape_of_its_statistics() {
    let write = vec![(43, 3), (40, 6), (42, 200), (45, 0), (41, 5_364)];
    let named = HashSet::from([41]);
    assert_eq!(unnamed_write(&write, &HashSet::new()), Some((6, 5_364)));
    assert_eq!(unnamed_write(&write, &named), None);
    assert_eq!(unnamed_write(&write[..4], &HashSet::new()), None);
    assert_eq!(
        unnamed_write(&[(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)], &HashSet::new()),
        None
    );
    assert_eq!(unnamed_write(&[], &HashSet::new()), None);
}

#[test]
fn an_exchange_that_never_took_place_is_no_shuffle() {
    let plan = |shuffles| Event::Plan {
        execution: 0,
        plan: Plan {
            shuffles,
            ..Plan::default()
        },
    };
    let found = figures([
        execution(0, Some(0), None),
        plan(vec![(1, None), (2, None)]),
        Event::DriverMetrics {
            execution: 0,
            values: vec![(1, 200)],
        },
        plan(vec![(1, Some(9))]),
        Event::DriverMetrics {
            execution: 0,
            values: vec![(9, 4)],
        },
    ]);
    let found = &found[""];
    assert_eq!((found.shuffles, found.shuffles_coalesced), (1, 1));
    assert_eq!(found.shuffle_partitions_p50, Some(200.0));
    assert_eq!(found.shuffle_read_partitions_p50, Some(4.0));
}

#[test]
fn an_executor_that_was_given_back_is_not_lost() {
    let mut application = Application::default();
    for reason in [
        "Executor killed by driver.",
        "Container killed by YARN for exceeding memory limits",
        "Command exited with code: 137",
        "worker lost",
    ] {
        let reason = reason.to_owned();
        application.take(Event::ExecutorRemoved { reason });
    }
    assert_eq!(application.executors_lost, 3);
    assert_eq!(application.executors_out_of_memory, 2);
}

#[test]
fn a_secret_is_hidden_whatever_sparks_own_pattern_lets_through() {
    let setting = |key: &str| redacted((key.to_owned(), "x".to_owned())).1;
    assert_eq!(setting("spark.hadoop.fs.s3a.access.key"), "(redacted)");
    assert_eq!(setting("spark.app.Token"), "(redacted)");
    assert_eq!(setting("spark.master"), "x");
}
