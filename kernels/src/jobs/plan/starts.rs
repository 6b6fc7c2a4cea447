//! What buffers hold at the start: files are read here, and numbers checked.

use super::{Id, Planner, Source, Start};
use crate::jobs::codes;
use crate::jobs::data::{self, Ends, Random, Taking, Unusable};
use crate::jobs::file::{BufferTable, Numbers};
use ssl_compiler::tree::Place;
use toml::Spanned;

pub(super) fn has_start(table: &BufferTable) -> bool {
    ways(table).count() > 0
}

/// The keys that say what a buffer holds.
fn ways(table: &BufferTable) -> impl Iterator<Item = &'static str> {
    let all = [
        ("file", table.file.is_some()),
        ("constant", table.constant.is_some()),
        ("uniform", table.uniform.is_some()),
        ("normal", table.normal.is_some()),
        ("values", table.values.is_some()),
    ];
    all.into_iter().filter_map(|(name, given)| given.then_some(name))
}

impl Planner<'_> {
    pub(super) fn read_starts(&mut self) {
        let job = self.job;
        let with_start: Vec<(Id, &BufferTable)> =
            self.buffers.iter().enumerate().filter_map(|(id, b)| Some((id, job.buffers.get(&b.name)?))).collect();
        for (_, table) in &with_start {
            let ways: Vec<&str> = ways(table).collect();
            if let [first, second, ..] = ways[..] {
                let message = format!("`{first}` and `{second}` both say what the buffer holds");
                self.context.error(&codes::CONFLICT, table.at.span(), message, "keep one of them");
            }
            if let (Some(size), true) = (&table.size, table.values.is_some()) {
                let message = "`size` is for a picture from a `file`, or for one with a `constant` or random numbers";
                self.context.error(&codes::CONFLICT, size.span(), message, "leave out `size`");
            }
        }
        // Numbers may refer to the width and height of pictures, so these are read first.
        let (files, others): (Vec<_>, Vec<_>) =
            with_start.into_iter().filter(|(_, table)| has_start(table)).partition(|(_, table)| table.file.is_some());
        for (id, table) in files {
            self.read_file(id, table);
        }
        if !self.context.diagnostics.has_errors() {
            for (id, table) in others {
                self.fill(id, table);
            }
        }
    }

    fn read_file(&mut self, id: Id, table: &BufferTable) {
        let Some(file) = &table.file else { return };
        let size = table.size.as_ref().and_then(|size| self.picture_size(size));
        let part = table.part.as_ref().map(|part| part.get_ref().as_str());
        let path = self.context.path(file);
        let room = self.room();
        let taking = Taking { part, raw: table.raw, size };
        match data::read(&path, &self.buffers[id].element, taking, room) {
            Ok(elements) => {
                self.buffers[id].length = Some(elements.length);
                self.buffers[id].size = elements.size;
                self.buffers[id].source = Source::Start(Start::Words(elements.words));
                if let Some(length) = &table.length
                    && self.length(length).is_some_and(|wanted| wanted != elements.length)
                {
                    let message = format!("`{}` has {} elements", path.display(), elements.length);
                    self.context.error(&codes::MISFIT, length.span(), message, "leave out `length`, or correct it");
                }
            }
            Err(Unusable::Unreadable(e)) => self.context.unreadable(file, &e),
            Err(Unusable::Memory(needed)) => self.context.too_large(file, needed, room),
            Err(Unusable::Data(why)) => {
                let message = format!("`{}` {why}", path.display());
                let hint = "pictures are .png, .jpg, .exr or .hdr, arrays .npy, words .raw, and meshes .obj";
                self.context.error(&codes::BAD_DATA, file.span(), message, hint);
            }
        }
    }

    /// Bytes that a file may take beside what was read already.
    pub(super) fn room(&self) -> usize {
        let kept = self.buffers.iter().map(|buffer| match &buffer.source {
            Source::Start(Start::Words(words)) => size_of_val(words.as_slice()),
            _ => 0,
        });
        self.context.memory.map_or(usize::MAX, |memory| memory.saturating_sub(kept.sum()))
    }

    fn picture_size(&mut self, size: &Spanned<Numbers>) -> Option<[u32; 2]> {
        const MOST: f64 = 65536.0;
        let whole = |x: f64| (x.fract() == 0.0 && (1.0..=MOST).contains(&x)).then_some(x as u32);
        let found = match size.get_ref() {
            Numbers::List(list) => match list[..] {
                [width, height] => whole(width).zip(whole(height)),
                _ => None,
            },
            Numbers::One(_) => None,
        };
        if found.is_none() {
            let message = format!("`size` is a width and a height from 1 to {MOST}");
            self.context.error(&codes::BAD_NUMBER, size.span(), message, "write `size = [512, 512]`");
        }
        found.map(|(width, height)| [width, height])
    }

    fn fill(&mut self, id: Id, table: &BufferTable) {
        if let Some(values) = &table.values {
            return self.take_values(id, table, values);
        }
        let length = match (&table.length, &table.size) {
            (Some(length), None) => self.length(length),
            (None, Some(size)) => {
                let size = self.picture_size(size);
                self.buffers[id].size = size;
                size.map(|[width, height]| width as usize * height as usize)
            }
            (None, None) => {
                let message = format!("it is not said how many elements `{}` has", self.buffers[id].name);
                return self.context.error(&codes::CONFLICT, table.at.span(), message, "add `length`");
            }
            (Some(length), Some(_)) => {
                let message = "a picture has as many elements as its `size` says";
                return self.context.error(&codes::CONFLICT, length.span(), message, "leave out `length`");
            }
        };
        let Some(length) = length else { return };
        let element = self.buffers[id].element.clone();
        let start = if let Some(constant) = &table.constant {
            let numbers = self.numbers(constant.get_ref(), id, constant.span());
            let words = |numbers: Vec<f64>| {
                numbers.iter().zip(element.scalars()).map(|(x, scalar)| data::word(*scalar, *x)).collect()
            };
            numbers.map(words).map(Start::Constant)
        } else if let Some(ends) = &table.uniform {
            self.ends(ends, id, "uniform").map(|ends| Start::Random(Random::Uniform(ends)))
        } else if let Some(ends) = &table.normal {
            self.ends(ends, id, "normal").map(|ends| Start::Random(Random::Normal(ends)))
        } else {
            None
        };
        let Some(start) = start else { return };
        self.buffers[id].length = Some(length);
        self.buffers[id].source = Source::Start(start);
    }

    fn take_values(&mut self, id: Id, table: &BufferTable, values: &Spanned<Vec<Numbers>>) {
        if let Some(length) = &table.length
            && self.length(length).is_some_and(|wanted| wanted != values.get_ref().len())
        {
            let message = format!("there are {} values", values.get_ref().len());
            self.context.error(&codes::MISFIT, length.span(), message, "leave out `length`, or correct it");
        }
        let scalars = self.buffers[id].element.scalars().to_vec();
        let mut words = Vec::new();
        for value in values.get_ref() {
            let Some(numbers) = self.numbers(value, id, values.span()) else { return };
            words.extend(numbers.iter().zip(&scalars).map(|(x, scalar)| data::word(*scalar, *x)));
        }
        self.buffers[id].length = Some(values.get_ref().len());
        self.buffers[id].source = Source::Start(Start::Words(words));
    }

    /// A number for each scalar of an element.
    fn numbers(&mut self, numbers: &Numbers, id: Id, at: Place) -> Option<Vec<f64>> {
        let element = &self.buffers[id].element;
        let list = match numbers {
            Numbers::One(x) => vec![*x; element.len()],
            Numbers::List(list) => list.clone(),
        };
        if list.len() != element.len() {
            let message =
                format!("these are {} numbers, and an element of {element} has {}", list.len(), element.len());
            let hint = "write one number for all, or one for each";
            self.context.error(&codes::MISFIT, at, message, hint);
            return None;
        }
        let large = list.iter().find(|x| !(**x as f32).is_finite());
        if let Some(x) = large {
            self.context.error(&codes::BAD_NUMBER, at, format!("{x} is too large"), "floats reach up to 3.4e38");
            return None;
        }
        Some(list)
    }

    fn ends(&mut self, ends: &Spanned<[Numbers; 2]>, id: Id, key: &str) -> Option<Ends> {
        let [first, second] = ends.get_ref();
        let first = self.numbers(first, id, ends.span())?;
        let second = self.numbers(second, id, ends.span())?;
        let pairs: Ends = first.into_iter().zip(second).map(|(a, b)| [a, b]).collect();
        let wrong = pairs.iter().find(|[a, b]| if key == "uniform" { a > b } else { *b < 0.0 });
        if let Some([a, b]) = wrong {
            let (message, hint) = match key {
                "uniform" => (format!("{a} is above {b}"), "the lower end stands first"),
                _ => (format!("the deviation is {b}"), "write [mean, deviation]; a deviation is not negative"),
            };
            self.context.error(&codes::BAD_NUMBER, ends.span(), message, hint);
            return None;
        }
        Some(pairs)
    }
}
