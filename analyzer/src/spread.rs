//! Work on several threads at once, whose results come in the order of the work: which thread was first decides nothing.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, available_parallelism, scope};

/// More threads than this wait for one another.
const MOST: usize = 8;

/// What becomes of each item, in order. Where there is no room for another thread, this one does all the work.
pub(crate) fn each<'i, T: Sync, R: Send>(
    items: &'i [T],
    work: impl Fn(&'i T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match items.get(at) {
                Some(item) => done.push((at, work(item))),
                None => return done,
            }
        }
    };
    let mut done = scope(|scope| {
        let spawn = |_| Builder::new().spawn_scoped(scope, take).ok();
        let helpers: Vec<_> = (1..threads(items.len())).filter_map(spawn).collect();
        let mut done = take();
        for helper in helpers {
            match helper.join() {
                Ok(other) => done.extend(other),
                Err(panic) => resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Two things at once; one after the other where there is no room for another thread.
pub(crate) fn both<A: Send, B>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> (A, B) {
    let one = Mutex::new(Some(one));
    let taken = || one.lock().unwrap_or_else(PoisonError::into_inner).take();
    let take = || taken().map(|one| one());
    scope(|scope| {
        let helper = Builder::new().spawn_scoped(scope, take).ok();
        let other = other();
        let helped =
            helper.map(|helper| helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        match helped.flatten().or_else(take) {
            Some(one) => (one, other),
            None => unreachable!("what a thread took it finished, or its panic went on"),
        }
    })
}

/// Does what nobody waits for, such as taking apart what was kept of an input.
pub(crate) fn aside(work: impl FnOnce() + Send + 'static) {
    // Without room for a thread the work is dropped, and what it holds with it.
    drop(Builder::new().spawn(work));
}

fn threads(items: usize) -> usize {
    let cores = available_parallelism().map_or(1, usize::from);
    cores.min(items).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items_and_a_panic_is_not_lost() {
        let items: Vec<u64> = (0..500).collect();
        let slow_first = |item: &u64| (0..(500 - item) * 50).fold(*item, |sum, _| sum.max(*item));
        assert_eq!(each(&items, slow_first), items);
        assert!(each(&[], slow_first).is_empty());
        assert_eq!(both(|| 1, || "two"), (1, "two"));
        let failed = std::panic::catch_unwind(|| each(&items, |item| assert_ne!(*item, 77)));
        assert!(failed.is_err());
    }
}
