//! Stand-in: one member.

use std::num::NonZeroUsize;
use std::sync::Arc;

use netnum_core::Result;

pub(crate) type Job = Arc<dyn Fn(&Member) + Send + Sync>;

#[derive(Debug)]
pub(crate) struct Crew;

#[derive(Debug)]
pub(crate) struct Member;

impl Crew {
    pub(crate) fn new(_threads: NonZeroUsize) -> Result<Self> {
        Ok(Self)
    }
    pub(crate) fn run(&mut self, job: Job) {
        job(&Member);
    }
}

impl Member {
    pub(crate) fn number(&self) -> usize {
        0
    }
    pub(crate) fn of(&self) -> usize {
        1
    }
    pub(crate) fn wait(&self) {}
}
