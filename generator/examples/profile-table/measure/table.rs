//! The table of quantities, and the ways in which one is judged.

use super::chance::{self, Distribution, SIGMA};

/// One line of the table.
pub(crate) struct Quantity {
    name: String,
    asked: String,
    found: String,
    allowed: String,
    /// Whether what was found is allowed; `None` where nothing can be said.
    within: Option<bool>,
}

/// All quantities of a data set.
pub(crate) struct Table(Vec<Quantity>);

const HEADINGS: [&str; 5] = ["quantity", "asked", "found", "allowed", ""];

impl Table {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// Names of the quantities outside of what is allowed.
    pub(crate) fn outside(&self) -> Vec<&str> {
        self.0
            .iter()
            .filter(|quantity| quantity.within == Some(false))
            .map(|quantity| quantity.name.as_str())
            .collect()
    }

    /// Quantities that were judged.
    pub(crate) fn judged(&self) -> usize {
        self.0
            .iter()
            .filter(|quantity| quantity.within.is_some())
            .count()
    }

    pub(super) fn push(
        &mut self,
        name: impl Into<String>,
        asked: impl Into<String>,
        found: impl Into<String>,
        allowed: impl Into<String>,
        within: impl Into<Option<bool>>,
    ) {
        self.0.push(Quantity {
            name: name.into(),
            asked: asked.into(),
            found: found.into(),
            allowed: allowed.into(),
            within: within.into(),
        });
    }

    /// A quantity of which there was nothing to measure.
    fn nothing(&mut self, name: impl Into<String>, asked: String) {
        self.push(name, asked, "–", "nothing to measure", None);
    }

    /// A share of independent cases.
    pub(super) fn share(&mut self, name: impl Into<String>, asked: f64, hits: u64, of: u64) {
        self.share_about(name, asked, hits, of, 0.0);
    }

    /// A share of cases that come in groups drawn together: hits and cases of each.
    pub(super) fn share_of_groups(
        &mut self,
        name: impl Into<String>,
        asked: f64,
        groups: impl Iterator<Item = (u64, u64)> + Clone,
    ) {
        let (hits, of) = groups
            .clone()
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if of == 0 {
            return self.nothing(name, percent(asked));
        }
        let square = |(hits, of): (u64, u64)| (hits as f64 - asked * of as f64).powi(2);
        let spread = groups.map(square).sum::<f64>().sqrt() / of as f64;
        let (least, most) = chance::binomial(of, asked);
        let least = (least as f64 / of as f64)
            .min(asked - SIGMA * spread)
            .max(0.0);
        let most = (most as f64 / of as f64)
            .max(asked + SIGMA * spread)
            .min(1.0);
        let found = hits as f64 / of as f64;
        let within = (least..=most).contains(&found);
        self.push(
            name,
            percent(asked),
            percent(found),
            between(least, most),
            within,
        );
    }

    /// A share that is met up to a tolerance, which has its reason, and chance.
    pub(super) fn share_about(
        &mut self,
        name: impl Into<String>,
        asked: f64,
        hits: u64,
        of: u64,
        tolerance: f64,
    ) {
        if of == 0 {
            return self.nothing(name, percent(asked));
        }
        let (least, _) = chance::binomial(of, asked * (1.0 - tolerance));
        let (_, most) = chance::binomial(of, asked * (1.0 + tolerance));
        let allowed = between(least as f64 / of as f64, most as f64 / of as f64);
        let within = (least..=most).contains(&hits);
        self.push(
            name,
            percent(asked),
            percent(hits as f64 / of as f64),
            allowed,
            within,
        );
    }

    /// A count that must be nothing.
    pub(super) fn none(&mut self, name: impl Into<String>, count: u64) {
        self.push(name, "0", count.to_string(), "0", count == 0);
    }

    /// A number within bounds.
    pub(super) fn number(
        &mut self,
        name: impl Into<String>,
        asked: f64,
        found: f64,
        (least, most): (f64, f64),
    ) {
        let within = (least..=most).contains(&found);
        let allowed = format!("{} to {}", decimal(least), decimal(most));
        self.push(name, decimal(asked), decimal(found), allowed, within);
    }

    /// A mean of independent draws.
    pub(super) fn mean(
        &mut self,
        name: impl Into<String>,
        (asked, deviation): (f64, f64),
        values: &[u32],
    ) {
        if values.is_empty() {
            return self.nothing(name, decimal(asked));
        }
        let reach = SIGMA * deviation / (values.len() as f64).sqrt();
        let found = chance::mean(values.iter().map(|value| f64::from(*value)));
        self.number(name, asked, found, (asked - reach, asked + reach));
    }

    /// Values drawn from a distribution: mean, some quantiles, the largest, and the largest gap
    /// between shares of values up to any value.
    pub(super) fn distribution(
        &mut self,
        name: &str,
        asked: &Distribution,
        quantiles: &[f64],
        mut values: Vec<u32>,
    ) {
        if values.is_empty() {
            return self.nothing(name, decimal(asked.mean()));
        }
        values.sort_unstable();
        let count = values.len();
        self.mean(
            format!("{name}, mean"),
            (asked.mean(), asked.deviation()),
            &values,
        );
        for &at in quantiles {
            let slack = chance::quantile_slack(count, at);
            let least = asked.quantile((at - slack).max(0.0));
            let most = asked.quantile((at + slack).min(1.0));
            let found = chance::quantile(&values, at);
            self.push(
                format!("{name}, p{:.0}", at * 100.0),
                asked.quantile(at).to_string(),
                found.to_string(),
                format!("{least} to {most}"),
                (least..=most).contains(&found),
            );
        }
        let largest = values[count - 1];
        self.push(
            format!("{name}, max"),
            asked.max().to_string(),
            largest.to_string(),
            format!("up to {}", asked.max()),
            largest <= asked.max(),
        );
        self.gap(&format!("{name}, gap to the weights"), asked, &values, 0.0);
    }

    /// The gap between values and the distribution that they are drawn from.
    pub(super) fn gap(&mut self, name: &str, asked: &Distribution, values: &[u32], tolerance: f64) {
        if values.is_empty() {
            return self.nothing(name, percent(0.0));
        }
        let (found, most) = (
            asked.gap(values),
            tolerance + chance::gap(values.len() as u64),
        );
        let allowed = format!("up to {}", percent(most));
        self.push(name, percent(0.0), percent(found), allowed, found <= most);
    }

    /// The table as aligned text, or as Markdown.
    pub(crate) fn render(&self, markdown: bool) -> String {
        let mut rows: Vec<[&str; 5]> = vec![HEADINGS];
        rows.extend(self.0.iter().map(|quantity| {
            let mark = match quantity.within {
                Some(true) => "",
                Some(false) => "OUTSIDE",
                None => "not judged",
            };
            let Quantity {
                name,
                asked,
                found,
                allowed,
                ..
            } = quantity;
            [name.as_str(), asked, found, allowed, mark]
        }));
        let widths: [usize; 5] = std::array::from_fn(|column| {
            let width = |row: &[&str; 5]| row[column].chars().count();
            rows.iter().map(width).max().unwrap_or(0)
        });
        let mut text = String::new();
        for (at, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row
                .iter()
                .zip(widths)
                .enumerate()
                .map(|(column, (cell, width))| match column {
                    1 | 2 => format!("{cell:>width$}"),
                    _ => format!("{cell:<width$}"),
                })
                .collect();
            if markdown {
                text.push_str(&format!("| {} |\n", cells.join(" | ")));
                if at == 0 {
                    text.push_str("|---|---:|---:|---|---|\n");
                }
            } else {
                text.push_str(cells.join("  ").trim_end());
                text.push('\n');
            }
        }
        text
    }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 {
        "0 %".to_owned()
    } else if percent < 0.1 {
        format!("{percent:.4} %")
    } else if percent < 1.0 {
        format!("{percent:.3} %")
    } else {
        format!("{percent:.2} %")
    }
}

fn between(least: f64, most: f64) -> String {
    let least = percent(least);
    format!("{} to {}", least.trim_end_matches(" %"), percent(most))
}

fn decimal(number: f64) -> String {
    if number.abs() >= 100.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.3}")
    }
}
