//! Builds a scene from its file.

use super::contents::Scene;
use super::context::Context;
use super::folders::Folders;
use super::graphs::Graphs;
use super::linking::Linking;
use super::named_tables::ShapesOfTables;
use super::schema::{Caustics, IntegratorKind, SceneFile, ThresholdText, ThresholdWord};
use super::setup::{Clamp, FilmSettings, IntegratorSettings, LoadOptions, MAX_SAMPLES, MAX_SIDE};
use super::{
    aovs, camera, codes, coordinates, environment, far_away, fingerprint, groups, light_settings, lights, materials,
    models, sharp_edges, textures, variable_settings, variables,
};
use crate::accel::Accel;
use crate::film::{Adaptive, Tile};
use crate::light::{EmissionContext, Environment, SceneLights};
use crate::material::{HitValues, Material, Space, Spaces, Surroundings};
use crate::memory;
use ssl_compiler::diagnostics::{Diagnostic, Severity};
use ssl_compiler::modules::SearchPath;
use std::path::PathBuf;
use toml::Spanned;

/// `None` if no scene could be built. The diagnostics say what is wrong either way.
pub fn build(
    file: &SceneFile,
    options: &LoadOptions,
    imports: &SearchPath<'static>,
    context: &mut Context,
) -> Option<Scene> {
    // A material whose shader has errors still has its name: shapes that use it are not at fault.
    let names: Vec<String> = file.materials.keys().cloned().collect();
    let folders = Folders::new(options.textures.folder.clone());
    let mut linking = Linking::of(file);
    let groups::Built { mut geometry, spaces: objects, places, brought } =
        groups::build(file, &names, &folders, &mut linking, context);
    let mut graphs = Graphs::of(&file.materials, &options.closures, imports, context);
    let brought_images = models::materials::images(&brought.materials, &mut graphs);
    let image = environment::image(file.environment.as_ref());
    let built = textures::build(&file.textures, &graphs.images, image, &options.textures, context);
    let language = variables::language(&geometry, &options.closures);
    let mut materials = materials::build_materials(file, &graphs, &language, &options.making, imports, context);
    // Textures of graphs and files stand behind the scene's own.
    let texture = |image: &usize| (file.textures.len() + image) as u32;
    let brought_images: Vec<Vec<u32>> = brought_images.iter().map(|list| list.iter().map(texture).collect()).collect();
    materials.extend(models::materials::build(
        &brought.materials,
        &brought_images,
        &language,
        &options.making,
        context,
    ));
    // Where a shader has errors the others' numbers are not those of their materials.
    if materials.len() == names.len() + brought.materials.len() {
        variables::check(&geometry, &materials, &places, context);
        let without_image = |number: usize| {
            number.checked_sub(names.len()).is_some_and(|n| brought.materials[n].material.images.is_empty())
        };
        sharp_edges::check(&geometry, &places, context);
        coordinates::check(&geometry, &materials, without_image, &places, context);
    }
    if geometry.primitive_count() == 0 && !context.diagnostics.has_errors() {
        context.diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::without_place(&codes::NO_SHAPES, "the scene has no shapes", "add a table [[shapes]]")
        });
    }
    let (textures, image) = built.map(|b| (b.textures, b.environment)).unzip();
    let environment::Read { kind, rotation, sun } =
        environment::read(file.environment.as_ref(), image.flatten(), context);
    let (film, integrator) = (film(file, (&materials, linking.names()), context), integrator(file, context));
    let view = camera::view(&file.camera, film.width as f32 / film.height as f32, context);
    // Of a camera of a file only the direction is known.
    far_away::check(&geometry, &view, file.camera.look_at.is_some(), context);
    let environment_name = file.environment.as_ref().map_or(0, |e| linking.number(&e.name));
    let (lights::Lights { parallel, points, mut suns }, light_places) =
        lights::build(&file.lights, &linking, brought.lights, context);
    let own_sun = sun.is_some().then_some(suns.len() as u32);
    suns.extend(sun.map(|sun| (sun, environment_name)));
    let of_camera = file.camera.file.iter().map(|f| context.path(f.get_ref()));
    let files: Vec<PathBuf> =
        brought.files.into_iter().chain(of_camera).chain(lights::files(&file.lights, context)).collect();
    // What reading left would else lie there while the structure is built, the most that a scene takes.
    memory::give_back();
    geometry.mark_see_through(|material| materials.get(material as usize).is_some_and(Material::is_see_through));
    let accel = Accel::build_with(&geometry, options.structure);
    memory::give_back();
    let refuse = |why| {
        let hint = "the default, `bvh`, needs nothing but this program";
        context.diagnostics.push(Diagnostic::without_place(&codes::NO_STRUCTURE, why, hint));
    };
    let accel = accel.map_err(refuse).ok()?;
    let textures = textures?;
    let fingerprint = fingerprint::of(file, &graphs.images, &files, options, context);
    if context.diagnostics.has_errors() {
        return None;
    }
    let spaces = Spaces { objects, camera: Space::camera(view.position, view.target, view.up) };
    let around = Surroundings { spaces: &spaces, geometry: &geometry };
    let studio = EmissionContext { around, materials: &materials, textures: &textures };
    let light_names = linking.names().to_vec();
    let lights = SceneLights::new(&studio, points, linking.links, file.integrator.light_choice);
    let environment = Environment::new(kind, rotation, &textures);
    let mut light_settings = light_settings::of_lights(&file.lights, &light_places);
    let shapes = ShapesOfTables::new(&places);
    light_settings.extend(light_settings::of_shapes(file, &shapes));
    light_settings.extend(light_settings::of_environment(file.environment.as_ref(), &environment, own_sun));
    Some(Scene {
        view,
        spaces,
        values: HitValues::new(&language),
        film,
        integrator,
        accel,
        lights,
        parallel,
        suns,
        environment_name,
        light_names,
        environment,
        light_settings,
        variable_settings: variable_settings::of(file, &shapes, &geometry),
        geometry,
        materials,
        textures,
        texture_names: file.textures.keys().cloned().collect(),
        guide: None,
        photon_map: None,
        fingerprint,
    })
}

fn integrator(file: &SceneFile, context: &mut Context) -> IntegratorSettings {
    let table = &file.integrator;
    if let Some(distance) = table.distance.as_ref().filter(|_| table.kind != IntegratorKind::Ao) {
        let hint = "it belongs to `type = \"ao\"`, ambient occlusion";
        context.error(&codes::CONFLICT, distance.span(), "`distance` means nothing for this integrator", hint);
    }
    if let Some(least) = table.min_samples.as_ref().filter(|_| table.adaptive.is_none()) {
        let hint = "it belongs to `adaptive`, the noise that is small enough: `adaptive = 0.01`";
        context.error(&codes::CONFLICT, least.span(), "`min_samples` means nothing without `adaptive`", hint);
    }
    let caustics = table.caustics.as_ref().map_or(Caustics::Paths, |given| *given.get_ref());
    let traced = caustics != Caustics::Paths;
    if let Some(given) = table.caustics.as_ref().filter(|_| traced && table.kind != IntegratorKind::Path) {
        let hint = "it belongs to `type = \"path\"`, whose paths find light by way of mirrors and glass";
        context.error(&codes::CONFLICT, given.span(), "`caustics` means nothing for this integrator", hint);
    }
    let adaptive = table.adaptive.as_ref().and_then(|given| match given.get_ref() {
        ThresholdText::At(threshold) => Some(Spanned::new(given.span(), *threshold)),
        ThresholdText::Word(ThresholdWord::Off) => None,
    });
    let clamps = [(&table.clamp_direct, "clamp_direct"), (&table.clamp_indirect, "clamp_indirect")];
    for (given, name) in clamps {
        if let Some(given) = given.as_ref().filter(|_| table.kind == IntegratorKind::Ao) {
            let hint = "ambient occlusion brings no light";
            context.error(&codes::CONFLICT, given.span(), format!("`{name}` means nothing for this integrator"), hint);
        }
    }
    if let Some(given) = table.regularize.as_ref().filter(|_| table.kind != IntegratorKind::Path) {
        let hint = "it belongs to `type = \"path\"`, whose paths go on behind rough bounces";
        context.error(&codes::CONFLICT, given.span(), "`regularize` means nothing for this integrator", hint);
    }
    if let Some(given) = table.regularize.as_ref().filter(|_| caustics == Caustics::Photons) {
        let hint =
            "leave `regularize` out, since photons bring the light that it would blur, or choose other `caustics`";
        context.error(&codes::CONFLICT, given.span(), "`regularize` does not go with `caustics = \"photons\"`", hint);
    }
    let [direct, indirect] = clamps.map(|(given, name)| context.number(given, name, 1e-9..1e30, f32::INFINITY));
    let threshold = context.number(&adaptive, "threshold of `adaptive`", 0.0..1.0, 0.0);
    let least = context.integer(&table.min_samples, "least number of samples", 2..i64::from(MAX_SAMPLES) + 1, 16);
    IntegratorSettings {
        kind: table.kind,
        adaptive: adaptive.map(|_| Adaptive { threshold, least }),
        samples: context.integer(&table.samples, "number of samples", 1..i64::from(MAX_SAMPLES) + 1, 64),
        max_depth: context.integer(&table.max_depth, "depth", 0..1025, 8),
        seed: context.integer(&table.seed, "seed", 0..i64::from(u32::MAX) + 1, 0),
        sampling: table.sampling,
        bent_normals: table.bent_normals,
        noise: table.noise,
        roulette: table.roulette.unwrap_or(true),
        clamp: Clamp { direct, indirect },
        regularize: context.number_within(&table.regularize, "least roughness of `regularize`", 0.0..=1.0, 0.0),
        caustics,
        distance: context.number(&table.distance, "distance", 0.0..1e9, f32::INFINITY),
    }
}

fn film(file: &SceneFile, (materials, lights): (&[Material], &[String]), context: &mut Context) -> FilmSettings {
    let sides = 1..i64::from(MAX_SIDE) + 1;
    let width = context.integer(&file.film.width, "width", sides.clone(), 1280);
    let height = context.integer(&file.film.height, "height", sides, 720);
    FilmSettings {
        width,
        height,
        filter: file.film.filter,
        exposure: context.number(&file.film.exposure, "exposure", -100.0..100.0, 0.0),
        tone: file.film.tone,
        crop: file.film.crop.as_ref().and_then(|crop| window(crop, (width, height), context)),
        aovs: aovs::read(&file.film.aovs, (materials, lights), context),
    }
}

/// The window that a crop names, if it lies within the picture.
fn window(crop: &Spanned<[i64; 4]>, (width, height): (u32, u32), context: &mut Context) -> Option<Tile> {
    let [x0, y0, x1, y1] = *crop.get_ref();
    if 0 <= x0 && x0 < x1 && x1 <= i64::from(width) && 0 <= y0 && y0 < y1 && y1 <= i64::from(height) {
        // All are below the sides, which are u32.
        return Some(Tile { x0: x0 as u32, y0: y0 as u32, x1: x1 as u32, y1: y1 as u32 });
    }
    let message = format!("the crop [{x0}, {y0}, {x1}, {y1}] is not within the picture of {width}×{height} pixels");
    let hint = "give left, top, right and bottom: the first pixel and the one behind the last, along x and y";
    context.error(&codes::BAD_NUMBER, crop.span(), message, hint);
    None
}
