//! Instances of generic functions: a function for each list of arguments, and the chain of those that asked for it.

use super::Checker;
use super::generics::{Bindings, Bound, GenericId, Instance, MAX_ALL_INSTANCES, MAX_DEPTH, MAX_INSTANCES};
use super::hir::{Attributes, FunctionId};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast;
use std::rc::Rc;

/// Bytes of what stands between `<` and `>` in the name of an instance.
const MAX_NAME: usize = 120;

/// Links of a chain of instances that are shown.
const SHOWN: usize = 6;

impl Checker<'_> {
    /// The instance of a function for these arguments, which are of the right number and kind.
    pub(super) fn instance(&mut self, of: GenericId, list: Vec<Bound>, call: Span) -> Option<FunctionId> {
        if let Some(id) = self.generics.list[of.0].made.get(&list) {
            return Some(*id);
        }
        let depth = self.links_to(|c, id| c.generics.instances.get(&id).is_some_and(|i| i.of == of));
        let name = self.instance_name(of, &list);
        let asked = self.generics.asked;
        let generic = &mut self.generics.list[of.0];
        let too_many = generic.made.len() >= MAX_INSTANCES;
        if too_many || depth >= MAX_DEPTH || asked >= MAX_ALL_INSTANCES {
            if !std::mem::replace(&mut generic.too_many, true) {
                let hint = format!(
                    "at most {MAX_INSTANCES} of one function, {MAX_ALL_INSTANCES} of all, and {MAX_DEPTH} that ask for \
                     each other are possible; end the chain with a function that is not generic"
                );
                let d = Diagnostic::error(&codes::TOO_LARGE, call, format!("`{name}` is one instance too many"), hint);
                let d = self.with_chain(d);
                self.diagnostics.push(d);
            }
            return None;
        }
        self.generics.asked += 1;
        let id = self.make_instance(of, list, Some(call));
        if let Some(id) = id {
            self.keep_quiet(id);
        }
        id
    }

    /// Shows which instances led to the function that is being checked.
    pub(super) fn with_chain(&self, mut d: Diagnostic) -> Diagnostic {
        let mut at = self.local.function.map(|f| self.any_length.origin(f));
        for _ in 0..SHOWN {
            let Some((place, name, parent)) = at.and_then(|id| self.asked_by(id)) else { break };
            d = d.with_note(place, format!("`{name}` is asked for here"));
            at = parent;
        }
        d
    }

    /// Of an instance, or of a method of one: where it was asked for, its name, and the function that did.
    fn asked_by(&self, id: FunctionId) -> Option<(Option<Span>, String, Option<FunctionId>)> {
        if let Some(instance) = self.generics.instances.get(&id) {
            return Some((instance.call, self.program.function(id).name.clone(), instance.parent));
        }
        let made = self.of_generic_struct(id)?;
        Some((made.place, self.name_of(&made.ty), made.parent))
    }

    /// How many instances that `counts` led to the function that is being checked.
    pub(super) fn links_to(&self, counts: impl Fn(&Self, FunctionId) -> bool) -> usize {
        let mut at = self.local.function.map(|f| self.any_length.origin(f));
        let mut depth = 0;
        while let Some((id, (_, _, parent))) = at.and_then(|id| Some((id, self.asked_by(id)?))) {
            depth += usize::from(counts(self, id));
            at = parent;
        }
        depth
    }

    /// `blend<float3, 4>`
    fn instance_name(&self, of: GenericId, list: &[Bound]) -> String {
        let generic = &self.generics.list[of.0];
        let name = self.name_with(&generic.decl.name.text, list);
        match &generic.method {
            Some(m) => format!("{}.{name}", self.name_of(&m.owner)),
            None => name,
        }
    }

    /// `Pair<float, 3>`
    pub(super) fn name_with(&self, name: &str, list: &[Bound]) -> String {
        let one = |bound: &Bound| match bound {
            Bound::Type(ty) => self.name_of(ty),
            Bound::Int(n) => n.to_string(),
        };
        let list = list.iter().map(one).collect::<Vec<String>>().join(", ");
        // A name may hold that of each argument twice, and so on.
        let shown = if list.len() > MAX_NAME { "…" } else { &list };
        format!("{name}<{shown}>")
    }

    pub(super) fn make_instance(&mut self, of: GenericId, list: Vec<Bound>, call: Option<Span>) -> Option<FunctionId> {
        let (decl, file) = (self.generics.list[of.0].decl, self.generics.list[of.0].file);
        let names = decl.generics.iter().map(|g| g.name.text.clone());
        let method = self.generics.list[of.0].method.clone();
        let around = method.as_ref().map_or(Vec::new(), |m| (*m.bindings).clone());
        let bindings: Bindings = Rc::new(around.into_iter().chain(names.zip(list.iter().cloned())).collect());
        let parent = self.local.function.map(|f| self.any_length.origin(f));
        let this = method.as_ref().and_then(|m| Self::this_of(&m.owner, m.method));
        let mut function = self.bound_in(file, bindings.clone(), |c| c.new_function(decl, this))?;
        function.name = self.instance_name(of, &list);
        function.attributes = Attributes::default();
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(function);
        self.bind(id, bindings.clone());
        self.generics.list[of.0].made.insert(list, id);
        self.generics.instances.insert(id, Instance { of, call, parent, queued: false });
        if let Some(m) = method {
            self.know_method(id, m.owner, m.method.is_static);
        }
        let of_methods = |a: &&ast::Attribute| super::methods::OF_METHODS.contains(&a.name.text.as_str());
        let attributes: Vec<ast::Attribute> = decl.attributes.iter().filter(|a| !of_methods(a)).cloned().collect();
        if !attributes.is_empty() {
            self.bound_in(file, bindings, |c| c.function_attributes(id, &attributes));
        }
        Some(id)
    }

    /// Has the body of an instance checked that something calls.
    pub(super) fn call_instance(&mut self, id: FunctionId) {
        if let Some(instance) = self.generics.instances.get(&id) {
            self.generics.list[instance.of.0].called = true;
            self.queue(id);
        }
    }

    /// Has the body of an instance checked, if it is one and that was not asked for before.
    pub(super) fn queue(&mut self, id: FunctionId) {
        let Some(instance) = self.generics.instances.get_mut(&id) else { return };
        let of = instance.of.0;
        let first = !std::mem::replace(&mut instance.queued, true);
        let generic = &self.generics.list[of];
        let (decl, file) = (generic.decl, generic.file);
        if let Some(body) = decl.body.as_ref().filter(|_| first) {
            self.check_later(id, file, body);
        }
    }
}
