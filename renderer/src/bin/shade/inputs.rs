//! What the command line of `shade eval` sets: globals with partials, parameters, sizes.

use ssl_compiler::runtime::ParameterValue;
use ssl_compiler::testing::TestPattern;
use ssl_compiler::types::Type;

/// `NAME:TYPE=value,ddx,ddy`
#[derive(Clone, Debug)]
pub struct GlobalArgument {
    pub name: String,
    pub ty: Type,
    /// Value, ∂/∂x, ∂/∂y, by component; partials that were not given are zero.
    pub orders: [Vec<f64>; 3],
    /// Whether partials were given.
    pub seeded: bool,
}

impl std::str::FromStr for GlobalArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<GlobalArgument, String> {
        let form = "write NAME:TYPE=value or NAME:TYPE=value,ddx,ddy, vectors as (x,y,z)";
        let (head, values) = text.split_once('=').ok_or(form)?;
        let (name, ty) = head.split_once(':').ok_or(form)?;
        let (name, ty) = (name.trim(), ty.trim());
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(format!("`{name}` is no name; {form}"));
        }
        let parsed = Type::from_name(ty).and_then(|t| t.components().map(|n| (t, n)));
        let (ty, n) = parsed.ok_or_else(|| format!("`{ty}` is no scalar or vector type"))?;
        let list = tuples(values)?;
        if list.len() != 1 && list.len() != 3 {
            return Err(format!("{} values are given; {form}", list.len()));
        }
        let seeded = list.len() == 3;
        let mut orders = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        for (order, tuple) in orders.iter_mut().zip(list) {
            *order = match tuple.len() {
                1 if ty == Type::Matrix => (0..n).map(|i| if i % 5 == 0 { tuple[0] } else { 0.0 }).collect(),
                1 => vec![tuple[0]; n],
                m if m == n => tuple,
                m => return Err(format!("{m} components are given, the type has {n}")),
            };
        }
        Ok(GlobalArgument { name: name.to_owned(), ty, orders, seeded })
    }
}

/// Numbers and `(x,y,z)` tuples between commas.
fn tuples(text: &str) -> Result<Vec<Vec<f64>>, String> {
    let mut out = Vec::new();
    let mut rest = text.trim();
    loop {
        let end = if let Some(inside) = rest.strip_prefix('(') {
            let close = inside.find(')').ok_or("a `(` needs its `)`")?;
            out.push(inside[..close].split(',').map(number).collect::<Result<_, _>>()?);
            close + 2
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            out.push(vec![number(&rest[..end])?]);
            end
        };
        rest = rest[end..].trim_start();
        match rest.strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None if rest.is_empty() => return Ok(out),
            None => return Err(format!("`{rest}` is left over; values stand between commas")),
        }
    }
}

fn number(text: &str) -> Result<f64, String> {
    match text.trim() {
        "true" => Ok(1.0),
        "false" => Ok(0.0),
        t => {
            let x: f64 = t.parse().map_err(|_| format!("`{t}` is no number"))?;
            let infinite = (x as f32).is_infinite() && !t.to_ascii_lowercase().contains("inf");
            if infinite { Err(format!("`{t}` is too large for a float; `inf` is infinity")) } else { Ok(x) }
        }
    }
}

/// `NAME=VALUE`
#[derive(Clone, Debug)]
pub struct ParameterArgument {
    pub name: String,
    pub value: Given,
}

/// A value, or what a texture slot holds.
#[derive(Clone, Debug)]
pub enum Given {
    Value(ParameterValue),
    Texture(TestPattern),
}

impl std::str::FromStr for ParameterArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<ParameterArgument, String> {
        let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, vectors as (x,y,z)")?;
        if let Some(texture) = texture(value.trim()) {
            return Ok(ParameterArgument { name: name.trim().to_owned(), value: Given::Texture(texture?) });
        }
        let value = match value.trim() {
            "true" => ParameterValue::Bool(true),
            "false" => ParameterValue::Bool(false),
            v if v.starts_with('"') => {
                let inside = v[1..].strip_suffix('"').ok_or("a string ends with a quote")?;
                ParameterValue::String(inside.to_owned())
            }
            // Shells take the quotes away.
            v if v.starts_with(|c: char| c.is_alphabetic()) && v.parse::<f64>().is_err() => {
                ParameterValue::String(v.to_owned())
            }
            v => match v.parse::<i32>() {
                Ok(i) => ParameterValue::Int(i),
                Err(_) => match tuples(v)?.as_slice() {
                    [one] if one.len() == 1 => ParameterValue::Float(one[0] as f32),
                    [many] => ParameterValue::Vector(many.iter().map(|x| *x as f32).collect()),
                    _ => return Err("a parameter has one value; vectors are written (x,y,z)".to_owned()),
                },
            },
        };
        Ok(ParameterArgument { name: name.trim().to_owned(), value: Given::Value(value) })
    }
}

/// `test_texture` or `flat_texture(…)`, if it looks like one.
fn texture(text: &str) -> Option<Result<TestPattern, String>> {
    ["test_texture", "flat_texture"].iter().any(|name| text.starts_with(name)).then(|| text.parse())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_values_with_partials() {
        let g: GlobalArgument = "p:float3=(1,2,3),(1,0,0),0".parse().expect("well-formed");
        assert_eq!(g.orders, [vec![1.0, 2.0, 3.0], vec![1.0, 0.0, 0.0], vec![0.0; 3]]);
        let g: GlobalArgument = "x:float=-1e-3".parse().expect("well-formed");
        assert_eq!(g.orders, [vec![-1e-3], vec![0.0], vec![0.0]]);
    }

    #[test]
    fn refuses_what_does_not_fit() {
        for bad in [
            "x",
            "x=1",
            "x:float",
            "x:thing=1",
            "x:float=1,2",
            "x:float3=(1,2)",
            "x:float=(1",
            "x:float=1,2,3,4",
            "=1:float=",
            "x:float=1)",
        ] {
            assert!(bad.parse::<GlobalArgument>().is_err(), "{bad}");
        }
        for bad in ["x", "x=(1,2),3", "x=\"a", "map=test_texture(", "map=flat_texture(1,2)"] {
            assert!(bad.parse::<ParameterArgument>().is_err(), "{bad}");
        }
    }

    #[test]
    fn reads_strings_with_quotes_and_without() {
        let value = |text: &str| match text.parse::<ParameterArgument>().expect("well-formed").value {
            Given::Value(value) => value,
            Given::Texture(_) => panic!("{text} is no texture"),
        };
        assert_eq!(value("metal=\"gold\""), ParameterValue::String("gold".to_owned()));
        assert_eq!(value("metal=gold"), ParameterValue::String("gold".to_owned()));
        assert_eq!(value("on=true"), ParameterValue::Bool(true));
        assert_eq!(value("far=inf"), ParameterValue::Float(f32::INFINITY));
    }

    #[test]
    fn reads_textures() {
        let p: ParameterArgument = "map=flat_texture(0.5,0.25,0.125)".parse().expect("well-formed");
        assert!(matches!(p.value, Given::Texture(TestPattern::Flat([0.5, 0.25, 0.125, 1.0]))));
    }
}
