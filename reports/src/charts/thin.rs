//! Long lines made short, without their peaks being lost.

/// Leaves points out until at most `most` are left (at least 4). The first and the last stay, and of
/// each stretch between them the least and the greatest: what is drawn reaches as far as what was measured.
pub(super) fn thin(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let most = most.max(4);
    if points.len() <= most {
        return points.to_vec();
    }
    let last = points.len() - 1;
    let inner = &points[1..last];
    let stretches = (most - 2) / 2;
    let mut kept = vec![points[0]];
    for stretch in 0..stretches {
        let from = inner.len() * stretch / stretches;
        let to = inner.len() * (stretch + 1) / stretches;
        let by_value = |one: &usize, other: &usize| inner[*one].1.total_cmp(&inner[*other].1);
        let least = (from..to).min_by(by_value);
        let greatest = (from..to).max_by(by_value);
        if let (Some(least), Some(greatest)) = (least, greatest) {
            kept.push(inner[least.min(greatest)]);
            if least != greatest {
                kept.push(inner[least.max(greatest)]);
            }
        }
    }
    kept.push(points[last]);
    kept
}

#[cfg(test)]
mod tests {
    use super::thin;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_that_is_made_short_keeps_its_ends_its_peaks_and_its_order(
            values in prop::collection::vec(-1e9..1e9_f64, 1..3_000),
            most in 4..1_000_usize,
        ) {
            let points: Vec<(f64, f64)> = (0_u32..).map(f64::from).zip(values).collect();
            let kept = thin(&points, most);
            prop_assert!(kept.len() <= most);
            prop_assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
            prop_assert!(kept.iter().all(|point| points.contains(point)));
            prop_assert_eq!(kept.first(), points.first());
            prop_assert_eq!(kept.last(), points.last());
            for of in [f64::min, f64::max] {
                let peak = |points: &[(f64, f64)]| points.iter().map(|point| point.1).reduce(of);
                prop_assert_eq!(peak(&kept), peak(&points));
            }
            if points.len() <= most {
                prop_assert_eq!(kept, points);
            }
        }
    }
}
