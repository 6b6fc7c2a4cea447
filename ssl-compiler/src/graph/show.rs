//! From a group to its diagram.

use super::draw::Diagram;
use super::group::ShaderGroup;
use super::link::link_here;
use super::marks::marks;
use crate::diagnostics::Diagnostics;
use crate::facade::{CompileOptions, check, on_large_stack};
use crate::source::SourceMap;

/// The diagram of a group that links and checks; warnings come back beside it.
pub fn show(
    group: &ShaderGroup,
    sources: &mut SourceMap,
    options: &CompileOptions<'_>,
) -> Result<(Diagram, Diagnostics), Diagnostics> {
    on_large_stack(|| {
        let (linked, net, mut diagnostics) = link_here(&group.folder, group, sources, options, false);
        let Some(linked) = linked else { return Err(diagnostics) };
        diagnostics.extend(linked.blame(check(sources, linked.file, options).1));
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let marks = marks(group, sources, options);
        Ok((Diagram::of(&net, &marks), diagnostics))
    })
}
