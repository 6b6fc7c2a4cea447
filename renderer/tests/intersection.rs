//! What rays meet: every test runs on each structure that the build has, and they share no expectations with the
//! code under test but the geometry's own formulas.

#[path = "intersection/instances.rs"]
mod instances;
#[path = "intersection/leaving.rs"]
mod leaving;
#[path = "intersection/many.rs"]
mod many;
#[path = "intersection/odd_numbers.rs"]
mod odd_numbers;
#[path = "intersection/random.rs"]
mod random;
#[path = "intersection/see_through.rs"]
mod see_through;
#[path = "intersection/triangles.rs"]
mod triangles;
