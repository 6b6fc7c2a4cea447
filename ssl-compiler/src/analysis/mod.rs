//! Facts about the IR that passes and back ends share. Analyses change nothing.

pub mod activity;
pub mod axes;
pub mod bits;
pub mod call_graph;
pub mod derivatives;
pub mod flow;
pub mod graph;
pub mod lineage;
pub mod loops;
pub mod net;
pub mod pure_functions;
pub mod relational;
pub mod stack;
pub mod storage;
pub mod tape;
pub mod uniformity;
pub mod variation;
