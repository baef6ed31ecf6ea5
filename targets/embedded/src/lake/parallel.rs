//! Work on several threads, results in the order of the work.

use crate::error::Result;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies `work` to every item, on up to `threads` threads; the first error wins.
pub(crate) fn map<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<R>)>> = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = work(item);
                    if result.is_err() {
                        next.store(items.len(), Ordering::Relaxed);
                    }
                    done.lock()
                        .expect("no thread panics while it holds this")
                        .push((at, result));
                }
            });
        }
    });
    let mut done = done
        .into_inner()
        .expect("no thread panics while it holds this");
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        let doubled = map(3, &items, |n| Ok(n * 2)).expect("nothing fails");
        assert_eq!(doubled, items.iter().map(|n| n * 2).collect::<Vec<_>>());
    }

    #[test]
    fn an_error_ends_the_work() {
        let items: Vec<usize> = (0..100).collect();
        let wrong = |n: &usize| match n {
            5 => Err(crate::Error::Protocol("five".into())),
            n => Ok(*n),
        };
        assert!(map(3, &items, wrong).is_err());
        assert!(map(1, &items, wrong).is_err());
    }
}
