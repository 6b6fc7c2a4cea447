//! Where the elements of each buffer come from, and how many there are.

use super::{Id, Over, Planner, Source};
use crate::jobs::codes;
use crate::jobs::file;
use crate::jobs::plan::launches::Work;
use crate::kernel::{Grid, Reach};
use ssl_compiler::runtime::BufferRole;
use toml::Spanned;

impl Planner<'_> {
    /// Each buffer has one source.
    pub(super) fn find_sources(&mut self) {
        let job = self.job;
        for (name, table) in &job.buffers {
            if !self.ids.contains_key(name) {
                let names = self.names();
                let message = format!("no launch has a buffer `{name}`");
                self.context.unknown(table.at.span(), message, name, names.iter().map(String::as_str));
            }
        }
        let mut sources: Vec<Option<(String, bool)>> = vec![None; self.buffers.len()];
        for launch in &self.launches {
            for link in &launch.links {
                let Some(to) = link.to else { continue };
                let adds = link.role == BufferRole::Add;
                match &sources[to] {
                    Some((_, true)) if adds => {}
                    Some((other, _)) => {
                        let message = format!("both `{other}` and `{}` give `{}`", launch.name, self.buffers[to].name);
                        let hint =
                            "write to another buffer: under `buffers`, a launch may have other names than its kernel";
                        self.context.error(&codes::MISFIT, launch.at.clone(), message, hint);
                    }
                    None => sources[to] = Some((launch.name.clone(), adds)),
                }
            }
        }
        for (id, source) in sources.into_iter().enumerate() {
            let buffer = &mut self.buffers[id];
            let table = job.buffers.get(&buffer.name);
            let start = table.is_some_and(super::starts::has_start);
            let (name, at) = (&buffer.name, buffer.at.clone());
            match source {
                Some((launch, _)) if start => {
                    let message = format!("`{name}` has a start, and `{launch}` gives it as well");
                    let hint = "leave out the start, or write to another buffer";
                    self.context.error(&codes::MISFIT, at, message, hint);
                }
                Some((_, true)) => buffer.source = Source::Sums,
                Some((_, false)) => buffer.source = Source::Written,
                None if start => {}
                None => {
                    let message = format!("nothing gives `{name}`");
                    let hint = format!(
                        "add `[buffers.{name}]` with a `file`, a `constant`, `uniform` or `normal` numbers, or `values`; \
                         or a launch that writes it"
                    );
                    self.context.error(&codes::MISFIT, at, message, hint);
                }
            }
        }
    }

    /// The lengths of what launches make, as far as they can be known before the launches run.
    pub(super) fn find_lengths(&mut self) {
        for id in 0..self.buffers.len() {
            let buffer = &self.buffers[id];
            let length = self.job.buffers.get(&buffer.name).and_then(|table| table.length.clone());
            match (&buffer.source, length) {
                (Source::Sums, None) => self.find_length_of_sums(id),
                (Source::Written, Some(length)) => {
                    let message =
                        format!("`{}` has an element for each point of the launch that writes it", buffer.name);
                    self.context.error(&codes::CONFLICT, length.span(), message, "leave out `length`");
                }
                _ => {}
            }
        }
        // Launches may stand in any order; each round finds at least one more.
        for _ in 0..=self.launches.len() {
            self.find_lengths_of_sums();
            for number in 0..self.launches.len() {
                self.find_points(number);
            }
            if self.context.diagnostics.has_errors() {
                return;
            }
        }
        self.refuse_sums_of_unknown_length();
    }

    /// As many elements as launches add to, if their code says how many these are. A single one would take all that is meant
    /// for others.
    fn find_length_of_sums(&mut self, id: Id) {
        let mut reach = Reach::Nothing;
        for launch in &self.launches {
            let Work::Kernel { kernel, .. } = &launch.work else { continue };
            for port in
                launch.links.iter().filter(|link| link.to == Some(id)).filter_map(|link| kernel.port(&link.port))
            {
                reach = reach.and(kernel.reach(port));
                if let Reach::Own | Reach::Any = reach {
                    let name = &self.buffers[id].name;
                    let message =
                        format!("how many elements `{name}` has is not said, and `{}` adds to many", launch.name);
                    let hint = format!(
                        "say it under `[buffers.{name}]`: `length` is a number, or that of a buffer, as in `length = \"x.length\"`"
                    );
                    return self.context.error(&codes::CONFLICT, launch.at.clone(), message, hint);
                }
            }
        }
        let last = if let Reach::UpTo(last) = reach { last } else { 0 };
        self.buffers[id].length = Some(last + 1);
    }

    /// Those that depend on other buffers, as far as these are known.
    fn find_lengths_of_sums(&mut self) {
        for id in 0..self.buffers.len() {
            let buffer = &self.buffers[id];
            if let (Source::Sums, None, Some(table)) =
                (&buffer.source, buffer.length, self.job.buffers.get(&buffer.name))
                && let Some(length) = table.length.clone()
            {
                self.buffers[id].length = self.length(&length);
            }
        }
    }

    /// Sums have their length before anything runs.
    fn refuse_sums_of_unknown_length(&mut self) {
        for id in 0..self.buffers.len() {
            let (buffer, job) = (&self.buffers[id], self.job);
            if let (Source::Sums, None) = (&buffer.source, buffer.length) {
                let at = job.buffers.get(&buffer.name).and_then(|table| table.length.as_ref()).map(Spanned::span);
                let message = format!("how many elements `{}` has is not known before the launches run", buffer.name);
                let at = at.unwrap_or(buffer.at.clone());
                self.context.error(&codes::MISFIT, at, message, "give it the length of a buffer with a start");
            }
        }
    }

    fn find_points(&mut self, number: usize) {
        let launch = &self.launches[number];
        let table = launch.table.map(|table| &self.job.launches[table]);
        if let Work::Run(operation) = launch.work {
            return self.find_lengths_of(number, operation);
        }
        let over = match (table, launch.over) {
            (Some(table), _) => table.over.clone(),
            // The loss knows its points.
            (None, Over::Buffer(id)) => {
                let name = file::Over::Buffer(self.buffers[id].name.clone());
                Some(Spanned::new(0..0, name))
            }
            (None, _) => return,
        };
        let Some(over) = over else {
            let hint = "add `over`: a buffer, for one point an element, or `[width, height]`";
            let message = format!("it is not said over which points `{}` runs", launch.name);
            return self.context.error(&codes::CONFLICT, launch.at.clone(), message, hint);
        };
        let (over, size) = match over.get_ref() {
            file::Over::Buffer(name) => {
                let Some(id) = self.known(name, over.span()) else { return };
                let buffer = &self.buffers[id];
                match (buffer.size, buffer.length) {
                    (Some([width, height]), _) => (Over::Grid(Grid::plane(width, height)), buffer.size),
                    (None, Some(length)) => (Over::Grid(Grid::line(length as u32)), None),
                    (None, None) => (Over::Buffer(id), None),
                }
            }
            file::Over::Counts(counts) => {
                let counts: Vec<Option<u32>> =
                    counts.iter().map(|count| self.count(count, over.span()).map(|n| n as u32)).collect();
                match counts[..] {
                    [Some(x)] => (Over::Grid(Grid::line(x)), None),
                    [Some(x), Some(y)] => (Over::Grid(Grid::plane(x, y)), Some([x, y])),
                    [Some(x), Some(y), Some(z)] => (Over::Grid(Grid::volume(x, y, z)), None),
                    _ => return,
                }
            }
        };
        let points = match over {
            Over::Grid(grid) => match grid.points() {
                Some(points) => Some(points),
                None => {
                    let [x, y, z] = grid.size();
                    let message = format!("a launch over {x}×{y}×{z} points is too large");
                    let hint = format!("a launch may have {} points", i32::MAX);
                    return self.context.error(&codes::BAD_NUMBER, self.launches[number].at.clone(), message, hint);
                }
            },
            _ => None,
        };
        self.launches[number].over = over;
        for link in self.launches[number].links.clone() {
            if let (Some(to), true) = (link.to, link.role != BufferRole::Add) {
                (self.buffers[to].length, self.buffers[to].size) = (points, size);
            }
        }
    }

    /// Refuses launches over no points: what came out would look like a result, as sums are 0, and so is a loss.
    pub(super) fn refuse_empty(&mut self) {
        for launch in &self.launches {
            if let (Over::Grid(grid), Some(table)) = (launch.over, launch.table)
                && grid.points() == Some(0)
            {
                let at = self.job.launches[table].over.as_ref().map_or(launch.at.clone(), Spanned::span);
                let message = format!("`{}` runs over no points", launch.name);
                let hint = "give it at least one point in each direction, or a buffer that has at least one element";
                self.context.error(&codes::BAD_NUMBER, at, message, hint);
            }
        }
    }

    fn find_lengths_of(&mut self, number: usize, operation: crate::jobs::host::Operation) {
        let links = self.launches[number].links.clone();
        let read = links.iter().find_map(|link| link.from).and_then(|id: Id| self.buffers[id].length);
        let operation = self.with_values(number, operation);
        for (link, length) in links.iter().filter(|link| link.to.is_some()).zip(operation.lengths(read)) {
            if let Some(to) = link.to {
                self.buffers[to].length = length;
            }
        }
    }
}
