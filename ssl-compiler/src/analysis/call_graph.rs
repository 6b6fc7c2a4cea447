//! Which functions call which, custom derivatives and what takes steps back counted as calls: an order in which callees come first, and the
//! functions that can call themselves.

use crate::ir::{FuncId, Function, Module};

pub struct CallGraph {
    /// Callees of each function, with repetitions.
    pub callees: Vec<Vec<FuncId>>,
    /// Strongly connected components, callees before callers.
    pub components: Vec<Vec<FuncId>>,
    /// Which functions can call themselves when they run; that a custom derivative calls its function is no such call.
    pub recursive: Vec<bool>,
}

impl CallGraph {
    pub fn of(module: &Module) -> CallGraph {
        let callees: Vec<Vec<FuncId>> = module
            .functions
            .iter()
            .map(|f| {
                let mut list = Vec::new();
                f.walk(|_, data| list.extend(data.op.callee()));
                list.extend(f.custom.functions().chain(f.undo));
                list
            })
            .collect();
        let components = components(&callees);
        let recursive = if module.functions.iter().all(|f| f.custom.functions().chain(f.undo).next().is_none()) {
            recursive(&callees, &components)
        } else {
            let run = |f: &Function| {
                let mut list = Vec::new();
                f.walk(|_, data| list.extend(data.op.callee()));
                list
            };
            let run: Vec<Vec<FuncId>> = module.functions.iter().map(run).collect();
            recursive(&run, &self::components(&run))
        };
        CallGraph { callees, components, recursive }
    }

    /// Whether a component may need several rounds until what is found of its functions stays.
    pub fn is_circle(&self, component: &[FuncId]) -> bool {
        component.len() > 1 || self.recursive[component[0].index()]
    }
}

fn recursive(callees: &[Vec<FuncId>], components: &[Vec<FuncId>]) -> Vec<bool> {
    let mut recursive = vec![false; callees.len()];
    for component in components {
        let itself = component.len() > 1 || callees[component[0].index()].contains(&component[0]);
        component.iter().for_each(|f| recursive[f.index()] = itself);
    }
    recursive
}

/// Tarjan's algorithm with a stack of its own, since call chains may be as long as a program.
fn components(callees: &[Vec<FuncId>]) -> Vec<Vec<FuncId>> {
    const UNSEEN: usize = usize::MAX;
    let n = callees.len();
    let (mut index, mut low, mut on_stack) = (vec![UNSEEN; n], vec![0; n], vec![false; n]);
    let (mut stack, mut found, mut counter) = (Vec::new(), Vec::new(), 0);
    for root in 0..n {
        let mut work = if index[root] == UNSEEN { vec![(root, 0usize)] } else { Vec::new() };
        while let Some((node, next)) = work.last_mut() {
            let node = *node;
            if index[node] == UNSEEN {
                (index[node], low[node], on_stack[node]) = (counter, counter, true);
                counter += 1;
                stack.push(node);
            }
            if let Some(callee) = callees[node].get(*next) {
                *next += 1;
                let callee = callee.index();
                if index[callee] == UNSEEN {
                    work.push((callee, 0));
                } else if on_stack[callee] {
                    low[node] = low[node].min(index[callee]);
                }
                continue;
            }
            work.pop();
            if let Some((parent, _)) = work.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == index[node] {
                let at = stack.iter().rposition(|&m| m == node).unwrap_or(0);
                let component: Vec<FuncId> = stack.split_off(at).into_iter().map(|m| FuncId(m as u32)).collect();
                component.iter().for_each(|f| on_stack[f.index()] = false);
                found.push(component);
            }
        }
    }
    found
}
