//! `Ranks` and `solve_part`: the communicator of Python, and a solve over its ranks.

use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use netnum_core::solve::{Cadence, Observer, PartSetup, solve_part as solve_core};
use netnum_core::{AllReduce, Error};
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyDict, PySlice, PyTuple};

use crate::detach;
use crate::problem::Problem;
use crate::solve::{PythonObserver, Solution, last_state, options_of, prices_of, settings_of, solve_bar, threads_of};
use crate::topology::Topology;

/// So long a rank that has failed waits for the others: all are to have ended within 5 s.
const PATIENCE: Duration = Duration::from_secs(3);

/// An mpi4py communicator. Its reductions are called without any Python code around them, so that a signal cannot come
/// between two of them.
struct PythonComm {
    comm: Py<PyAny>,
    in_place: Py<PyAny>,
    sum: Py<PyAny>,
    max: Py<PyAny>,
    rank: usize,
    ranks: usize,
    /// As many numbers as the longest reduction had: memory that is new costs more than the copies.
    buffer: Py<PyArray1<f64>>,
}

impl PythonComm {
    /// Puts the values into an array that the work reduces.
    fn reduce(
        &mut self,
        values: &mut [f64],
        work: impl Fn(&Self, &Bound<'_, PyArray1<f64>>) -> PyResult<()>,
    ) -> netnum_core::Result<()> {
        Python::attach(|py| self.reduce_attached(py, values, work)).map_err(|error| {
            detach::keep(error);
            Error::Stopped
        })
    }

    fn reduce_attached(
        &mut self,
        py: Python<'_>,
        values: &mut [f64],
        work: impl Fn(&Self, &Bound<'_, PyArray1<f64>>) -> PyResult<()>,
    ) -> PyResult<()> {
        if self.buffer.bind(py).len() < values.len() {
            self.buffer = PyArray1::zeros(py, values.len(), false).unbind();
        }
        let part = self.buffer.bind(py).get_item(PySlice::new(py, 0, values.len() as isize, 1))?;
        let part = part.cast::<PyArray1<f64>>()?;
        part.readwrite().as_slice_mut()?.copy_from_slice(values);
        work(self, part)?;
        values.copy_from_slice(part.readonly().as_slice()?);
        Ok(())
    }

    /// Begins the largest of every value: a rank that has failed need not wait for its end.
    fn begin_max<'py>(&self, part: &Bound<'py, PyArray1<f64>>) -> PyResult<Bound<'py, PyAny>> {
        self.comm.bind(part.py()).call_method1("Iallreduce", (&self.in_place, part, &self.max))
    }

    /// Waits for the end of a reduction, and ends all processes where it does not come.
    fn wait_or_abort(&self, request: &Bound<'_, PyAny>, why: &str) -> PyResult<()> {
        let (py, began) = (request.py(), Instant::now());
        while !request.call_method0("Test")?.is_truthy()? {
            if began.elapsed() > PATIENCE {
                let (rank, seconds) = (self.rank, PATIENCE.as_secs());
                eprintln!(
                    "netnum: rank {rank} has failed: {why}; not all other ranks have come to a call of netnum within \
                     {seconds} s, so that all are ended"
                );
                self.comm.call_method1(py, "Abort", (1,))?;
            }
            py.detach(|| thread::sleep(Duration::from_millis(1)));
        }
        Ok(())
    }
}

impl AllReduce for PythonComm {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn sum(&mut self, values: &mut [f64]) -> netnum_core::Result<()> {
        self.reduce(values, |comm, part| {
            comm.comm.call_method1(part.py(), "Allreduce", (&comm.in_place, part, &comm.sum)).map(drop)
        })
    }

    fn max(&mut self, values: &mut [f64]) -> netnum_core::Result<()> {
        self.reduce(values, |comm, part| comm.begin_max(part)?.call_method0("Wait").map(drop))
    }

    fn max_of_failed(&mut self, values: &mut [f64], why: &str) -> netnum_core::Result<()> {
        self.reduce(values, |comm, part| comm.wait_or_abort(&comm.begin_max(part)?, why))
    }
}

/// A duplicate of the communicator, for the numbers of netnum alone. All ranks make it at their first call with that
/// communicator, which keeps it as an attribute; it is freed with it.
fn own<'py>(comm: &Bound<'py, PyAny>, mpi: &Bound<'py, PyModule>) -> PyResult<Bound<'py, PyAny>> {
    static KEY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = comm.py();
    let key = KEY.get_or_try_init(py, || {
        let free = |args: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
            args.get_item(2)?.call_method0("Free").map(Bound::unbind)
        };
        let free = PyCFunction::new_closure(py, None, None, free)?;
        mpi.getattr("Comm")?.call_method1("Create_keyval", (py.None(), free)).map(Bound::unbind)
    })?;
    let found = comm.call_method1("Get_attr", (key,))?;
    if !found.is_none() {
        return Ok(found);
    }
    let made = comm.call_method0("Dup")?;
    comm.call_method1("Set_attr", (key, &made))?;
    Ok(made)
}

/// The ranks of an mpi4py communicator, for `netnum.distributed` and allocators.
#[pyclass(frozen, module = "netnum._core")]
pub(crate) struct Ranks {
    pub(crate) core: netnum_core::Ranks,
    /// The number of this rank.
    #[pyo3(get)]
    rank: usize,
}

#[pymethods]
impl Ranks {
    #[new]
    pub(crate) fn new(comm: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mpi = comm.py().import("mpi4py.MPI")?;
        let comm = own(comm, &mpi)?;
        let constant = |name: &str| PyResult::Ok(mpi.getattr(name)?.unbind());
        let rank = comm.call_method0("Get_rank")?.extract()?;
        let ranks = comm.call_method0("Get_size")?.extract()?;
        let (in_place, sum, max) = (constant("IN_PLACE")?, constant("SUM")?, constant("MAX")?);
        let buffer = PyArray1::zeros(mpi.py(), 0, false).unbind();
        let comm = PythonComm { comm: comm.unbind(), in_place, sum, max, rank, ranks, buffer };
        Ok(Self { core: netnum_core::Ranks::new(comm), rank })
    }

    /// Tell the other ranks that this one has failed, unless they know of a failure.
    fn fail(&self, py: Python<'_>, message: &str) {
        fail(py, &self.core, message);
    }
}

/// Tells the other ranks that this one has failed, unless they know of a failure.
pub(crate) fn fail(py: Python<'_>, ranks: &netnum_core::Ranks, message: &str) {
    // Where the communicator fails too, the others learn of it from that.
    let _ = detach::run(py, || -> netnum_core::Result<()> {
        ranks.fail(message);
        Ok(())
    });
}

/// The same error, where it is about a link of a network that has names with that of the link.
pub(crate) fn with_link_name(error: Error, net: Option<&Topology>) -> Error {
    match (error, net) {
        (Error::RanksDiffer { link: Some(link), what }, Some(net)) => {
            let name = &net.core.link_names()[link];
            Error::RanksDiffer { link: None, what: format!("link {link} ({name}) has {what}") }
        }
        (error, _) => error,
    }
}

/// Tells the other ranks of an exception of the callback.
struct ObserverOfPart<'a> {
    observer: PythonObserver<'a>,
    ranks: &'a netnum_core::Ranks,
}

impl Observer for ObserverOfPart<'_> {
    fn cadence(&self) -> Cadence {
        self.observer.cadence()
    }

    fn observe(&mut self, progress: &netnum_core::Progress) -> ControlFlow<()> {
        let control = self.observer.observe(progress);
        if detach::has_raised() {
            self.ranks.fail("its callback has raised an exception, or a signal has interrupted it");
        }
        control
    }
}

/// Solve a problem of which every rank holds a part: `netnum.distributed.solve`, given the ranks.
#[pyfunction]
#[pyo3(signature = (
    problem, ranks, method="auto", *, tol=1e-6, stop="rates", max_iterations=None, time_limit=None, warm_start=None,
    callback=None, progress=false, trace=false, threads=None, **options
))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python sets settings")]
pub(crate) fn solve_part(
    problem: &Bound<'_, Problem>,
    ranks: &Bound<'_, Ranks>,
    method: &str,
    tol: f64,
    stop: &str,
    max_iterations: Option<&Bound<'_, PyAny>>,
    time_limit: Option<f64>,
    warm_start: Option<&Bound<'_, PyAny>>,
    callback: Option<&Bound<'_, PyAny>>,
    progress: bool,
    trace: bool,
    threads: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Solution> {
    let (py, core, ranks) = (problem.py(), &problem.get().core, &ranks.get().core);
    let settings = settings_of(tol, stop, max_iterations, time_limit)?.with_trace(trace);
    let threads = threads_of(threads)?;
    let bar = solve_bar(py, progress, &settings)?;
    let mut observer = ObserverOfPart { observer: PythonObserver::new(callback, &bar)?, ranks };
    let options = options_of(options)?;
    let prices = warm_start.map(prices_of).transpose()?;
    let (respond, parts) = (Some(netnum_parallel::respond(threads)), netnum_parallel::parts(threads));
    let setup = PartSetup { ranks, method, options: &options, prices: prices.as_deref(), respond, parts };
    let net = problem.get().topology.as_ref().map(Py::get);
    let solution = detach::run(py, || {
        solve_core(core, &setup, &settings, &mut observer).map_err(|error| with_link_name(error, net))
    });
    Solution::new(problem, bar.close(py, solution, last_state)?, trace)
}
