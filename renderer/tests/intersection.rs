//! What rays meet: every test runs on each structure that the build has, and they share no expectations with the
//! code under test but the geometry's own formulas.

mod instances;
mod leaving;
mod many;
mod odd_numbers;
mod random;
mod see_through;
mod triangles;
