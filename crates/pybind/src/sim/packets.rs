//! `Packets`.

use netnum_core::Parameter;
use netnum_core::internal::check_length;
use netnum_sim::Packets as Core;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{raise, setting};
use crate::hints;
use crate::numbers;

/// What packets add to the time of a flow: the way of its last one, and the round trips in which TCP starts.
///
/// ``simulate(..., packets=...)`` adds it to completion times and to the times that flows take alone, with S the size
/// of a flow and x its mean rate in the fluid, m the size of a packet, and a, d and c the part of the flow, the delay
/// and the capacity of each link on its route at its end; for the time that it takes alone on the route of its arrival,
/// with capacities as at the start of the run::
///
///     T = S/x + D + H + W
///     D = sum(a d + a m/c) - max(m/c)                the way of a packet
///     H = 2 h sum(a d)                               round trips before the first byte, of small packets
///     W = sum(max(0, R - w m/x))                     over rounds of slow start with w = w0, 2 w0, 4 w0, ... packets,
///     R = sum(2 a d + a m/c)                         after which bytes are left to send
///
/// Flows that wait for others start when these have arrived. Rates and loads are those of the fluid. Queues, losses,
/// timeouts and delayed acknowledgements are not in it; headers neither, as sizes are what links carry: 1500 bytes for
/// 1460 of data.
///
/// Parameters
/// ----------
/// delay : float, or array of float, shape (links,)
///     The propagation delay of every link, in seconds, >= 0.
/// size : float
///     Bytes of a full packet, > 0.
/// initial_window : float
///     Packets that are sent in the first round trip, >= 1: 10 for TCP, inf for a transport that starts at its rate.
/// round_trips : float
///     Round trips before the first byte, h: 1 for the handshake of TCP.
///
/// Raises
/// ------
/// NumError
///     From `simulate`, for numbers out of their ranges, and for another number of delays than links.
///
/// Examples
/// --------
/// >>> net = netnum.topology.star(3, capacity=8.0)  # 1 byte per second
/// >>> workload = netnum.sim.Workload([0.0], [0], [1], [5.0])
/// >>> packets = netnum.sim.Packets(0.25, size=1.0)
/// >>> netnum.sim.simulate(net, workload, packets=packets).completion_times  # 5 + 2 * 0.25 + 1
/// array([6.5])
#[pyclass(frozen, eq, module = "netnum.sim")]
#[derive(PartialEq)]
pub(crate) struct Packets {
    delay: Parameter,
    /// Its delays are taken from `delay` for the links of a network.
    core: Core,
}

impl Packets {
    /// On so many links. Delays are checked here, where their argument has another name.
    pub(super) fn over(&self, links: usize) -> PyResult<Core> {
        let refuse = |name: &str, delay: f64| match delay.is_finite() && delay >= 0.0 {
            true => Ok(()),
            false => Err(setting(name, delay, "a finite number >= 0")),
        };
        match &self.delay {
            Parameter::Same(delay) => refuse("delay", *delay)?,
            Parameter::PerFlow(delays) => {
                check_length("delay", delays.len(), links, "link").map_err(raise)?;
                for (link, delay) in delays.iter().enumerate() {
                    refuse(&format!("delay[{link}]"), *delay)?;
                }
            }
        }
        let mut core = self.core.clone();
        core.delays = numbers::spread(self.delay.clone(), links);
        Ok(core)
    }
}

#[pymethods]
impl Packets {
    #[new]
    #[pyo3(signature = (delay=None, *, size=1500.0, initial_window=f64::INFINITY, round_trips=0.0, **unknown))]
    #[pyo3(text_signature = "(delay, *, size=1500.0, initial_window=1e999, round_trips=0.0)")]
    fn new(
        py: Python<'_>,
        delay: Option<&Bound<'_, PyAny>>,
        size: f64,
        initial_window: f64,
        round_trips: f64,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        hints::refuse("Packets", unknown)?;
        let delay = hints::needed(py, "Packets", "delay", delay)?;
        let core = Core::new(Vec::new()).with_size(size);
        let core = core.with_initial_window(initial_window).with_round_trips(round_trips);
        Ok(Self { delay: numbers::parameter("delay", delay)?, core })
    }

    /// The propagation delay of the links, in seconds: float, or array of float, shape (links,).
    #[getter]
    fn delay<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        numbers::parameter_out(py, &self.delay)
    }

    /// Bytes of a full packet.
    #[getter]
    fn size(&self) -> f64 {
        self.core.size
    }

    /// Packets that are sent in the first round trip.
    #[getter]
    fn initial_window(&self) -> f64 {
        self.core.initial_window
    }

    /// Round trips before the first byte.
    #[getter]
    fn round_trips(&self) -> f64 {
        self.core.round_trips
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((Bound<'py, PyAny>,), Bound<'py, PyDict>)> {
        let options = PyDict::new(py);
        options.set_item("size", self.core.size)?;
        options.set_item("initial_window", self.core.initial_window)?;
        options.set_item("round_trips", self.core.round_trips)?;
        Ok(((self.delay(py),), options))
    }

    fn __repr__(&self) -> String {
        let Core { size, initial_window, round_trips, .. } = &self.core;
        let delay = numbers::parameter_repr(&self.delay);
        format!("Packets({delay}, size={size:?}, initial_window={initial_window:?}, round_trips={round_trips:?})")
    }
}
