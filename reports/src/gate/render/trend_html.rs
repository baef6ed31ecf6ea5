//! A trend as one page that needs nothing else: no script, no font, no address. Charts are drawn here,
//! as SVG; a figure that never changed has none, since a flat line says less than its number.

use crate::gate::trend::{Series, Trend, TrendPoint};
use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 120.0;
const EDGE: f64 = 8.0;

const STYLE: &str = ":root{color-scheme:light dark;--ink:#1d2733;--soft:#66788a;--line:#2463a8;--mark:#b3261e;--ground:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e4e9ee;--soft:#93a3b3;--line:#79b0ea;--mark:#ff8a80;--ground:#14191f}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left}td.n{text-align:right;font-variant-numeric:tabular-nums}
figure{margin:1.2rem 0}figcaption{color:var(--soft)}svg{width:100%;height:auto}
polyline{fill:none;stroke:var(--line);stroke-width:1.5}circle{fill:var(--line)}line{stroke:var(--mark);stroke-dasharray:4 3}";

/// A trend as one HTML page.
#[must_use]
pub fn trend_html(trend: &Trend) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Trend</title><style>{STYLE}</style></head><body>\n<h1>Trend</h1>\n"
    );
    changes(trend, &mut page);
    for one in &trend.breaks {
        let what: Vec<&str> = one
            .differences
            .iter()
            .map(|one| one.text.as_str())
            .collect();
        let _ = writeln!(
            page,
            "<p>{} begins anew from {}: {}</p>",
            escape(&one.name),
            escape(&one.run),
            escape(&what.join("; "))
        );
    }
    let (moving, still): (Vec<&Series>, Vec<&Series>) =
        trend.series.iter().partition(|series| moves(series));
    for series in moving {
        chart(series, &mut page);
    }
    if !still.is_empty() {
        page.push_str("<h2>Figures that never changed</h2>\n<table>\n");
        for series in still {
            let value = series
                .points
                .first()
                .map_or("n/a".to_owned(), |point| series.unit.show(point.value));
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{} runs</td></tr>",
                escape(&title(series)),
                escape(&series.words),
                escape(&value),
                series.points.len()
            );
        }
        page.push_str("</table>\n");
    }
    page.push_str("</body></html>\n");
    page
}

fn title(series: &Series) -> String {
    match series.segment {
        1 => series.name.clone(),
        later => format!("{} (stretch {later})", series.name),
    }
}

fn moves(series: &Series) -> bool {
    series
        .points
        .windows(2)
        .any(|pair| pair[0].value != pair[1].value)
}

fn changes(trend: &Trend, page: &mut String) {
    let mut rows = String::new();
    for series in &trend.series {
        for change in &series.changes {
            let _ = writeln!(
                rows,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                escape(&title(series)),
                escape(&series.words),
                escape(&change.run),
                escape(&series.unit.show(change.before)),
                escape(&series.unit.show(change.behind)),
            );
        }
    }
    if rows.is_empty() {
        page.push_str("<p>No figure changed its level.</p>\n");
    } else {
        let _ = writeln!(
            page,
            "<table><tr><th></th><th>figure</th><th>from run</th><th>before</th><th>behind</th></tr>\n{rows}</table>"
        );
    }
}

fn chart(series: &Series, page: &mut String) {
    let values = || series.points.iter().map(|point| point.value);
    let (low, high) = (
        values().fold(f64::INFINITY, f64::min),
        values().fold(f64::NEG_INFINITY, f64::max),
    );
    let last = (series.points.len() - 1).max(1) as f64;
    let x = |index: usize| EDGE + (WIDTH - 2.0 * EDGE) * index as f64 / last;
    let y = |value: f64| HEIGHT - EDGE - (HEIGHT - 2.0 * EDGE) * (value - low) / (high - low);
    let mut line = String::new();
    let mut dots = String::new();
    for (index, TrendPoint { run, value, .. }) in series.points.iter().enumerate() {
        let (x, y) = (x(index), y(*value));
        let _ = write!(line, "{x:.1},{y:.1} ");
        let _ = write!(
            dots,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\"><title>{}: {}</title></circle>",
            escape(run),
            escape(&series.unit.show(*value))
        );
    }
    let mut marks = String::new();
    for change in &series.changes {
        let at = series
            .points
            .iter()
            .position(|point| point.run == change.run);
        let at = x(at.unwrap_or(0));
        let _ = write!(
            marks,
            "<line x1=\"{at:.1}\" y1=\"0\" x2=\"{at:.1}\" y2=\"{HEIGHT}\"/>"
        );
    }
    let _ = writeln!(
        page,
        "<figure><figcaption>{}: {}, {} to {}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">{marks}\
         <polyline points=\"{}\"/>{dots}</svg></figure>",
        escape(&title(series)),
        escape(&series.words),
        escape(&series.unit.show(low)),
        escape(&series.unit.show(high)),
        line.trim_end()
    );
}

/// Text as HTML takes it.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
