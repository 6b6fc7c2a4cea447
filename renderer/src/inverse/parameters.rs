//! What of a scene can be fitted, by name.

use super::texels::Channels;
use crate::material::Material;
use crate::scene::{Scene, VariableSetting, is_key};
use crate::texture::{Layout, Sample};
use ssl_compiler::diagnostics::closest;

/// One thing of a scene that can be fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// As `materials.gold.base_color`.
    pub name: String,
    pub target: Target,
    /// How many floats it consists of.
    pub len: usize,
    /// How many floats belong together: those of a color, of a texel, or of a vertex.
    pub components: usize,
    /// The least and the greatest value that make sense of each, or of all, infinite where the scene does not know.
    pub bounds: Vec<[f32; 2]>,
    /// Width and height, if it is an image. Its rows begin at the top, and its texels have their channels together.
    pub size: Option<[u32; 2]>,
}

impl Parameter {
    /// Whether it has a value for each vertex of a mesh, or for each texel of an image.
    pub fn is_field(&self) -> bool {
        self.size.is_some() || self.len != self.components
    }
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Of a material, by its number, that of this name.
    Material { material: u32, name: String },
    /// How strongly something shines, by its number among the scene's light settings.
    Light { setting: usize },
    /// What a shape, an instance or the scene gives to shaders by name, by its number among the scene's variable settings.
    Variable { setting: usize },
    /// That of the film, in stops.
    Exposure,
    /// The texels of a texture, by its number, in linear light, color multiplied by alpha.
    Texels { texture: u32, channels: Channels },
}

/// All that can be fitted, in the order of the scene. Variables that no shader reads are none of it.
pub fn list(scene: &Scene) -> Vec<Parameter> {
    let of = |(number, material): (usize, &Material)| {
        let of_material = |p: &ssl_compiler::runtime::ParameterDesc| Parameter {
            name: format!("materials.{}.{}", material.name, p.name),
            target: Target::Material { material: number as u32, name: p.name.clone() },
            len: p.scalars.len(),
            components: p.scalars.len(),
            bounds: (0..p.scalars.len()).map(|i| p.bounds(i)).collect(),
            size: None,
        };
        material.differentiable_parameters().map(of_material).collect::<Vec<_>>()
    };
    let variable = |(setting, of): (usize, &VariableSetting)| {
        let len = scene.variable(of).len();
        let components = of.vertices.as_ref().map_or(len, |vertices| vertices.components);
        let bounds = vec![[f32::NEG_INFINITY, f32::INFINITY]; components];
        Parameter { name: of.name.clone(), target: Target::Variable { setting }, len, components, bounds, size: None }
    };
    let names = scene.values.variables();
    let is_read = |of: &VariableSetting| {
        let mut reads = scene.materials.iter().flat_map(Material::variables);
        reads.any(|read| read.name == names[of.variable as usize])
    };
    let variables = scene.variable_settings.iter().enumerate().filter(|(_, of)| is_read(of)).map(variable);
    let lights = scene.light_settings.iter().enumerate().map(|(setting, light)| Parameter {
        name: light.name.clone(),
        target: Target::Light { setting },
        len: 3,
        components: 3,
        bounds: vec![[0.0, f32::INFINITY]; 3],
        size: None,
    });
    let exposure = Parameter {
        name: "film.exposure".to_owned(),
        target: Target::Exposure,
        len: 1,
        components: 1,
        bounds: vec![[f32::NEG_INFINITY, f32::INFINITY]],
        size: None,
    };
    let materials = scene.materials.iter().enumerate().flat_map(of);
    materials.chain(images(scene)).chain(variables).chain(lights).chain([exposure]).collect()
}

/// The textures that the scene's file names, and the image of its environment. UDIM sets are none.
fn images(scene: &Scene) -> impl Iterator<Item = Parameter> {
    let named = scene.texture_names.iter().enumerate().map(|(i, name)| (format!("textures.{name}"), i as u32));
    let environment = scene.environment.texture().map(|texture| ("environment.image".to_owned(), texture));
    named.chain(environment).filter_map(|(name, texture)| {
        let layout = scene.textures.layout(texture)?;
        let (first, channels) = (layout.levels.first()?, Channels::of(layout));
        let texels = first.width as usize * first.height as usize;
        Some(Parameter {
            name,
            target: Target::Texels { texture, channels },
            len: texels * channels.count(),
            components: channels.count(),
            bounds: vec![[0.0, most(layout)]],
            size: Some([first.width, first.height]),
        })
    })
}

/// Whole numbers hold what is at most 1.
fn most(layout: &Layout) -> f32 {
    match layout.sample {
        Sample::U8 | Sample::U16 => 1.0,
        Sample::F16 | Sample::F32 => f32::INFINITY,
    }
}

/// Those whose name a pattern matches, in which `*` stands for any text without a dot.
///
/// # Errors
/// There are none; the text says what there is.
pub fn choose(all: &[Parameter], pattern: &str) -> Result<Vec<Parameter>, String> {
    let found: Vec<Parameter> = all.iter().filter(|p| matches(pattern, &p.name)).cloned().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let hint = closest(pattern, all.iter().map(|p| p.name.as_str()));
    Err(match hint {
        Some(near) => format!("did you mean `{near}`?"),
        None if all.is_empty() => "the scene has nothing that can be fitted".to_owned(),
        None => format!("there is, for example, `{}`; `shade fit SCENE --list` names all", all[0].name),
    })
}

/// Why nothing that a pattern names can be fitted, where [`choose`] gave this hint: there is no such thing, or it
/// cannot be fitted. The second text is a remedy.
pub fn not_chosen(scene: &Scene, pattern: &str, hint: String) -> (String, String) {
    let of_material = pattern.strip_prefix("materials.").and_then(|rest| rest.split_once('.'));
    let parameter = of_material.and_then(|(name, parameter)| {
        let material = scene.materials.iter().find(|material| material.name == name)?;
        material.described_parameters().find(|p| p.name == parameter)
    });
    if let Some(parameter) = parameter {
        let message =
            format!("`{pattern}` is {}, and only numbers with a point can be fitted", article(&parameter.type_name));
        return (message, "`shade fit SCENE --list` names what can be fitted".to_owned());
    }
    if is_key(pattern) {
        let hint = "a fit changes floats and colors of materials, texels, variables, the strength of lights, and `film.exposure`: \
                    `shade fit SCENE --list` names them";
        return (format!("`{pattern}` cannot be fitted"), hint.to_owned());
    }
    (format!("the scene has no parameter `{pattern}`"), hint)
}

fn article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} `{name}`")
}

/// Whether a name is what a pattern says.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            let stops = rest.find('.').unwrap_or(rest.len());
            // Of names that have letters of several bytes, only whole letters are cut.
            (0..=stops).filter(|at| rest.is_char_boundary(*at)).any(|at| matches(after, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_within_dots() {
        for (pattern, name, found) in [
            ("materials.*.base_color", "materials.gold.base_color", true),
            ("materials.*.base_color", "materials.gold.roughness", false),
            ("materials.*", "materials.gold.base_color", false),
            ("*.*.*", "materials.gold.base_color", true),
            ("materials.g*d.*color", "materials.gold.base_color", true),
            ("materials.gold", "materials.gold.base_color", false),
            ("materials.ä*.x", "materials.äöü.x", true),
        ] {
            assert_eq!(matches(pattern, name), found, "{pattern} {name}");
        }
    }
}
