//! What a JSON parser says, in words for people.

/// Types by which the parser names what it expects.
const WHOLE: [&str; 9] = ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64"];

/// Why a line is no JSON of the right shape, without the place and without the
/// parser's own names of types.
pub fn fault(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "it ends in the middle".to_owned();
    }
    let whole = error.to_string();
    let told = whole
        .rsplit_once(" at line ")
        .map_or(whole.as_str(), |(told, _)| told);
    if told.starts_with("recursion limit") {
        return "lists or objects are nested too deeply".to_owned();
    }
    let Some((found, expected)) = told.rsplit_once("expected ") else {
        return told.to_owned();
    };
    match expected {
        "f64" | "f32" => format!("{found}expected a number"),
        name if WHOLE.contains(&name) => format!("{found}expected a whole number"),
        _ => told.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
        fault(&serde_json::from_str::<T>(text).unwrap_err())
    }

    #[test]
    fn no_word_is_the_parsers_own() {
        assert_eq!(told::<f64>("{\"a\":"), "invalid type: map, expected a number");
        assert_eq!(
            told::<f64>("\"1\""),
            "invalid type: string \"1\", expected a number"
        );
        assert_eq!(
            told::<u32>("1.5"),
            "invalid type: floating point `1.5`, expected a whole number"
        );
        assert_eq!(told::<serde_json::Value>("[1,"), "it ends in the middle");
        assert_eq!(told::<serde_json::Value>(""), "it ends in the middle");
        assert_eq!(
            told::<serde_json::Value>(&"[".repeat(1000)),
            "lists or objects are nested too deeply"
        );
        assert_eq!(told::<bool>("1"), "invalid type: integer `1`, expected a boolean");
    }
}
