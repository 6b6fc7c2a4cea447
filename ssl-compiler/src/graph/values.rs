//! Values of a graph as expressions of the language.

use super::group::Literal;
use crate::sema::swizzle_type;
use crate::types::Type;

/// A value for a port of this type, or what it is and what to do instead.
pub fn literal(value: &Literal, ty: &Type, type_name: &str) -> Result<String, (String, String)> {
    let wanted = || format!("its type is {type_name}");
    match (value, ty) {
        (_, Type::Texture2d) => {
            let hint = "textures are images: name one under `textures`, or connect nothing";
            Err(("a value".to_owned(), hint.to_owned()))
        }
        (_, Type::Closure) => Err(("a value".to_owned(), "connect a closure that another unit makes".to_owned())),
        (Literal::Text(text), Type::String) => Ok(quoted(text)),
        (Literal::Bool(_), Type::String) => Err(("`true` or `false`".to_owned(), wanted())),
        (Literal::Int(_), Type::String) => Err(("a number".to_owned(), wanted())),
        (Literal::Float(x), Type::String) if x.is_finite() => Err(("a number".to_owned(), wanted())),
        (Literal::Bool(b), _) => Ok(b.to_string()),
        (Literal::Int(i), Type::Int | Type::Bool) => Ok(i.to_string()),
        (Literal::Int(i), _) => Ok(format!("{:?}", f64::from(*i))),
        // Whole numbers within 32 bits are ints.
        (Literal::Float(x), Type::Int) if x.is_finite() => {
            let hint = format!("{}: a whole number from {} to {}", wanted(), i32::MIN, i32::MAX);
            Err((format!("the number {x}"), hint))
        }
        (Literal::Float(x), _) if x.is_finite() => Ok(format!("{x:?}")),
        (Literal::List(list), Type::Vector(_)) if list.iter().all(|x| x.is_finite()) => {
            let parts: Vec<String> = list.iter().map(|x| format!("{x:?}")).collect();
            Ok(format!("{type_name}({})", parts.join(", ")))
        }
        (Literal::Float(_), _) => Err(("a number that is not finite".to_owned(), wanted())),
        (Literal::List(_), _) => Err(("a list of numbers".to_owned(), wanted())),
        (Literal::Text(_), _) => Err(("a text".to_owned(), wanted())),
    }
}

/// A text as the language writes it.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The type of an output of type `ty`, or of the components that `access` (`.x.y`) takes of it.
pub fn access_type(ty: &Type, access: &str) -> Type {
    let members = access.split('.').filter(|m| !m.is_empty());
    members.fold(ty.clone(), |ty, member| swizzle_type(&ty, member).unwrap_or(Type::Error))
}
