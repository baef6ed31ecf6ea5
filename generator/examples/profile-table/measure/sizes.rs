//! How large messages are, against the reference set's figures.
//!
//! A spec asks for lines, not for bytes, so sizes are judged only where the spec's reports are
//! those of the shipped profile, whose tables were chosen to come near the reference.

use super::Error;
use super::asked::Asked;
use super::chance::{mean, quantile, quantile_slack};
use super::data::{Data, V27};
use super::table::Table;

/// How far a size may be from the reference, whose texts are not to be had, only these figures.
const TOLERANCE: f64 = 0.1;

/// The same for the largest, which is one message of the whole set.
const LARGEST_TOLERANCE: f64 = 0.25;

/// Messages from which on a set is asked for a largest one as large as the reference's, which was
/// the largest of 40,000.
const MANY: usize = 30_000;

/// A figure of the sizes of messages.
#[derive(Clone, Copy)]
enum Figure {
    Mean,
    Quantile(f64),
}

pub(super) fn measure(asked: &Asked, data: &Data, table: &mut Table) -> Result<(), Error> {
    let is_judged = asked.reports == Asked::shipped_reports()?;
    let sizes: [Vec<u32>; 3] = [0, 1, 2].map(|version| {
        let of = data.own().filter(|(_, clean)| clean.version == version);
        of.map(|(_, clean)| clean.text.bytes).collect()
    });
    let obx = data
        .own()
        .filter(|(_, clean)| clean.version == V27 && clean.status.is_some());
    let obx: Vec<u32> = obx.map(|(_, clean)| clean.text.obx).collect();
    let lines = (0..).zip(&data.obx_5).flat_map(|(len, count)| {
        std::iter::repeat_n(len, usize::try_from(*count).unwrap_or(usize::MAX))
    });
    // Blank lines and headings are short in the reference, too: the typical line is a full one.
    let lines: Vec<u32> = lines.filter(|len| *len > 0).collect();
    use Figure::{Mean, Quantile};
    for (name, figure, reference, values) in [
        ("bytes of a 2.7 message, mean", Mean, 2878.0, &sizes[2]),
        (
            "bytes of a 2.7 message, p50",
            Quantile(0.5),
            2944.0,
            &sizes[2],
        ),
        (
            "bytes of a 2.7 message, p90",
            Quantile(0.9),
            3641.0,
            &sizes[2],
        ),
        (
            "bytes of a 2.7 message, max",
            Quantile(1.0),
            11_150.0,
            &sizes[2],
        ),
        ("OBX of any 2.7 report, p50", Quantile(0.5), 16.0, &obx),
        ("OBX of any 2.7 report, max", Quantile(1.0), 100.0, &obx),
        ("bytes of a 2.4 message, mean", Mean, 2061.0, &sizes[1]),
        (
            "bytes of a 2.4 message, p90",
            Quantile(0.9),
            2464.0,
            &sizes[1],
        ),
        ("bytes of a 2.3 message, mean", Mean, 1433.0, &sizes[0]),
        ("bytes of a line's text, p50", Quantile(0.5), 64.0, &lines),
    ] {
        figure.judge(name, reference, values.clone(), is_judged, table);
    }
    Ok(())
}

impl Figure {
    fn judge(
        self,
        name: &str,
        reference: f64,
        mut values: Vec<u32>,
        is_judged: bool,
        table: &mut Table,
    ) {
        if values.is_empty() {
            return;
        }
        values.sort_unstable();
        let count = values.len();
        // What chance makes of a figure in this many messages.
        let (found, least, most) = match self {
            Self::Mean => {
                let found = mean(values.iter().map(|value| f64::from(*value)));
                let square = |value: &u32| (f64::from(*value) - found).powi(2);
                let spread = mean(values.iter().map(square)).sqrt();
                let reach = super::chance::SIGMA * spread / (count as f64).sqrt();
                (found, found - reach, found + reach)
            }
            Self::Quantile(at) => {
                let slack = quantile_slack(count, at);
                let value = |at: f64| f64::from(quantile(&values, at.clamp(0.0, 1.0)));
                (value(at), value(at - slack), value(at + slack))
            }
        };
        let is_largest = matches!(self, Self::Quantile(at) if at >= 1.0);
        let tolerance = if is_largest {
            LARGEST_TOLERANCE
        } else {
            TOLERANCE
        };
        let (low, high) = (reference * (1.0 - tolerance), reference * (1.0 + tolerance));
        let (allowed, within) = if !is_judged {
            ("the spec asks for other lines".to_owned(), None)
        } else if is_largest && count < MANY {
            (
                format!("up to {high:.0}, +{:.0} %", tolerance * 100.0),
                Some(found <= high),
            )
        } else {
            let allowed = format!("{low:.0} to {high:.0}, ±{:.0} %", tolerance * 100.0);
            (allowed, Some(least <= high && most >= low))
        };
        table.push(
            name,
            format!("{reference:.0}"),
            format!("{found:.0}"),
            allowed,
            within,
        );
    }
}
