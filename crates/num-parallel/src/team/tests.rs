//! A team of threads: every worker does the job and passes the barrier, panics reach the caller, and no thread waits
//! for ever.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use super::{Team, Worker};

fn team(threads: usize) -> Team {
    Team::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

fn message(death: Box<dyn std::any::Any + Send>) -> String {
    death.downcast::<&str>().map(|text| text.to_string()).unwrap_or_else(|death| *death.downcast::<String>().unwrap())
}

/// What a run panics with.
fn death(team: &mut Team, job: impl Fn(&Worker) + Send + Sync + 'static) -> String {
    message(catch_unwind(AssertUnwindSafe(|| team.run(Arc::new(job)))).unwrap_err())
}

#[test]
fn every_worker_does_the_job_once_on_a_thread_that_stays_the_same_and_the_caller_is_number_0() {
    for threads in [1, 2, 3, 8] {
        let mut team = team(threads);
        assert_eq!(team.threads().get(), threads);
        let mut earlier: Option<Vec<(usize, ThreadId)>> = None;
        for _ in 0..100 {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let here = seen.clone();
            team.run(Arc::new(move |worker| {
                assert_eq!(worker.of(), threads);
                here.lock().unwrap().push((worker.number(), std::thread::current().id()));
            }));
            let mut seen = Arc::try_unwrap(seen).expect("the job has ended").into_inner().unwrap();
            seen.sort_unstable_by_key(|worker| worker.0);
            assert_eq!(seen.iter().map(|worker| worker.0).collect::<Vec<_>>(), (0..threads).collect::<Vec<_>>());
            assert_eq!(seen[0].1, std::thread::current().id());
            assert!(earlier.is_none_or(|earlier| earlier == seen));
            earlier = Some(seen);
        }
    }
}

#[test]
fn no_worker_passes_a_barrier_before_all_have_come() {
    // Eight share the cores of whatever machine this is.
    for threads in [1, 2, 3, 8] {
        let meetings = 2000;
        let notes: Arc<Vec<AtomicUsize>> = Arc::new((0..threads).map(|_| AtomicUsize::new(0)).collect());
        let told = notes.clone();
        team(threads).run(Arc::new(move |worker| {
            for meeting in 1..=meetings {
                told[worker.number()].store(meeting, Ordering::Relaxed);
                worker.wait();
                for note in told.iter() {
                    // Another may be on its way to the next meeting, but cannot have come further.
                    let note = note.load(Ordering::Relaxed);
                    assert!(note == meeting || note == meeting + 1, "{note} at meeting {meeting}");
                }
            }
        }));
        assert!(notes.iter().all(|note| note.load(Ordering::Relaxed) == meetings));
    }
}

#[test]
fn a_panic_on_any_worker_reaches_the_caller_though_the_others_wait_for_it() {
    for threads in [1, 2, 5] {
        let mut team = team(threads);
        for unlucky in 0..threads {
            let last_words = death(&mut team, move |worker| {
                worker.wait();
                assert!(worker.number() != unlucky, "number {unlucky} has had enough");
                worker.wait();
                worker.wait();
            });
            assert_eq!(last_words, format!("number {unlucky} has had enough"));
            // The team is as good as new.
            let done = Arc::new(AtomicUsize::new(0));
            let count = done.clone();
            team.run(Arc::new(move |worker| {
                worker.wait();
                count.fetch_add(1, Ordering::Relaxed);
                worker.wait();
            }));
            assert_eq!(done.load(Ordering::Relaxed), threads);
        }
    }
}

#[test]
fn waiting_for_a_worker_that_has_returned_is_a_panic_and_no_wait_for_ever() {
    for impatient in 0..3 {
        let last_words = death(&mut team(3), move |worker| {
            worker.wait();
            if worker.number() != impatient {
                worker.wait();
            }
        });
        assert_eq!(last_words, "a worker of the team waits for one that has returned");
    }
}

#[test]
fn workers_that_sleep_wake_for_the_next_job_and_for_the_end() {
    let mut team = team(4);
    for _ in 0..3 {
        // Far longer than they watch for a job.
        std::thread::sleep(std::time::Duration::from_millis(5));
        team.run(Arc::new(|worker| worker.wait()));
    }
    std::thread::sleep(std::time::Duration::from_millis(5));
    drop(team);
}

#[cfg(target_os = "linux")]
#[test]
fn workers_run_where_the_system_likes_until_they_are_pinned_and_the_caller_always() {
    let allowed = || -> String {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        status.lines().find(|line| line.starts_with("Cpus_allowed_list")).unwrap().to_string()
    };
    let cores = std::thread::available_parallelism().unwrap().get();
    let before = allowed();
    for threads in [1, cores, cores + 1] {
        let of_workers = |team: &mut Team| {
            let seen = Arc::new(Mutex::new(vec![String::new(); threads]));
            let here = seen.clone();
            team.run(Arc::new(move |worker| here.lock().unwrap()[worker.number()] = allowed()));
            Arc::try_unwrap(seen).unwrap().into_inner().unwrap()
        };
        let mut team = team(threads);
        assert!(of_workers(&mut team).iter().all(|worker| *worker == before));
        team.pin();
        let mut workers = of_workers(&mut team);
        let caller = workers.remove(0);
        assert_eq!(caller, before);
        if threads > cores {
            assert!(workers.iter().all(|worker| *worker == before));
        } else {
            workers.sort_unstable();
            workers.dedup();
            assert_eq!(workers.len(), threads - 1);
            assert!(workers.iter().all(|worker| !worker.contains(['-', ','])));
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn workers_end_with_their_team() {
    let tasks = Arc::new(Mutex::new(Vec::new()));
    let mut team = team(3);
    let here = tasks.clone();
    team.run(Arc::new(move |worker| {
        if worker.number() > 0 {
            here.lock().unwrap().push(std::fs::read_link("/proc/thread-self").unwrap());
        }
    }));
    let tasks: Vec<_> = tasks.lock().unwrap().iter().map(|task| std::path::Path::new("/proc").join(task)).collect();
    assert!(tasks.len() == 2 && tasks.iter().all(|task| task.exists()));
    drop(team);
    // The system takes a moment to forget a thread that has been waited for.
    let gone = |_: &u32| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        tasks.iter().all(|task| !task.exists())
    };
    assert!((0..10_000).find(gone).is_some(), "{tasks:?}");
}

/// A process of its own has room for the stacks of some hundred threads; without that, it would take all that there is.
#[cfg(target_os = "linux")]
#[test]
fn more_threads_than_the_system_has_are_an_error_that_says_so() {
    const ALONE: &str = "NETNUM_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let this = "more_threads_than_the_system_has_are_an_error_that_says_so";
        let mut alone = std::process::Command::new("sh");
        alone
            .args(["-c", "ulimit -v 1000000; exec \"$0\" --exact \"team::tests::$1\""])
            .arg(std::env::current_exe().unwrap());
        // What little memory else is asked for is there, however much of the room stacks have taken.
        alone.envs([(ALONE, "1"), ("MALLOC_ARENA_MAX", "1"), ("MALLOC_TOP_PAD_", "67108864")]);
        let output = alone.arg(this).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        return assert!(told.contains("1 passed"), "{told}");
    }
    let error = Team::new(NonZeroUsize::MAX).unwrap_err().to_string();
    let expected = format!("threads is {}, expected as many as the system can start (", usize::MAX);
    assert!(error.starts_with(&expected), "{error}");
}
