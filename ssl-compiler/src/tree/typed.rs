//! A tree as typed data, by serde. The reader checks the tree before, so nothing is left to refuse here.

use super::{Data, Entry, Value};
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_spanned::de::{SpannedDeserializer, is_spanned};

/// The value as a `T`. The error is for developers: a check is missing where there is one.
pub fn read<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    T::deserialize(value)
}

impl<'de> Deserializer<'de> for &'de Value {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.data {
            Data::Null | Data::Date => visitor.visit_unit(),
            Data::Bool(b) => visitor.visit_bool(*b),
            Data::Integer(i) => visitor.visit_i64(*i),
            Data::Float(x) => visitor.visit_f64(*x),
            Data::Text(text) => visitor.visit_borrowed_str(text),
            Data::List(list) => visitor.visit_seq(SeqDeserializer::new(list.iter())),
            Data::Table(table) => {
                let entry = |e: &'de Entry| (e.key.as_str(), &e.value);
                visitor.visit_map(MapDeserializer::new(table.entries.iter().map(entry)))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if is_spanned(name) {
            return visitor.visit_map(SpannedDeserializer::new(self, self.at.clone()));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.data {
            Data::Text(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Error> for &'de Value {
    type Deserializer = &'de Value;

    fn into_deserializer(self) -> &'de Value {
        self
    }
}
