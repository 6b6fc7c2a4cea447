//! Every row of the built-ins refuses arguments that do not fit: too few, too many, and of a type that
//! nothing converts from.

use ssl_compiler::builtins::{Param, TABLE};
use ssl_compiler::diagnostics::Diagnostics;
use ssl_tests::{Host, messages};

/// An argument that fits.
fn fitting(param: &Param) -> &'static str {
    match param {
        Param::Bool => "true",
        Param::Int => "1",
        Param::Float | Param::Any => "0.5",
        Param::Three => "float3(0.5)",
        Param::Point => "point(0.5)",
        Param::Vector => "vector(0.5)",
        Param::Normal => "normal(0.5)",
        Param::Matrix => "matrix(0.5)",
        Param::Basis => "\"linear\"",
        Param::Knots => "knots",
        Param::Closure => "make_closure<Emission>()",
        Param::Color => "color(0.5)",
    }
}

fn diagnose(name: &str, arguments: &[&str]) -> Diagnostics {
    let call = format!("{name}({})", arguments.join(", "));
    Host::default().diagnose(&format!(
        "struct Box {{ float a; }}; shader main(out float r) {{ Box box; float knots[4]; {call}; r = box.a; }}"
    ))
}

fn errors(name: &str, arguments: &[&str]) -> Vec<&'static str> {
    diagnose(name, arguments).list.iter().filter(|d| d.is_error()).map(|d| d.code.id).collect()
}

#[test]
fn every_builtin_refuses_what_does_not_fit() {
    for (id, builtin) in TABLE.iter().enumerate() {
        let good: Vec<&str> = builtin.params.iter().map(fitting).collect();
        let fits = diagnose(builtin.name, &good);
        assert!(!fits.has_errors(), "row {id}, {}: {}", builtin.signature(), messages(&fits));
        for k in 0..good.len() {
            let mut wrong = good.clone();
            wrong[k] = "box";
            let found = errors(builtin.name, &wrong);
            assert!(
                matches!(found[..], ["E0203" | "E0204" | "E0207" | "E0218"]),
                "{} with a struct: {found:?}",
                builtin.signature()
            );
        }
        let too_many = [&good[..], &["0.5"; 9]].concat();
        let found = errors(builtin.name, &too_many);
        assert!(matches!(found[..], ["E0203" | "E0222"]), "{} with {}: {found:?}", builtin.signature(), too_many.len());
        let found = errors(builtin.name, &[]);
        assert!(matches!(found[..], ["E0203" | "E0222"]), "{} without arguments: {found:?}", builtin.signature());
    }
}
