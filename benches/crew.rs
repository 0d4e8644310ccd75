//! How long a crew of threads takes to begin, to meet and to end.
//!
//! ```sh
//! cargo bench -p netnum-benches --bench crew    # about ten seconds
//! ```
//!
//! `meet` is one meeting of all members inside a job, beside the standard library's barrier, which sleeps. `run` is an
//! empty job from call to return while the workers still watch for it, `call` the same after a millisecond of sleep;
//! beside them rayon's `broadcast`, on a pool of its own, from a thread outside it. Where there are more members than
//! cores, they take turns, and a figure says only that they get on.

mod common;

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use common::Plan;
use criterion::{BenchmarkId, Criterion};
use netnum_parallel::{Crew, Member};

const MEMBERS: [usize; 4] = [1, 2, 4, 8];

const PLAN: Plan = Plan { warm_up: Duration::from_millis(100), measure: Duration::from_millis(500), samples: 20 };

/// Longer than a worker watches for its next job.
const SLEEP: Duration = Duration::from_millis(1);

/// The time that `count` runs take, each after a pause that is not counted.
fn run(count: u64, pause: Duration, mut run: impl FnMut()) -> Duration {
    let timed = |_| {
        if pause > Duration::ZERO {
            std::thread::sleep(pause);
        }
        let began = Instant::now();
        run();
        began.elapsed()
    };
    (0..count).map(timed).sum()
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut measure = |group: &str, who: &str, members: usize, routine: &mut dyn FnMut(u64) -> Duration| {
        common::measure(&mut criterion, group, BenchmarkId::new(who, members), PLAN, routine);
    };
    for members in MEMBERS {
        let mut crew = Crew::new(NonZeroUsize::new(members).expect("not 0")).expect("there are threads");
        let barrier = Arc::new(Barrier::new(members));
        measure("crew_meet", "std barrier", members, &mut |count| {
            let barrier = barrier.clone();
            common::meet(&mut crew, count, move |_| {
                barrier.wait();
            })
        });
        measure("crew_meet", "crew", members, &mut |count| common::meet(&mut crew, count, |member| member.wait()));

        let pool = rayon::ThreadPoolBuilder::new().num_threads(members).build().expect("there are threads");
        let job: Arc<dyn Fn(&Member) + Send + Sync> = Arc::new(|member| {
            black_box(member.number());
        });
        for (group, pause) in [("crew_run", Duration::ZERO), ("crew_call", SLEEP)] {
            measure(group, "rayon", members, &mut |count| {
                run(count, pause, || {
                    pool.broadcast(|member| black_box(member.index()));
                })
            });
            measure(group, "crew", members, &mut |count| run(count, pause, || crew.run(job.clone())));
        }
    }
    criterion.final_summary();
}
