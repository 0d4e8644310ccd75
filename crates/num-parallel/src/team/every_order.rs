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

/// Each writes a number of its own before a meeting and reads all of them after it. Nothing but the meetings orders
/// these relaxed accesses. Another may be on its way to the next meeting, but cannot have come further.
fn tell_one_another(number: usize, notes: &[AtomicUsize], meetings: usize, meet: impl Fn()) {
    for meeting in 1..=meetings {
        notes[number].store(meeting, Ordering::Relaxed);
        meet();
        for note in notes {
            let note = note.load(Ordering::Relaxed);
            assert!(note == meeting || (note == meeting + 1 && meeting < meetings), "{note} at meeting {meeting}");
        }
    }
}

#[test]
fn what_members_wrote_before_a_meeting_all_see_after_it() {
    in_every_order(|| {
        let barrier = Arc::new(Barrier::new(2));
        let notes = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        barrier.open();
        let worker = |number| {
            let (barrier, notes) = (barrier.clone(), notes.clone());
            move || tell_one_another(number, &notes[..], 3, || barrier.wait().unwrap())
        };
        let other = thread::spawn(worker(1));
        worker(0)();
        other.join().unwrap();
    });
}

#[test]
fn who_waits_for_one_that_has_left_is_told_so() {
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
        // The meeting that it came to before it left is held; the next is not.
        barrier.wait().unwrap();
        barrier.wait().unwrap_err();
        other.join().unwrap();
    });
}

#[test]
fn a_job_reaches_every_member_and_what_it_wrote_reaches_the_caller() {
    in_every_order(|| {
        let mut team = of_two();
        let notes = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        for run in 1..=2 {
            // The note of the run before is what the caller left there.
            let job = {
                let notes = notes.clone();
                move |worker: &Worker| {
                    let note = &notes[worker.number()];
                    assert_eq!(note.load(Ordering::Relaxed), 10 * (run - 1));
                    note.store(run, Ordering::Relaxed);
                }
            };
            team.run(Arc::new(job));
            for note in notes.iter() {
                assert_eq!(note.load(Ordering::Relaxed), run);
                note.store(10 * run, Ordering::Relaxed);
            }
            assert_eq!(Arc::strong_count(&notes), 1, "a worker still holds the job");
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
