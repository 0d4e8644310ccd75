//! Damage: to JSON by its values, to lines by their fields, to any text by its bytes.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

/// Numbers, and what stands where a number should.
const TOKENS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "0.5",
    "1e-9",
    "1e9",
    "1e-300",
    "1e300",
    "5e-324",
    "1.7976931348623157e308",
    "1e400",
    "-1e400",
    "NaN",
    "inf",
    "-inf",
    "Infinity",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"0\"",
    "",
    "é",
    "\u{feff}",
];

/// Some damages to a document.
pub(crate) fn json(rng: &mut ChaCha8Rng, inputs: &[String]) -> String {
    let text = inputs.choose(rng).unwrap();
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return bytes(rng, text) };
    for _ in 0..rng.random_range(1..6) {
        let nodes = count(&value);
        let donor = nth(&mut value, rng.random_range(0..nodes)).clone();
        let node = nth(&mut value, rng.random_range(0..nodes));
        damage(rng, node, donor);
    }
    let text = value.to_string();
    // Numbers that a value cannot hold, and text that is no JSON.
    match rng.random_range(0..10) {
        0 => bytes(rng, &text),
        1 | 2 => token(rng, &text),
        _ => text,
    }
}

/// Some damages to lines of fields.
pub(crate) fn lines(rng: &mut ChaCha8Rng, inputs: &[String]) -> String {
    let text = inputs.choose(rng).unwrap();
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for _ in 0..rng.random_range(1..6) {
        if lines.is_empty() {
            lines.push(String::new());
        }
        let at = rng.random_range(0..lines.len());
        match rng.random_range(0..8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[rng.random_range(0..lines.len())].clone()),
            2 => lines[at] = bytes(rng, &lines[at]),
            3 => lines.truncate(at + 1),
            4 => {
                let other = rng.random_range(0..lines.len());
                lines.swap(at, other);
            }
            _ => lines[at] = token(rng, &lines[at]),
        }
    }
    lines.join("\n")
}

/// One number or word of a text as something else.
fn token(rng: &mut ChaCha8Rng, text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '+' | '_');
    let starts: Vec<usize> = text
        .char_indices()
        .filter(|&(at, c)| is_part(c) && !text[..at].chars().next_back().is_some_and(is_part))
        .map(|(at, _)| at)
        .collect();
    let Some(&start) = starts.choose(rng) else { return text.into() };
    let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |length| start + length);
    format!("{}{}{}", &text[..start], TOKENS.choose(rng).unwrap(), &text[end..])
}

/// Some bytes taken out, put in or changed.
fn bytes(rng: &mut ChaCha8Rng, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..=bytes.len());
        match rng.random_range(0..3) {
            0 => bytes.insert(at, rng.random()),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            _ if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            _ => bytes.truncate(at / 2),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn damage(rng: &mut ChaCha8Rng, node: &mut Value, donor: Value) {
    match (rng.random_range(0..6), &mut *node) {
        (0, Value::Array(list)) if !list.is_empty() => drop(list.remove(rng.random_range(0..list.len()))),
        (1, Value::Array(list)) if !list.is_empty() => list.push(list[rng.random_range(0..list.len())].clone()),
        (2, Value::Array(list)) => list.truncate(rng.random_range(0..=list.len())),
        (3, Value::Array(list)) => list.push(donor),
        (0 | 1, Value::Object(fields)) if !fields.is_empty() => {
            let key = fields.keys().nth(rng.random_range(0..fields.len())).unwrap().clone();
            fields.remove(&key);
        }
        (0..=2, Value::Number(number)) => {
            let number = number.as_f64().unwrap_or(0.0);
            let factor = *[10.0, 0.1, 1e6, 1e-6, 1e12, 1e-12, -1.0, 1.0 + 1e-15].choose(rng).unwrap();
            *node = match number.fract() == 0.0 && number.abs() < 1e15 && rng.random_bool(0.7) {
                true => Value::from(number as i64 + rng.random_range(-2..=2)),
                false => Value::from(number * factor),
            };
        }
        (3, _) => *node = donor,
        _ => *node = serde_json::from_str(TOKENS.choose(rng).unwrap()).unwrap_or(Value::Null),
    }
}

/// Number of values in a value, itself among them.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// One of them, in the order in which they are written.
fn nth(value: &mut Value, at: usize) -> &mut Value {
    if at == 0 {
        return value;
    }
    let mut left = at - 1;
    let children: Vec<&mut Value> = match value {
        Value::Array(list) => list.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => Vec::new(),
    };
    for child in children {
        let within = count(child);
        if left < within {
            return nth(child, left);
        }
        left -= within;
    }
    unreachable!("there are as many as were counted")
}
