use super::*;

fn task(reason: &str) -> TaskOutcome {
    let line = format!(
        r#"{{"Event":"SparkListenerTaskEnd","Stage ID":1,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{reason},"Task Info":{{"Task ID":1,"Launch Time":5,"Finish Time":9,"Accumulables":[]}}}}"#
    );
    match read(line.as_bytes()) {
        Line::Event(Event::TaskEnd(task)) => task.outcome,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_ends_of_tasks_are_told_apart() {
    let ends = [
        (r#"{"Reason":"Success"}"#, TaskOutcome::Succeeded),
        (
            r#"{"Reason":"TaskKilled","Kill Reason":"another attempt succeeded"}"#,
            TaskOutcome::Killed,
        ),
        (r#"{"Reason":"FetchFailed"}"#, TaskOutcome::Failed),
        (
            r#"{"Reason":"ExceptionFailure","Class Name":"java.lang.OutOfMemoryError","Full Stack Trace":""}"#,
            TaskOutcome::OutOfMemory,
        ),
        (
            r#"{"Reason":"ExceptionFailure","Class Name":"org.apache.spark.SparkException","Full Stack Trace":"org.apache.spark.SparkException: failed\n\tat x\nCaused by: org.apache.spark.memory.SparkOutOfMemoryError: no\n\tat y"}"#,
            TaskOutcome::OutOfMemory,
        ),
        (
            r#"{"Reason":"ExecutorLostFailure","Executor ID":"1","Exit Caused By App":true,"Loss Reason":"Container killed by YARN for exceeding physical memory limits."}"#,
            TaskOutcome::OutOfMemory,
        ),
        (
            r#"{"Reason":"ExecutorLostFailure","Executor ID":"1","Exit Caused By App":true,"Loss Reason":"Remote RPC client disassociated."}"#,
            TaskOutcome::ExecutorLost,
        ),
    ];
    for (reason, outcome) in ends {
        assert_eq!(task(reason), outcome, "{reason}");
    }
}

#[test]
fn words_about_memory_inside_a_message_are_no_lack_of_memory() {
    let reason = r#"{"Reason":"ExceptionFailure","Class Name":"java.lang.RuntimeException","Full Stack Trace":"java.lang.RuntimeException: java.lang.OutOfMemoryError was seen\n\tat java.lang.OutOfMemoryError"}"#;
    assert_eq!(task(reason), TaskOutcome::Failed);
}

#[test]
fn an_event_that_nobody_asks_for_is_passed_over_and_another_one_is_named() {
    let known = br#"{"Event":"SparkListenerUnpersistRDD","RDD ID":2}"#;
    assert_eq!(read(known), Line::PassedOver);
    let streaming = br#"{"Event":"org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent","progress":{}}"#;
    assert_eq!(read(streaming), Line::PassedOver);
    let catalogue = br#"{"Event":"org.apache.spark.sql.catalyst.catalog.DropTableEvent","database":"d","name":"t"}"#;
    assert_eq!(read(catalogue), Line::PassedOver);
    let other = br#"{"Event":"com.example.Audit","who":1}"#;
    assert_eq!(read(other), Line::Unknown("com.example.Audit".to_owned()));
}

#[test]
fn a_line_that_is_not_json_is_never_passed_over() {
    let wrong: [&[u8]; 7] = [
        br#"{"Event":"SparkListenerUnpersistRDD","RDD ID":2"#,
        br#"{"Event":"SparkListenerUnpersistRDD","RDD{"Event":"SparkListenerJobEnd","Job ID":1}"#,
        br#"{"Event":"com.example.Audit","#,
        br#"{"Event":"SparkListenerApplicationEnd","Timestamp":1"#,
        b"java.io.IOException: no space left",
        b"{",
        b"\0\0\0\0",
    ];
    for line in wrong {
        assert!(matches!(read(line), Line::NotJson(_)), "{line:?}");
    }
}

#[test]
fn an_event_without_what_it_must_have_is_not_understood() {
    for line in [
        &br#"{"Event":"SparkListenerJobStart","Job ID":"one"}"#[..],
        br#"{"Event":"SparkListenerApplicationEnd"}"#,
        br#"{"event":"SparkListenerJobEnd"}"#,
        b"[]",
        b"17",
    ] {
        assert!(matches!(read(line), Line::NotUnderstood(..)), "{line:?}");
    }
}

#[test]
fn the_name_of_an_event_may_stand_anywhere() {
    let line = br#"{ "Timestamp": 7, "Event": "SparkListenerApplicationEnd" }"#;
    assert_eq!(read(line), Line::Event(Event::ApplicationEnd { time: 7 }));
}

/// A plan of one operator above another.
fn nested(depth: usize) -> String {
    let open = r#"{"nodeName":"Union","simpleString":"","children":["#.repeat(depth);
    let leaf = r#"{"nodeName":"Scan parquet","children":[],"metrics":[{"name":"number of files read","accumulatorId":9,"metricType":"sum"}]}"#;
    format!(
        "{open}{leaf}{}",
        r#"],"metadata":{},"metrics":[]}"#.repeat(depth)
    )
}

fn update(plan: &str) -> Line {
    let line = format!(
        r#"{{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate","executionId":3,"physicalPlanDescription":"","sparkPlanInfo":{plan}}}"#
    );
    read(line.as_bytes())
}

#[test]
fn a_plan_may_nest_as_deep_as_it_likes() {
    let Line::Event(Event::Plan { plan, .. }) = update(&nested(100_000)) else {
        panic!("the plan is not read");
    };
    assert_eq!(plan.files, [(9, FileMetric::FilesRead)]);
}

#[test]
fn a_plan_in_words_is_no_plan() {
    let words = r#"{\"nodeName\":\"Exchange\",\"metrics\":[]}"#;
    let plan =
        format!(r#"{{"nodeName":"Scan","simpleString":"{words}","children":[],"metrics":[]}}"#);
    let Line::Event(Event::Plan { plan, .. }) = update(&plan) else {
        panic!("the plan is not read");
    };
    assert_eq!(plan, Plan::default());
}

#[test]
fn a_plan_whose_operators_have_no_end_is_not_understood() {
    let plan = r#"{"nodeName":"Scan","children":[]}"#;
    assert!(matches!(update(plan), Line::NotUnderstood(..)));
}

#[test]
fn a_shuffle_is_paired_with_the_adaptive_reader_right_above_it() {
    let exchange = |id: i64| {
        format!(
            r#"{{"nodeName":"Exchange","children":[],"metrics":[{{"name":"number of partitions","accumulatorId":{id},"metricType":"sum"}}]}}"#
        )
    };
    let above = |name: &str, below: &str, id: i64| {
        format!(
            r#"{{"nodeName":"{name}","children":[{below}],"metrics":[{{"name":"number of partitions","accumulatorId":{id},"metricType":"sum"}}]}}"#
        )
    };
    let stage = above("ShuffleQueryStage", &exchange(1), 50);
    let read = above("AQEShuffleRead", &stage, 2);
    let join = format!(
        r#"{{"nodeName":"SortMergeJoin","children":[{read},{}],"metrics":[]}}"#,
        exchange(3)
    );
    let Line::Event(Event::Plan { plan, .. }) = update(&join) else {
        panic!("the plan is not read");
    };
    assert_eq!(plan.shuffles, [(1, Some(2)), (3, None)]);
}
