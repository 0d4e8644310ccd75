//! What `netnum.endpoint` calls: the endpoint of the service, on Linux, in builds with the feature `service`.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use netnum_service::Certificates;
use netnum_service::endpoint::{Endpoint as Core, EndpointConfig, EndpointError};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;

use crate::error::{NumError, Raise, raise, setting};

/// The endpoint of this process; None once it is closed.
#[pyclass(frozen, module = "netnum._core", name = "_Endpoint")]
pub(crate) struct Endpoint(Mutex<Option<Core>>);

#[pymethods]
impl Endpoint {
    #[new]
    #[pyo3(signature = (allocator, name, *, authority, certificate, key, watch_us, idle_us, rate_aware))]
    #[allow(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
    fn new(
        py: Python<'_>,
        allocator: &Bound<'_, PyAny>,
        name: String,
        authority: PathBuf,
        certificate: PathBuf,
        key: PathBuf,
        watch_us: u64,
        idle_us: u64,
        rate_aware: bool,
    ) -> PyResult<Self> {
        let allocator = address("allocator", allocator)?;
        let mut config = EndpointConfig::new(allocator.into(), name, Certificates { authority, certificate, key });
        (config.watch, config.idle) = (Some(Duration::from_micros(watch_us)), Duration::from_micros(idle_us));
        config.rate_aware = rate_aware;
        py.detach(|| Core::connect(config)).map(|core| Self(Mutex::new(Some(core)))).map_err(raise)
    }

    fn attach(&self, descriptor: RawFd, destination: Option<&Bound<'_, PyAny>>, weight: f64) -> PyResult<()> {
        let destination = destination.map(|given| address("destination", given)).transpose()?;
        match &*self.core() {
            Some(core) => core.attach(&descriptor, destination, weight).map_err(raise),
            None => Err(raise(EndpointError::Stopped)),
        }
    }

    fn status(&self) -> (bool, usize, usize, usize, u64, u64) {
        let status = self.core().as_ref().map(Core::status).unwrap_or_default();
        (status.is_led, status.sockets, status.flowlets, status.paced, status.started, status.lapses)
    }

    fn close(&self, py: Python<'_>) {
        let core = self.core().take();
        // It says goodbye to the allocator, which other threads of Python need not wait for.
        py.detach(|| drop(core));
    }
}

impl Endpoint {
    fn core(&self) -> MutexGuard<'_, Option<Core>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An address as `socket.getpeername` has it.
fn address(name: &str, given: &Bound<'_, PyAny>) -> PyResult<SocketAddrV4> {
    let given_in_parts = given.extract::<(String, u16)>().ok();
    let address = given_in_parts.and_then(|(host, port)| Some(SocketAddrV4::new(host.parse().ok()?, port)));
    let expected = "an IPv4 address and a port, such as ('10.0.0.9', 80)";
    address.ok_or_else(|| setting(name, format!("{given:?}"), expected))
}

impl Raise for EndpointError {
    fn raise(self) -> PyErr {
        let said = self.to_string();
        match self {
            // With its number it is of the class that Python has for it.
            Self::System(error) | Self::Socket { error, .. } => match error.raw_os_error() {
                Some(number) => PyOSError::new_err((number, said)),
                None => io::Error::new(error.kind(), said).into(),
            },
            Self::Stopped => PyRuntimeError::new_err(said),
            _ => NumError::new_err(said),
        }
    }
}
