//! What a host links to a program: types that conform to open interfaces, compiled apart.
//!
//! A program's code calls linked functions by number, and a table stands behind each. Linking compiles what the code calls,
//! of each new type, and puts it into the tables. So the program's own code stays as it is.

use super::Program;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::Module;
use crate::jit::linked::{Entry, Unit};
use crate::runtime::ExternalRegistry;
use crate::runtime::externals::External;
use crate::runtime::linked::{Facet, Part};
use crate::sema::hir::{self, FunctionId};
use crate::sema::open_interfaces::{Open, OpenImplementation, OpenMethod};
use crate::sema::{linked_words, reach};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// A type that was linked to a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedType {
    /// The open interface to which it conforms.
    pub interface: String,
    /// The type's name.
    pub name: String,
    /// The number by which a value of the interface says that it holds this type.
    pub kind: i32,
    /// Floats and ints for which a value of the interface has room, behind the number.
    pub room: (usize, usize),
    /// What was compiled of it: what the shaders of the program call so far.
    pub units: Vec<LinkedUnit>,
}

/// A function of a method that was compiled to be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedUnit {
    /// The method, as `IShade.at`.
    pub method: String,
    /// What the function gives: the value, a derivative, where the method jumps, a side of such a place.
    pub gives: String,
    /// The size of its code in bytes, where the back end makes code.
    pub code_bytes: usize,
}

/// Findings, and the program in whose files they lie.
type Refused = (Arc<Program>, Diagnostics);

/// A type that was linked: its program, and what calls each method of the interface.
struct Linked {
    program: Arc<Program>,
    /// Index of the interface, among those that are open.
    interface: usize,
    roots: Vec<FunctionId>,
}

/// What is linked, and what of it is called.
#[derive(Default)]
struct State {
    types: Vec<Linked>,
    /// The linked functions that shaders call: slot and facet.
    called: BTreeSet<(u32, Facet)>,
}

/// What was and will be linked to a program.
pub(super) struct Links {
    registry: ExternalRegistry,
    /// By slot and facet.
    entries: Vec<HashMap<Facet, Arc<Entry>>>,
    /// Of each slot, the interface and the method.
    slots: Vec<(usize, usize)>,
    state: Mutex<State>,
}

impl Links {
    /// Nothing is linked yet.
    pub fn of(program: &hir::Program, externals: &ExternalRegistry) -> Links {
        let mut links =
            Links { registry: externals.clone(), entries: Vec::new(), slots: Vec::new(), state: Mutex::default() };
        let (mut functions, mut moving) = (Vec::new(), Vec::new());
        for (i, open) in program.open.iter().enumerate() {
            for (j, method) in open.methods.iter().enumerate() {
                // Checked code has words for each method of an open interface.
                let Some(signature) = linked_words::signature(program, method.linked) else { continue };
                links.slots.push((i, j));
                moving.push(signature.takes.iter().map(|part| part.may_move()).collect());
                let mut entries = HashMap::new();
                for (number, facet) in Facet::all().enumerate() {
                    let own = signature.facet(facet);
                    let scalars = |parts: &[Part]| parts.iter().map(|part| part.scalar()).collect();
                    let (takes, gives) = (scalars(&own.takes), scalars(&own.gives));
                    let entry = Arc::new(Entry::new(own, open.implementations.len() as u32));
                    entries.insert(facet, Arc::clone(&entry));
                    let name = format!("{}.{number}", method.name);
                    functions.push(External::linked(name, takes, gives, move |call| entry.run(call)));
                }
                links.entries.push(entries);
            }
        }
        if !functions.is_empty() {
            links.registry.append_linked(functions, moving);
        }
        links
    }

    /// The host's functions, and what stands for those that are linked.
    pub fn registry(&self) -> &ExternalRegistry {
        &self.registry
    }

    fn entry(&self, (slot, facet): (u32, Facet)) -> Option<&Arc<Entry>> {
        self.entries.get(slot as usize)?.get(&facet)
    }

    /// Compiles of all linked types what a shader calls that no shader called before.
    pub fn prepare(&self, module: &Module) -> Result<(), Refused> {
        let wanted: BTreeSet<_> =
            module.linked_functions().iter().filter_map(|&id| self.registry.linked_slot(id)).collect();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<_> = wanted.difference(&state.called).copied().collect();
        let mut made = Vec::new();
        for linked in &state.types {
            for &at in &new {
                made.extend(self.unit(linked, at)?.map(|unit| (at, unit)));
            }
        }
        self.push(made);
        state.called.extend(new);
        Ok(())
    }

    fn push(&self, made: Vec<((u32, Facet), Unit)>) {
        for (at, unit) in made {
            if let Some(entry) = self.entry(at) {
                entry.push(unit);
            }
        }
    }

    /// The code of a type for one linked function; `None` if the function is none of its interface.
    fn unit(&self, linked: &Linked, at: (u32, Facet)) -> Result<Option<Unit>, Refused> {
        let Some((&(interface, method), entry)) = self.slots.get(at.0 as usize).zip(self.entry(at)) else {
            return Ok(None);
        };
        let Some(&root) = linked.roots.get(method).filter(|_| interface == linked.interface) else { return Ok(None) };
        let refuse = |found| (Arc::clone(&linked.program), found);
        let shader = linked.program.compile_linked(root, at.1).map_err(refuse)?;
        let own = linked.program.signature_of(root).facet(at.1);
        Ok(Some(Unit::new(shader, &own, entry.signature())))
    }

    /// Links the types of another program that this one does not know.
    pub fn link(
        &self,
        (own, other): (&hir::Program, &hir::Program),
        added: &Arc<Program>,
    ) -> Result<Vec<LinkedType>, Refused> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut said, mut new) = (Vec::new(), Vec::new());
        for (i, open) in own.open.iter().enumerate() {
            let Some(theirs) = other.open.iter().find(|theirs| theirs.declared == open.declared) else { continue };
            let known = |it: &&OpenImplementation| {
                open.implementations.iter().any(|own| (&own.name, own.declared) == (&it.name, it.declared))
            };
            let before = state.types.iter().filter(|linked| linked.interface == i).count();
            let all = theirs.implementations.iter().enumerate().filter(|(_, it)| !known(it));
            for (kind, (k, it)) in (open.implementations.len() + before..).zip(all) {
                let roots: Vec<FunctionId> = theirs.methods.iter().filter_map(|m| m.roots.get(k).copied()).collect();
                self.check((own, open), (other, theirs, it), &roots).map_err(|found| (Arc::clone(added), found))?;
                new.push(Linked { program: Arc::clone(added), interface: i, roots });
                let (interface, name) = (open.name.clone(), it.name.clone());
                said.push(LinkedType { interface, name, kind: kind as i32, room: open.room, units: Vec::new() });
            }
        }
        let mut made = Vec::new();
        for (linked, said) in new.iter().zip(&mut said) {
            for &at in &state.called {
                let Some(unit) = self.unit(linked, at)? else { continue };
                let method = own.open[linked.interface].methods[self.slots[at.0 as usize].1].name.clone();
                let (gives, code_bytes) = (at.1.to_string(), unit.shader.code_bytes());
                said.units.push(LinkedUnit { method, gives, code_bytes });
                made.push((at, unit));
            }
        }
        self.push(made);
        state.types.extend(new);
        Ok(said)
    }

    /// Looks whether a type fits.
    fn check(
        &self,
        (own, open): (&hir::Program, &Open),
        (other, theirs, it): (&hir::Program, &Open, &OpenImplementation),
        roots: &[FunctionId],
    ) -> Result<(), Diagnostics> {
        let place = it.declared.unwrap_or(theirs.declared);
        let refuse = |why: String, hint: String| {
            let message = format!("`{}` cannot be linked as a `{}`: {why}", it.name, open.name);
            Diagnostics::from(Diagnostic::error(&codes::INTERFACE_AS_TYPE, place, message, hint))
        };
        if let Some(why) = &it.alone {
            return Err(refuse(why.clone(), "hold numbers, and let methods take what they need".to_owned()));
        }
        let ((floats, ints), room) = (it.words, open.room);
        if floats > room.0 || ints > room.1 {
            let why =
                format!("it takes {floats} floats and {ints} ints, and a value has room for {} and {}", room.0, room.1);
            let (floats, ints) = (floats.max(room.0), ints.max(room.1));
            let hint = format!(
                "open the interface with more room before programs are compiled: {floats} floats and {ints} ints"
            );
            return Err(refuse(why, hint));
        }
        let agree = |(method, root): (&OpenMethod, &FunctionId)| {
            let own = linked_words::signature(own, method.linked);
            own.zip(linked_words::signature(other, *root)).is_some_and(|(own, root)| own.agrees(&root))
        };
        if !open.methods.iter().zip(roots).all(agree) {
            let hint = "types that the interface leaves to implementations must be the same in both programs";
            return Err(refuse("its methods take or give other types".to_owned(), hint.to_owned()));
        }
        let outside = roots.iter().flat_map(|root| reach::outside(other, *root)).next();
        if let Some((what, place)) = outside {
            let message = format!("a method of `{}` {what}, and it is to be linked", it.name);
            let hint = "hand the value to the method as an argument";
            return Err(Diagnostic::error(&codes::INTERFACE_AS_TYPE, place, message, hint).into());
        }
        Ok(())
    }
}
