//! One utility object per flow → few objects that serve many flows each, so that inner loops run over blocks.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Error, Result, check_length};
use crate::interrupt::Pacer;
use crate::utility::{FAMILIES, Spec, Units, Utilities, Utility};

/// One utility object and the flows it serves: `flows[i]`, in increasing order, has its parameters number `i`.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) utility: Arc<dyn Utility>,
    pub(crate) flows: Vec<u32>,
}

impl Block {
    /// Whether the utility is user-defined: without conversion of units, and called with all its flows at once.
    pub(crate) fn is_user_defined(&self) -> bool {
        self.utility.in_units(&[], Units::NONE).is_none()
    }
}

/// The blocks of a problem's utilities: those of one kind merged, flows that share an object together.
pub(super) fn of(utilities: Utilities, flows: usize) -> Result<Vec<Block>> {
    let parts: Vec<Part> = match utilities {
        Utilities::Shared(utility) => {
            check_length("utility", utility.flows().unwrap_or(flows), flows, "flow")?;
            return Ok(vec![Block { utility, flows: (0..flows as u32).collect() }]);
        }
        Utilities::PerFlow(list) => {
            let mut pacer = Pacer::new();
            let part = |utility| pacer.did(8).and_then(|()| Part::of(utility));
            list.into_iter().enumerate().map(part).collect::<Result<_>>()?
        }
        Utilities::Specs(list) => list.into_iter().map(Part::Spec).collect(),
    };
    check_length("utility", parts.len(), flows, "flow")?;
    let (mut groups, mut places): (Vec<Group>, HashMap<Key, usize>) = (Vec::new(), HashMap::new());
    let mut pacer = Pacer::new();
    for (flow, part) in parts.into_iter().enumerate() {
        pacer.did(8)?;
        let place = *places.entry(part.key(flow)).or_insert_with(|| {
            groups.push(Group::default());
            groups.len() - 1
        });
        groups[place].push(flow as u32, part);
    }
    groups.into_iter().map(Group::into_block).collect()
}

/// One flow's utility.
enum Part {
    /// Plain data, which merges with others of its kind.
    Spec(Spec),
    /// Code, which only joins itself.
    Object(Arc<dyn Utility>),
}

/// The property that the parts of one block share.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Kind(String),
    /// Flows of a kind that give a scale where others give a weight.
    Scaled(String),
    /// Address of an object that serves any number of flows.
    Object(usize),
    /// A flow whose object serves one flow only.
    Alone(usize),
}

impl Part {
    fn of((flow, utility): (usize, Arc<dyn Utility>)) -> Result<Self> {
        match utility.flows() {
            Some(found) if found != 1 => {
                let what = format!("the utility of flow {flow}");
                Err(Error::Length { what, found, expected: 1, per: "flow" })
            }
            _ => Ok(utility.spec(0).map_or(Self::Object(utility), Self::Spec)),
        }
    }

    fn key(&self, flow: usize) -> Key {
        match self {
            Self::Spec(spec) if spec.get("scale").is_some() && spec.get("weight").is_none() => {
                Key::Scaled(spec.kind.clone())
            }
            Self::Spec(spec) => Key::Kind(spec.kind.clone()),
            Self::Object(utility) if utility.flows().is_some() => Key::Alone(flow),
            Self::Object(utility) => Key::Object(Arc::as_ptr(utility).cast::<()>() as usize),
        }
    }
}

/// The flows that will share one block.
#[derive(Default)]
struct Group {
    specs: Vec<Spec>,
    object: Option<Arc<dyn Utility>>,
    flows: Vec<u32>,
}

impl Group {
    fn push(&mut self, flow: u32, part: Part) {
        self.flows.push(flow);
        match part {
            Part::Spec(spec) => self.specs.push(spec),
            Part::Object(utility) => self.object = Some(utility),
        }
    }

    fn into_block(self) -> Result<Block> {
        let merge = || {
            let family = FAMILIES.get(&self.specs[0].kind)?;
            (family.make)(&self.specs).map_err(|error| error.at_flows(&self.flows))
        };
        let utility = self.object.map_or_else(merge, Ok)?;
        Ok(Block { utility, flows: self.flows })
    }
}
