//! Which IR values the author's variables hold. Lowering notes this only for a compilation that will be asked.

use super::Writer;
use super::state::{LeafState, State};
use crate::ir::{Binding, Value};

impl Writer<'_, '_> {
    /// Notes what a variable holds from here on: the parts that are another value than before.
    pub(super) fn note_names(&mut self, slot: usize, old: Option<&State>, new: &State) {
        let function = self.cx.program.function(self.frame.function);
        let variable = slot.checked_sub(self.frame.base).and_then(|i| function.variables.get(i));
        let Some(variable) = variable.filter(|_| self.cx.request.names) else { return };
        let paths = self.cx.program.types.explained_paths(&variable.ty);
        let leaves = self.cx.leaves(&variable.ty);
        let mut found: Vec<(String, Value)> = Vec::new();
        for (i, ((state, path), leaf)) in new.iter().zip(&paths).zip(&leaves).enumerate() {
            let before = old.and_then(|s| s.get(i));
            match (state, before) {
                (LeafState::Value(v), before) if before != Some(&LeafState::Value(*v)) => {
                    found.push((format!("{}{path}", variable.name), *v));
                }
                (LeafState::Exploded(list), before) => {
                    let before = match before {
                        Some(LeafState::Exploded(before)) => &before[..],
                        _ => &[],
                    };
                    for (n, &v) in list.iter().enumerate().filter(|(n, v)| before.get(*n) != Some(v)) {
                        found.push((format!("{}{}", variable.name, element(path, &leaf.dims, n)), v));
                    }
                }
                _ => {}
            }
        }
        let span = self.b.span;
        let bindings =
            found.into_iter().map(|(part, value)| Binding { function: function.name.clone(), part, value, span });
        self.b.function.bindings.extend(bindings);
    }
}

/// A path with the indices of the n-th element in its brackets.
fn element(path: &str, dims: &[u32], n: usize) -> String {
    let mut indices: Vec<usize> = Vec::new();
    let mut rest = n;
    for &size in dims.iter().rev() {
        indices.push(rest % (size as usize).max(1));
        rest /= (size as usize).max(1);
    }
    let mut out = String::new();
    for (i, piece) in path.split("[]").enumerate() {
        if i > 0 {
            // As many brackets as dimensions.
            out.push_str(&indices.pop().map_or("[]".to_owned(), |index| format!("[{index}]")));
        }
        out.push_str(piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::element;

    #[test]
    fn the_last_index_runs_fastest() {
        assert_eq!(element("[].v[].x", &[2, 3], 0), "[0].v[0].x");
        assert_eq!(element("[].v[].x", &[2, 3], 4), "[1].v[1].x");
        assert_eq!(element(".x", &[], 0), ".x");
    }
}
