//! What is printed, held against the schemas that ship.

use jsonschema::Validator;
use serde_json::{Map, Value};

/// A schema of `docs/schemas`.
pub struct Schema {
    name: &'static str,
    shipped: Validator,
    /// The same that bears no key which it does not name, so that no key is printed undescribed.
    strict: Validator,
}

impl Schema {
    pub fn of(name: &'static str) -> Self {
        let path = format!("{}/../../docs/schemas/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        let mut schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
        let shipped = validator(&schema);
        close(&mut schema);
        let strict = validator(&schema);
        Self {
            name,
            shipped,
            strict,
        }
    }

    /// Panics with what is wrong, unless `json` is such a document and every key of it is described.
    #[track_caller]
    pub fn holds(&self, json: &str) {
        let document = serde_json::from_str(json).expect("what is printed is JSON");
        for validator in [&self.shipped, &self.strict] {
            let wrong = validator.iter_errors(&document);
            let wrong: Vec<String> = wrong.map(|e| format!("{}: {e}", e.instance_path())).collect();
            assert!(wrong.is_empty(), "{}: {wrong:#?}", self.name);
        }
    }

    /// Whether a document with this value is refused by the schema as it ships, and by the strict one.
    pub fn refuses(&self, document: &Value) -> (bool, bool) {
        (!self.shipped.is_valid(document), !self.strict.is_valid(document))
    }
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).expect("what ships is a schema")
}

/// Closes every place of the schema in which an object can stand.
///
/// `unevaluatedProperties` sees what `$ref`, `allOf` and `oneOf` beside it describe, `additionalProperties` does
/// not. So it stands where a value is described, and not in the parts that describe the same value together.
fn close(schema: &mut Value) {
    parts(schema);
    if let Some(object) = schema.as_object_mut().filter(|object| describes(object)) {
        object.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

/// Whether a schema says anything of its value.
fn describes(schema: &Map<String, Value>) -> bool {
    let notes = ["description", "title", "default"];
    schema.keys().any(|key| !notes.contains(&key.as_str()))
}

/// Closes the values within a value.
fn parts(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    for (key, value) in object.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "patternProperties", Value::Object(values)) => {
                values.values_mut().for_each(close)
            }
            ("prefixItems", Value::Array(values)) => values.iter_mut().for_each(close),
            ("items" | "additionalProperties", value) => close(value),
            ("$defs", Value::Object(parts_of)) => parts_of.values_mut().for_each(parts),
            ("anyOf" | "oneOf" | "allOf", Value::Array(together)) => {
                // What a later version may say is anything at all, and this one says none of it.
                together.retain(|part| part.as_object().is_some_and(describes));
                together.iter_mut().for_each(parts);
            }
            _ => {}
        }
    }
}
