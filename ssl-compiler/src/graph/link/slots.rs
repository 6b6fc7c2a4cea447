//! Texture slots of the linked text: slots of the units' files with their images, and new slots for texture parameters.

use super::{Callee, Linker, Origin, Slot};
use crate::diagnostics::{Label, codes};
use crate::graph::group::{Place, TextureImage};
use crate::graph::resolve::{Net, error_at};
use std::rc::Rc;

impl Linker<'_, '_> {
    /// Images for the texture slots of units' files.
    pub(super) fn bind_slots(&mut self, net: &Net<'_>, callees: &[Option<Rc<Callee>>]) {
        for (node, callee) in net.nodes.iter().zip(callees) {
            let Some(callee) = callee else { continue };
            for (slot, image, at) in &node.slots {
                let name = match &callee.origin {
                    Origin::File { prefix, .. } => format!("{prefix}{slot}"),
                    Origin::Text { names, .. } => names.get(*slot).cloned().unwrap_or_default(),
                    Origin::Group(_) => continue,
                };
                let new = Slot { path: net.group.folder.join(&image.file), name, image: (*image).clone(), at: *at };
                match self.slots.iter().find(|s| s.name == new.name) {
                    None => self.slots.push(new),
                    Some(known) if known.path == new.path && known.image == new.image => {}
                    Some(known) => {
                        let message = format!("the texture `{slot}` of `{}` is bound to two images", node.unit.name);
                        let hint =
                            "all units of one file share its textures: make it a parameter of the shader instead";
                        let mut error = error_at(&codes::INPUT_TWICE, *at, message, hint);
                        error.labels.extend(known.at.map(|span| Label { span, text: "the other one".to_owned() }));
                        self.diagnostics.push(error);
                    }
                }
            }
        }
    }

    /// The slot of an image that a texture parameter is given.
    pub(super) fn slot(&mut self, net: &Net<'_>, wanted: &str, image: &TextureImage, at: Place) -> String {
        let path = net.group.folder.join(&image.file);
        let same = |s: &&Slot| s.path == path && s.image.raw == image.raw && s.image.wrap == image.wrap;
        if let Some(known) = self.slots.iter().find(same) {
            return known.name.clone();
        }
        let name = self.names.unique(wanted);
        self.slots.push(Slot { name: name.clone(), image: image.clone(), path, at });
        let file: String = image.file.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let raw = if image.raw { ", raw" } else { "" };
        self.body.push(&format!("// Bind {file}{raw} to it.\ntexture2d {name};\n\n"));
        name
    }
}
