//! The communicator of Python, and `solve_part`, a solve over its ranks.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::{Duration, Instant};

use netnum_core::{AllReduce, Error};
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyDict, PySlice, PyTuple};

use crate::detach::{self, EnterRust};
use crate::problem::Problem;
use crate::solve::{Keywords, Solution, solve_over};

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
    begun: Arc<AtomicUsize>,
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

    fn failure(&self) -> Option<String> {
        detach::raised()
    }

    fn begun(&self) -> Arc<AtomicUsize> {
        self.begun.clone()
    }
}

/// The attribute that a communicator keeps.
#[pyclass(frozen)]
struct Duplicate {
    comm: Py<PyAny>,
    /// How many have begun on it.
    begun: Arc<AtomicUsize>,
}

/// A duplicate of the communicator, for the numbers of netnum alone. All ranks make it at their first call with that
/// communicator, which keeps it as an attribute; it is freed with it.
fn own<'py>(comm: &Bound<'py, PyAny>, mpi: &Bound<'py, PyModule>) -> PyResult<Bound<'py, Duplicate>> {
    static KEY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = comm.py();
    let key = KEY.get_or_try_init(py, || {
        let free = |args: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
            args.get_item(2)?.cast::<Duplicate>()?.get().comm.call_method0(args.py(), "Free")
        };
        let free = PyCFunction::new_closure(py, None, None, free)?;
        mpi.getattr("Comm")?.call_method1("Create_keyval", (py.None(), free)).map(Bound::unbind)
    })?;
    let found = comm.call_method1("Get_attr", (key,))?;
    if !found.is_none() {
        return Ok(found.cast_into::<Duplicate>()?);
    }
    let made = Duplicate { comm: comm.call_method0("Dup")?.unbind(), begun: Arc::default() };
    let made = Bound::new(py, made)?;
    comm.call_method1("Set_attr", (key, &made))?;
    Ok(made)
}

/// The ranks of an mpi4py communicator: a call of all ranks.
pub(crate) fn ranks_of(comm: &Bound<'_, PyAny>) -> PyResult<netnum_core::Ranks> {
    let py = comm.py();
    let mpi = py.import("mpi4py.MPI")?;
    let own = own(comm, &mpi)?;
    let Duplicate { comm, begun } = own.get();
    let constant = |name: &str| PyResult::Ok(mpi.getattr(name)?.unbind());
    let (in_place, sum, max) = (constant("IN_PLACE")?, constant("SUM")?, constant("MAX")?);
    let number = |name: &str| comm.call_method0(py, name)?.extract(py);
    Ok(netnum_core::Ranks::new(PythonComm {
        comm: comm.clone_ref(py),
        in_place,
        sum,
        max,
        rank: number("Get_rank")?,
        ranks: number("Get_size")?,
        begun: begun.clone(),
        buffer: PyArray1::zeros(py, 0, false).unbind(),
    }))
}

/// Does work of all ranks. Where it raises, the other ranks learn of it, unless they know of a failure; so they do of a
/// signal that has come by its end or while the ranks were made.
pub(crate) fn together<T>(
    py: Python<'_>,
    ranks: &netnum_core::Ranks,
    work: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    let work = || {
        py.check_signals()?;
        let done = work()?;
        py.check_signals()?;
        Ok(done)
    };
    work().inspect_err(|error| fail(py, ranks, error))
}

/// Tells the other ranks that this one has failed, unless they know of a failure.
pub(crate) fn fail(py: Python<'_>, ranks: &netnum_core::Ranks, error: &PyErr) {
    let message = detach::text_of(error);
    // Where the communicator fails too, the others learn of it from that.
    let _ = py.enter_rust(|| -> netnum_core::Result<()> {
        ranks.fail(&message);
        Ok(())
    });
}

/// What `solve_part` hands to `solve_with`, whose arguments are converted where the other ranks learn of an error.
#[pyclass(frozen)]
struct Ranks(netnum_core::Ranks);

/// Solve a problem of which every rank holds a part: `netnum.distributed.solve`, given a communicator.
#[pyfunction]
#[pyo3(signature = (problem, comm, method, **settings))]
pub(crate) fn solve_part<'py>(
    problem: &Bound<'py, PyAny>,
    comm: &Bound<'py, PyAny>,
    method: &Bound<'py, PyAny>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = problem.py();
    let ranks = ranks_of(comm)?;
    let given = (problem, Ranks(ranks.clone()), method);
    together(py, &ranks, || wrap_pyfunction!(solve_with, py)?.call(given, settings))
}

#[pyfunction(name = "solve")]
#[pyo3(signature = (problem, ranks, method="auto", **keywords))]
fn solve_with<'py>(
    problem: &Bound<'py, Problem>,
    ranks: &Bound<'_, Ranks>,
    method: &str,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Solution> {
    let keywords = Keywords::of("solve", keywords, &["warm_start", "callback", "progress", "trace"])?;
    solve_over(problem, method, &keywords, ranks.get().0.clone())
}
