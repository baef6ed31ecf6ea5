//! The same work on many things, on some threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does `work` on every item and gives the results in the order of the items. Each thread has a
/// state of its own, made by `state`, and `work` is told the item's number.
pub(super) fn map<I: Sync, S, T: Send>(
    threads: usize,
    items: &[I],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, &I) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    let run = || {
        let mut state = state();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else {
                return;
            };
            let result = work(&mut state, number, item);
            let mut results = results
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            results.push((number, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            scope.spawn(run);
        }
        run();
    });
    let mut results = results
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        for threads in [1, 3] {
            let doubled = map(threads, &items, || (), |(), number, item| number + item);
            assert!(
                doubled
                    .iter()
                    .enumerate()
                    .all(|(number, sum)| *sum == 2 * number)
            );
        }
    }
}
