//! The team in every order in which its threads can meet, and with every stale value that memory may show them.
//!
//! `cargo test -p netnum-parallel --lib --features loom every_order`, which `make test` runs too.
//! Orders are tried with as many preemptions as `PREEMPTIONS` says; loom's authors found that two or three show nearly
//! every mistake. Two workers are enough to come first and last, to be let go, and to come again before the other has
//! gone; three watch one variable at the same time, and have too many orders.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::barrier::Barrier;
use super::sync::atomic::{AtomicUsize, Ordering};
use super::sync::thread;
use super::{Team, Worker};

const PREEMPTIONS: usize = 3;

fn in_every_order(test: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(PREEMPTIONS);
    model.check(test);
}

fn of_two() -> Team {
    Team::new(NonZeroUsize::new(2).unwrap()).unwrap()
}

/// Each worker writes the phase to its slot before the barrier and reads all slots after it. Only the barrier orders
/// these relaxed accesses. Another worker may be one phase ahead, but no further.
fn write_and_read_slots(number: usize, slots: &[AtomicUsize], phases: usize, wait: impl Fn()) {
    for phase in 1..=phases {
        slots[number].store(phase, Ordering::Relaxed);
        wait();
        for slot in slots {
            let slot = slot.load(Ordering::Relaxed);
            assert!(slot == phase || (slot == phase + 1 && phase < phases), "{slot} at phase {phase}");
        }
    }
}

#[test]
fn writes_before_a_phase_are_visible_to_all_after_it() {
    in_every_order(|| {
        let barrier = Arc::new(Barrier::new(2));
        let slots = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        barrier.open();
        let worker = |number| {
            let (barrier, slots) = (barrier.clone(), slots.clone());
            move || write_and_read_slots(number, &slots[..], 3, || barrier.wait().unwrap())
        };
        let other = thread::spawn(worker(1));
        worker(0)();
        other.join().unwrap();
    });
}

#[test]
fn a_wait_for_a_worker_that_has_left_is_an_error() {
    in_every_order(|| {
        let barrier = Arc::new(Barrier::new(2));
        barrier.open();
        let other = {
            let barrier = barrier.clone();
            thread::spawn(move || {
                barrier.wait().unwrap();
                barrier.leave();
            })
        };
        // The phase at which it arrived before it left is completed; the next is not.
        barrier.wait().unwrap();
        barrier.wait().unwrap_err();
        other.join().unwrap();
    });
}

#[test]
fn a_job_reaches_every_member_and_what_it_wrote_reaches_the_caller() {
    in_every_order(|| {
        let mut team = of_two();
        let slots = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        for run in 1..=2 {
            // The slot holds what the caller wrote after the last run.
            let job = {
                let slots = slots.clone();
                move |worker: &Worker| {
                    let slot = &slots[worker.number()];
                    assert_eq!(slot.load(Ordering::Relaxed), 10 * (run - 1));
                    slot.store(run, Ordering::Relaxed);
                }
            };
            team.run(Arc::new(job));
            for slot in slots.iter() {
                assert_eq!(slot.load(Ordering::Relaxed), run);
                slot.store(10 * run, Ordering::Relaxed);
            }
            assert_eq!(Arc::strong_count(&slots), 1, "a worker still holds the job");
        }
    });
}

#[test]
fn a_panic_ends_the_wait_of_the_others_and_the_team_goes_on() {
    in_every_order(|| {
        let mut team = of_two();
        let dies = Arc::new(|worker: &Worker| {
            worker.wait();
            // The panic hook would print this in every order.
            if worker.number() == 1 {
                std::panic::resume_unwind(Box::new("enough"));
            }
            worker.wait();
        });
        let death = catch_unwind(AssertUnwindSafe(|| team.run(dies))).unwrap_err();
        assert_eq!(death.downcast_ref::<&str>(), Some(&"enough"));
        team.run(Arc::new(|worker: &Worker| worker.wait()));
    });
}
