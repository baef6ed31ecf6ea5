//! `report.html` as text: what it says, that nothing in it is markup that should be text, and that it holds
//! what the other forms hold. What it does in a browser is tested in `tests/browser`.

use bench_reports::charts::{Charts, Kind};
use bench_reports::{Run, charts, html, report};
use std::path::{Path, PathBuf};

const AWKWARD: &str = "</script><b onmouseover=alert(1)>&\"tuned\"'";

fn folder(name: &str) -> PathBuf {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    data.join(name)
}

fn stored(name: &str) -> Run {
    Run::read(&folder(name)).unwrap()
}

fn page(runs: &[Run]) -> String {
    html(&report(runs).unwrap(), &charts(runs).unwrap())
}

fn charts_of(name: &str) -> Charts {
    charts(&[stored(name)]).unwrap()
}

/// A stored run with other text in its files.
fn changed(name: &str, change: impl Fn(&str, String) -> String) -> Run {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(folder(name)).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        std::fs::write(copy.path().join(name), change(name, text)).unwrap();
    }
    let mut run = Run::read(copy.path()).unwrap();
    // The folder's name is another each time.
    run.label = "changed".to_owned();
    run
}

fn awkward() -> Run {
    changed("run-format-1", |name, text| {
        if name.ends_with(".csv") {
            let quoted = AWKWARD.replace('"', "\"\"");
            return text.replace("\ntuned,", &format!("\n\"{quoted}\","));
        }
        text.replace("\"tuned\"", &serde_json::to_string(AWKWARD).unwrap())
    })
}

/// The content of an element that holds no other element of its name.
fn inside<'a>(page: &'a str, opening: &str, closing: &str) -> Vec<&'a str> {
    let parts = page.split(opening).skip(1);
    parts
        .filter_map(|part| part.split_once(closing).map(|(inside, _)| inside))
        .collect()
}

/// A page without what is between the opening of an element and its end.
fn without(page: &str, opening: &str, closing: &str) -> String {
    let mut parts = page.split(opening);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept += part.split_once(closing).map_or("", |(_, after)| after);
    }
    kept
}

/// What a reader of a page sees, a line a block; without the tables of charts.
fn text(page: &str) -> String {
    let mut page = page.to_owned();
    for (opening, closing) in [
        ("<head>", "</head>"),
        ("<script", "</script>"),
        ("<details", "</details>"),
        ("<svg", "</svg>"),
    ] {
        page = without(&page, opening, closing);
    }
    let mut lines = String::new();
    for part in page.split('<') {
        let (tag, text) = part.split_once('>').unwrap_or(("", part));
        let tag = tag.trim_start_matches('/');
        let name = tag.split([' ', '>']).next().unwrap_or_default();
        match name {
            "span" | "code" | "strong" | "b" | "i" => {}
            "td" | "th" | "dd" | "dt" | "label" => lines += " ",
            _ => lines += "\n",
        }
        lines += text;
    }
    let lines = lines.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        unescaped(&words.join(" "))
    });
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[test]
fn a_page_says_what_the_report_says() {
    insta::assert_snapshot!(text(&page(&[stored("run-format-1")])));
}

#[test]
fn a_page_of_a_hard_run_says_what_went_wrong_and_what_is_not_drawn() {
    insta::assert_snapshot!(text(&page(&[stored("hardship")])));
}

#[test]
fn the_same_files_give_the_same_page() {
    let once = || page(&[stored("run-format-1"), stored("hardship")]);
    assert_eq!(once(), once());
}

#[test]
fn every_cell_and_sentence_of_the_report_is_in_the_page() {
    for runs in [
        vec![stored("run-format-1")],
        vec![stored("hardship")],
        vec![stored("run-format-1"), stored("hardship")],
        vec![awkward()],
    ] {
        let report = report(&runs).unwrap();
        let page = html(&report, &charts(&runs).unwrap());
        let evidence = inside(&page, "<section id=\"evidence\"", "</section>")[0];
        let mut expected = Vec::new();
        for column in &report.evidence.columns {
            expected.push(column.show());
        }
        for row in &report.evidence.rows {
            expected.push(row.name.clone());
            expected.extend(row.cells.iter().map(|cell| cell.show(row.unit)));
        }
        assert!(expected.len() > 60);
        for cell in expected {
            assert!(
                evidence.contains(&format!(">{}<", escaped(&cell))),
                "{cell}"
            );
        }
        let said = text(&page);
        let sentences = report.limits.iter().chain(&report.differences);
        for sentence in sentences {
            let plain = sentence.replace(['`'], "").replace("**", "");
            let plain: Vec<&str> = plain.split_whitespace().collect();
            assert!(said.contains(&plain.join(" ")), "{sentence}\n\n{said}");
        }
    }
}

#[test]
fn a_name_that_is_markup_stays_a_name() {
    let run = awkward();
    assert!(run.facts.variant(AWKWARD).is_some());
    let page = page(&[run]);
    // In the text it is escaped, and in the data no `<` is left.
    assert!(!page.contains("<b onmouseover"));
    assert!(!page.contains("</script><b"));
    assert!(page.contains("&lt;/script&gt;&lt;b onmouseover=alert(1)&gt;&amp;&quot;tuned&quot;"));
    let data = inside(
        &page,
        "<script id=\"charts\" type=\"application/json\">",
        "</script>",
    );
    assert_eq!(data.len(), 1);
    assert!(!data[0].contains(['<', '>', '&']));
    let data: serde_json::Value = serde_json::from_str(data[0]).unwrap();
    assert_eq!(data["arms"][1]["name"], AWKWARD);
    // Four scripts of ours, and no other.
    assert_eq!(page.matches("<script").count(), 4);
    assert_eq!(page.matches("</script").count(), 4);
}

#[test]
fn nothing_in_a_page_is_to_be_fetched() {
    let page = page(&[stored("hardship")]);
    let own = without(&page, "<script>", "</script>");
    let own = without(&own, "<style>", "</style>");
    for fetched in [
        " src=",
        "href=\"http",
        "<link",
        "<iframe",
        "<object",
        "url(",
        "@import",
    ] {
        assert!(!own.contains(fetched), "{fetched}");
    }
    let policy = "content=\"default-src 'none'; script-src 'sha256-";
    assert!(own.contains(policy));
    assert!(!inside(&page, "<style>", "</style>")[0].contains("url("));
}

#[test]
fn an_invalid_run_says_so_before_any_figure() {
    let run = changed("run-format-1", |_, text| {
        text.replace("\"status\": \"completed\"", "\"status\": \"invalid\"")
    });
    let page = page(&[run]);
    let banner = page.find("class=\"invalid\"").unwrap();
    let first = ["<table", "<dd", "class=\"chart\"", "<h1"].map(|one| page.find(one).unwrap());
    assert!(first.iter().all(|at| banner < *at), "{banner} {first:?}");
    assert!(!page.contains("class=\"tiles\""));
}

#[test]
fn what_was_not_recorded_is_said_where_its_chart_would_be() {
    let run = changed("run-format-1", |name, text| match name {
        "run.json" => text.replace("\"status\": \"completed\"", "\"status\": \"imported\""),
        "workflows.csv" => {
            "variant,repeat,workflow,status,duration_s\nbaseline,1,1,completed,640\n".to_owned()
        }
        "verification.json" => "{}".to_owned(),
        _ => format!("{}\n", text.lines().next().unwrap_or_default()),
    });
    let text = text(&page(&[run]));
    for said in [
        "baseline: 10.7 min once.",
        "baseline: n/a (not recorded)",
        "baseline: n/a (no sample was taken)",
        "n/a (no table was looked at)",
        "baseline: n/a (attempts were not recorded)",
    ] {
        assert!(text.contains(said), "{said}\n\n{text}");
    }
}

#[test]
fn every_workflow_and_every_attempt_is_in_the_charts() {
    for name in ["run-format-1", "hardship"] {
        let read = |file: &str| std::fs::read_to_string(folder(name).join(file)).unwrap();
        let charts = charts_of(name);
        let points = |panel: usize| -> usize {
            let series = &charts.durations[panel].views[0].series;
            series.iter().map(|one| one.points.len()).sum()
        };
        let workflows = read("workflows.csv");
        let completed = workflows.lines().filter(|row| row.contains(",completed,"));
        let completed = completed.count();
        assert_eq!([points(0), points(1)], [completed, completed]);
        let attempts = read("attempts.csv");
        let of_outcome = |outcome: &str| {
            let outcome = format!(",{outcome},");
            attempts
                .lines()
                .filter(|row| row.contains(&outcome))
                .count()
        };
        let drawn = |kind: Kind| {
            let lanes = charts.timelines.iter().flat_map(|one| &one.workers);
            let spans = lanes.flat_map(|lane| &lane.spans);
            spans.filter(|span| span.kind == kind).count()
        };
        assert_eq!(drawn(Kind::Service), of_outcome("completed"));
        assert_eq!(drawn(Kind::Lost), of_outcome("lost") + of_outcome("failed"));
        let workers = read("workers.csv");
        let again = workers
            .lines()
            .skip(1)
            .filter(|row| row.split(',').nth(3) != Some("1"));
        assert_eq!(drawn(Kind::Restart), again.count());
    }
}

#[test]
fn queue_service_and_retries_of_a_timeline_add_up_to_the_duration() {
    let charts = charts_of("hardship");
    assert!(!charts.timelines.is_empty());
    for timeline in &charts.timelines {
        let workflows = &charts.workflows[timeline.arm];
        assert_eq!(workflows.len(), timeline.workflows.len());
        for (workflow, lane) in workflows.iter().zip(&timeline.workflows) {
            let drawn: f64 = lane.spans.iter().map(|span| span.to - span.from).sum();
            let duration = workflow.duration.unwrap();
            assert!(
                (drawn - duration).abs() < 1e-5,
                "{} {drawn} {duration}",
                lane.name
            );
        }
    }
}

#[test]
fn a_long_run_is_drawn_with_fewer_points_and_the_page_says_so() {
    let run = changed("run-format-1", |name, text| {
        let rows = |row: &dyn Fn(u32) -> String| -> String {
            let rows: Vec<String> = (1..=3_000).map(row).collect();
            rows.join("\n")
        };
        match name {
            "workflows.csv" => {
                let header =
                    "variant,repeat,workflow,status,launched_s,closed_s,duration_s,service_s\n";
                let row = |at: u32| {
                    // One of them is slow.
                    let seconds = if at == 1_234 { 99.0 } else { 0.5 };
                    format!("baseline,1,{at},completed,{at},{at}.5,{seconds},{seconds}")
                };
                format!("{header}{}\n", rows(&row))
            }
            "attempts.csv" => {
                let header = "variant,repeat,workflow,attempt,worker,started_s,ended_s,outcome\n";
                let row = |at: u32| format!("baseline,1,{at},1,1,{at},{at}.5,completed");
                format!("{header}{}\n", rows(&row))
            }
            _ => text,
        }
    });
    let page = page(&[run]);
    let text = text(&page);
    for said in [
        "(of baseline, 1,000 of 3,000)",
        "0.500 s to 99.0 s, at the end 0.500 s.",
        "Spans of a worker that no screen keeps apart are drawn as one.",
        "Of 3,000 workflows, 60 are drawn: the longest of each stretch.",
    ] {
        assert!(text.contains(said), "{said}\n\n{text}");
    }
    assert!(page.contains("A row of every 15; all are in <code>workflows.csv</code>."));
}
