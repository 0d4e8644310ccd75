//! Tests of the simulator through the public face, one program: every file is a module.

mod adaptive;
mod at_once;
mod bad_input;
mod clocked;
mod closed_loop;
mod coefficients;
mod coflows;
mod combinations;
mod common;
mod costs;
mod endless;
mod fuzz;
mod hostile;
mod ideal;
mod max_min;
mod moves;
mod on_off;
mod one_link;
mod packets;
mod pooled;
mod sources;
mod steady_state;
mod stops;
mod timeline;
mod weights;
mod workloads;
