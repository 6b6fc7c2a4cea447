//! Which gradients of which launches lead from the loss back to what is fitted.
//!
//! A buffer lies on the way if the loss depends on it and it depends on something that is fitted. Each launch that reads and
//! writes such buffers has a gradient: it takes the gradients of what it writes, and adds to those of what it reads.
//! What a buffer's gradient gets from several launches adds up by itself, since the sums are exact. An operation of the host
//! lets no derivative pass, and nor do ints and bools. Where the job gives the gradient of a launch by a buffer, the compiler
//! makes none.

use super::codes;
use super::context::Context;
use super::plan::{Id, Plan, PlannedLaunch, Work};
use crate::kernel::Kernel;
use ssl_compiler::runtime::BufferRole;
use ssl_compiler::types::Scalar;
use std::collections::BTreeSet;

pub(super) struct Adjoint {
    /// The buffers whose gradients are summed up, without the loss.
    pub buffers: Vec<Id>,
    /// In no order; the graph finds one.
    pub launches: Vec<Backward>,
}

/// The gradient of a launch.
pub(super) struct Backward {
    pub launch: usize,
    pub kernel: Kernel,
}

impl Adjoint {
    /// `None` after saying in the context which fitted buffer the loss does not depend on.
    pub fn new(plan: &Plan, context: &mut Context) -> Option<Adjoint> {
        let Some(loss) = plan.loss.as_ref().map(|loss| loss.buffer) else {
            return Some(Adjoint { buffers: Vec::new(), launches: Vec::new() });
        };
        // An input on which a kernel's results do not depend by derivatives takes others from the way: what a condition
        // reads, say.
        let mut still: BTreeSet<(usize, String)> = BTreeSet::new();
        let given = given(plan);
        loop {
            let way = way(plan, &still);
            let before = still.len();
            for (number, launch) in plan.launches.iter().enumerate() {
                let Some((of, by)) = on_the_way(number, launch, &way, [&still, &given]) else { continue };
                let counting = match launch.counting(of, by.clone()) {
                    Ok(counting) => counting,
                    Err(why) => return no_gradient(launch, &why, context),
                };
                still.extend(by.into_iter().filter(|name| !counting.contains(name)).map(|name| (number, name)));
            }
            if still.len() > before {
                continue;
            }
            let mut launches = Vec::new();
            for (number, launch) in plan.launches.iter().enumerate() {
                let Some((of, by)) = on_the_way(number, launch, &way, [&still, &given]) else { continue };
                match launch.gradient(of, by) {
                    Ok(kernel) => launches.extend(kernel.map(|kernel| Backward { launch: number, kernel })),
                    Err(why) => return no_gradient(launch, &why, context),
                }
            }
            let mut whole = are_on_the_way(plan, &way, context);
            for fit in &plan.fits {
                if !way.contains(&fit.buffer) {
                    whole = false;
                    let (name, loss) = (&plan.buffers[fit.buffer].name, &plan.buffers[loss].name);
                    let message = format!("`{loss}` does not depend on `{name}`");
                    let hint = "launches lead from what is fitted to the loss, over floats alone; sorts and the like let \
                                no derivative pass";
                    context.error(&codes::NO_GRADIENT, fit.at.clone(), message, hint);
                }
            }
            let buffers = way.into_iter().filter(|id| *id != loss).collect();
            return whole.then_some(Adjoint { buffers, launches });
        }
    }
}

fn no_gradient(launch: &PlannedLaunch, why: &str, context: &mut Context) -> Option<Adjoint> {
    let message = format!("`{}` has no gradient: {why}", launch.name);
    context.error(&codes::NO_GRADIENT, launch.at.clone(), message, "change the kernel");
    None
}

/// What launches of the job give gradients by: launches and buffers of their kernels.
fn given(plan: &Plan) -> BTreeSet<(usize, String)> {
    let mut given = BTreeSet::new();
    for own in plan.launches.iter().filter_map(|launch| launch.gives.as_ref()) {
        let by = |from: Option<Id>| own.links.iter().any(|link| link.role == BufferRole::Add && from == Some(link.of));
        let ports = plan.launches[own.of].links.iter().filter(|link| by(link.from));
        given.extend(ports.map(|link| (own.of, link.port.clone())));
    }
    given
}

/// Whether all that launches of the job read and give gradients of has one.
fn are_on_the_way(plan: &Plan, way: &BTreeSet<Id>, context: &mut Context) -> bool {
    let mut all = true;
    for launch in &plan.launches {
        let links = launch.gives.iter().flat_map(|own| &own.links);
        for link in links.filter(|link| !way.contains(&link.of)) {
            let message =
                format!("`{}` is for the gradient of `{}`, which has none", launch.name, plan.buffers[link.of].name);
            let hint = "a buffer has a gradient if the loss depends on it and it depends on what is fitted";
            context.error(&codes::NO_GRADIENT, launch.at.clone(), message, hint);
            all = false;
        }
    }
    all
}

fn has_floats(plan: &Plan, id: Id) -> bool {
    plan.buffers[id].element.scalars().contains(&Scalar::Float)
}

/// The buffers between what is fitted and the loss, both included.
fn way(plan: &Plan, still: &BTreeSet<(usize, String)>) -> BTreeSet<Id> {
    let kernels = || plan.launches.iter().enumerate().filter(|(_, launch)| matches!(launch.work, Work::Kernel { .. }));
    let inputs = |number: usize, launch: &PlannedLaunch| -> Vec<Id> {
        let moves = |port: &str| !still.contains(&(number, port.to_owned()));
        launch.links.iter().filter(|link| moves(&link.port)).filter_map(|link| link.from).collect()
    };
    let mut forward: BTreeSet<Id> = plan.fits.iter().map(|fit| fit.buffer).collect();
    let mut backward = BTreeSet::from_iter(plan.loss.iter().map(|loss| loss.buffer));
    for _ in 0..=plan.launches.len() {
        for (number, launch) in kernels() {
            if inputs(number, launch).iter().any(|id| forward.contains(id)) {
                forward.extend(launch.writes().filter(|id| has_floats(plan, *id)));
            }
            if launch.writes().any(|id| backward.contains(&id)) {
                backward.extend(inputs(number, launch).into_iter().filter(|id| has_floats(plan, *id)));
            }
        }
    }
    forward.intersection(&backward).copied().collect()
}

/// What a launch on the way is differentiated of, and by what; by the kernel's names.
fn on_the_way(
    number: usize,
    launch: &PlannedLaunch,
    way: &BTreeSet<Id>,
    without: [&BTreeSet<(usize, String)>; 2],
) -> Option<(Vec<String>, Vec<String>)> {
    let is_on = |id: Option<Id>| id.is_some_and(|id| way.contains(&id));
    let names = |wanted: &dyn Fn(&super::plan::PlannedLink) -> bool| -> Vec<String> {
        launch.links.iter().filter(|link| wanted(link)).map(|link| link.port.clone()).collect()
    };
    let of = names(&|link| link.role != BufferRole::In && is_on(link.to));
    let left_out = |port: &str| without.iter().any(|all| all.contains(&(number, port.to_owned())));
    let by = names(&|link| is_on(link.from) && !left_out(&link.port));
    (!of.is_empty() && !by.is_empty()).then_some((of, by))
}
