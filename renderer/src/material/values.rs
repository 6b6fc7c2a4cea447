//! What a shader got at a hit and what it made of it, by name: for users who look into a render.

use super::globals::{self, Fill};
use super::{Material, Scratch, ShadingLanguage, ShadingPoint, Surroundings};
use crate::math::figures;
use serde::Serialize;
use ssl_compiler::runtime::{ClosureType, GlobalField, GlobalRead, GlobalsLayout, LANES, Order, Orders, Row};
use ssl_compiler::types::{Scalar, Type};

/// A global at a hit, component by component; matrices row by row, truth values 0 or 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GlobalValue {
    pub name: String,
    #[serde(serialize_with = "figures::serialize")]
    pub value: Vec<f32>,
    /// By film x, per pixel, where the global has partials.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "figures::serialize")]
    pub ddx: Option<Vec<f32>>,
    /// By film y.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "figures::serialize")]
    pub ddy: Option<Vec<f32>>,
}

/// A lobe as a shader made it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LobeValues {
    pub closure: String,
    #[serde(serialize_with = "figures::serialize")]
    pub weight: [f32; 3],
    #[serde(serialize_with = "figures::serialize")]
    pub parameters: Vec<(String, Vec<f32>)>,
}

/// All that a scene's hits offer by name: the globals that every hit has, and the variables of the scene.
pub struct HitValues {
    layout: GlobalsLayout,
    /// Names of the variables, in the order of their numbers.
    variables: Vec<String>,
}

impl HitValues {
    pub fn new(language: &ShadingLanguage) -> HitValues {
        let mut layout = language.globals.clone();
        for (name, components) in &language.variables {
            // A name that is taken cannot be read as a variable.
            let _ = layout.add(name, globals::type_of(*components), Orders::First);
        }
        HitValues { layout, variables: language.variables.iter().map(|(name, _)| name.clone()).collect() }
    }

    /// The names of the scene's variables, in the order of their numbers.
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    pub fn layout(&self) -> &GlobalsLayout {
        &self.layout
    }

    /// A global, by its number in the layout; partials are 0 where `point` lacks them. `None` where it has no such.
    pub fn at(&self, field: usize, order: Order, point: &ShadingPoint, around: Surroundings<'_>) -> Option<Vec<f32>> {
        let f = self.layout.field(field);
        f.row(0, order)?;
        let variable = |name: &str| self.variables.iter().position(|n| n == name).map(|i| i as u32);
        let component = |component: usize| {
            // A block of a single row, lane 0 of which is filled.
            let mut block = [Row::ZERO];
            let fill = Fill::of(f, &GlobalRead { field, component, order, row: 0 }, variable)?;
            globals::fill(&[fill], std::slice::from_ref(point), around, &mut block);
            Some(number(&block[0], 0, scalar(&f.ty)))
        };
        (0..f.components()).map(component).collect()
    }

    /// All of them.
    pub fn all(&self, point: &ShadingPoint, around: Surroundings<'_>) -> Vec<GlobalValue> {
        let one = |(index, f): (usize, &GlobalField)| {
            let at = |order| self.at(index, order, point, around);
            Some(GlobalValue {
                name: f.name.clone(),
                value: at(Order::Value)?,
                ddx: at(Order::Ddx),
                ddy: at(Order::Ddy),
            })
        };
        self.layout.fields().iter().enumerate().filter_map(one).collect()
    }
}

impl Material {
    /// The lobes of a lane, emission included, as [`Material::shade`] has just left them; those without weight left out.
    pub fn lobe_values(&self, scratch: &Scratch, lane: usize) -> Vec<LobeValues> {
        debug_assert!(lane < LANES);
        let rows = &scratch.outputs;
        let one = |l: &super::LobeSlot| {
            let weight = [0, 1, 2].map(|c| rows[l.weight_row + c].0[lane]);
            let parameters = parameters(&l.closure, &rows[l.parameter_row..], lane);
            (weight != [0.0; 3]).then_some(LobeValues { closure: l.closure.name.to_string(), weight, parameters })
        };
        self.lobes.iter().filter_map(one).collect()
    }
}

fn parameters(closure: &ClosureType, rows: &[Row], lane: usize) -> Vec<(String, Vec<f32>)> {
    let mut at = 0;
    let given = closure.parameters.iter().filter(|p| p.ty != Type::Closure);
    given
        .map(|p| {
            let first = at;
            at += p.ty.components().unwrap_or(1);
            (p.name.to_string(), (first..at).map(|row| number(&rows[row], lane, scalar(&p.ty))).collect())
        })
        .collect()
}

fn scalar(ty: &Type) -> Scalar {
    match ty {
        Type::Int | Type::String => Scalar::Int,
        Type::Bool => Scalar::Bool,
        _ => Scalar::Float,
    }
}

fn number(row: &Row, lane: usize, scalar: Scalar) -> f32 {
    match scalar {
        Scalar::Float => row.0[lane],
        Scalar::Int | Scalar::Bool => row.int(lane) as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spaces;
    use super::*;
    use crate::geometry::{Geometry, Shape, TriangleMesh};
    use glam::{Vec2, Vec3};

    #[test]
    fn globals_come_with_their_partials() {
        let mut point = ShadingPoint { ray_depth: 3, ..ShadingPoint::default() };
        point.surface.position = Vec3::new(1.0, 2.0, 3.0);
        point.surface.backfacing = true;
        point.partials.position[1] = Vec3::new(4.0, 5.0, 6.0);
        let (spaces, mut geometry) = (Spaces::default(), Geometry::new());
        let shape = Shape::default();
        geometry.add_mesh(TriangleMesh::rectangle(Vec2::ONE), shape);
        let values =
            HitValues::new(&ShadingLanguage::new().with_variables(vec![("heat".to_owned(), 2), ("I".to_owned(), 1)]));
        let all = values.all(&point, Surroundings { spaces: &spaces, geometry: &geometry });
        let named = |name: &str| all.iter().find(|g| g.name == name).expect("every hit has it").clone();
        let position = named("position");
        assert_eq!((position.value, position.ddy), (vec![1.0, 2.0, 3.0], Some(vec![4.0, 5.0, 6.0])));
        assert_eq!((named("ray_depth").value, named("ray_depth").ddx), (vec![3.0], None));
        assert_eq!(named("backfacing").value, [1.0]);
        assert_eq!(named("object_to_world").value.len(), 16);
        assert_eq!(all.iter().filter(|g| g.name == "I").count(), 1);
        assert_eq!(all.len(), values.layout().fields().len());
    }
}
