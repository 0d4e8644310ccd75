//! Active flows that take other routes: when capacities change, at reviews, and when a routing balances all of them.

use super::event_loop::Simulation;
use super::settings::CapacityChange;
use crate::error::{Error, Result};
use crate::numbers::FLOW;
use crate::policy::Event;

impl Simulation<'_> {
    /// Links have other capacities from now on: the policy is given that, and switches may move flows.
    pub(super) fn change_capacities(&mut self) -> Result<()> {
        while let Some((&CapacityChange { time, link, capacity }, rest)) = self.changes.split_first()
            && time <= self.now
        {
            self.changes = rest;
            self.transfers.links.set_capacity(link as usize, capacity, self.now);
            if let Some(marks) = &mut self.transfers.marks {
                marks.set_capacity(link, capacity);
            }
            self.notify(Event::CapacityChanged { link, capacity })?;
        }
        self.links_changed = true;
        for place in 0..self.active() {
            self.work(FLOW)?;
            let slot = self.transfers.flows.active()[place];
            self.check_limit(slot)?;
            self.spare_route.clone_from(self.transfers.flows.route(slot));
            let network = self.transfers.links.state(self.net, self.now);
            let flow = self.transfers.flows.flow(slot).number as usize;
            if self.routing.reroute(flow, &network, &mut self.spare_route)? {
                self.take_spare_route(slot)?;
            }
        }
        Ok(())
    }

    /// A period of some flows is over: their routes are reviewed.
    pub(super) fn review(&mut self, due: &mut Vec<u32>) -> Result<()> {
        if let Some(reviews) = &mut self.reviews {
            reviews.due(self.now, due);
        }
        for &slot in &*due {
            let Some((reviews, marks)) = self.reviews.as_mut().zip(self.transfers.marks.as_mut()) else {
                return Ok(());
            };
            let flow = self.transfers.flows.flow(slot);
            let marks = marks.end_period(slot, flow.sent(self.now));
            reviews.advance(slot, flow, self.now)?;
            let number = flow.number as usize;
            self.work(FLOW)?;
            self.spare_route.clone_from(self.transfers.flows.route(slot));
            let network = self.transfers.links.state(self.net, self.now);
            if self.routing.review(number, marks, &network, &mut self.spare_route)? {
                self.take_spare_route(slot)?;
            }
        }
        Ok(())
    }

    /// A flow takes another route, at the rate that it has.
    fn take_spare_route(&mut self, slot: u32) -> Result<()> {
        if self.transfers.flows.route(slot) == &self.spare_route {
            return Ok(());
        }
        let number = self.transfers.flows.flow(slot).number as usize;
        let violation = self.spare_route.violation(self.net, self.workload.pair(number), &mut self.balance);
        self.refuse(number, violation)?;
        self.transfers.take_route(slot, &mut self.spare_route, self.now);
        self.check_limit(slot)?;
        self.notify(Event::Rerouted(slot))
    }

    /// Refuses a flow that neither a link of its route nor its application limits.
    pub(super) fn check_limit(&self, slot: u32) -> Result<()> {
        let (flows, links) = (&self.transfers.flows, &self.transfers.links);
        if flows.source(slot).is_none() && links.have_no_limit(flows.route(slot)) {
            let flow = flows.flow(slot).number as usize;
            return Err(netnum_core::Error::Unlimited { flow }.into());
        }
        Ok(())
    }

    /// The error for a flow whose route is invalid; Ok without a violation.
    pub(super) fn refuse(&self, flow: usize, violation: Option<String>) -> Result<()> {
        match violation {
            Some(what) => {
                Err(Error::Routing { routing: self.routing.name().into(), what: format!("flow {flow} {what}") })
            }
            None => Ok(()),
        }
    }

    /// The routing sets the routes that change when all events of an instant are known.
    pub(super) fn balance_routes(&mut self) -> Result<()> {
        let network = self.transfers.links.state(self.net, self.now);
        self.routing.balance(&network, &self.transfers.flows, &mut self.moves)?;
        let mut moves = std::mem::take(&mut self.moves);
        for (slot, route) in moves.drain() {
            if !self.transfers.flows.is_active(slot) {
                let what = format!("moved slot {slot}, where no flow is");
                return Err(Error::Routing { routing: self.routing.name().into(), what });
            }
            self.spare_route = route;
            self.take_spare_route(slot)?;
        }
        self.moves = moves;
        Ok(())
    }
}
