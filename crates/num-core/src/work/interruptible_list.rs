//! Serialization of long lists that stop tokens interrupt: `#[serde(with = "interruptible_list")]`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeSeq, Serializer};

use crate::interrupt::Pacer;

/// The work of an entry, which may hold a path.
const UNITS: usize = 64;

/// Writes the list.
///
/// # Errors
/// The serializer's, and one with the text of `Error::Stopped` when a token in force has stopped.
pub fn serialize<S: Serializer, T: Serialize>(list: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    let (mut entries, mut pacer) = (serializer.serialize_seq(Some(list.len()))?, Pacer::new());
    for entry in list {
        entries.serialize_element(entry)?;
        pacer.did(UNITS).map_err(S::Error::custom)?;
    }
    entries.end()
}

/// Reads it back.
///
/// # Errors
/// The deserializer's, and one with the text of `Error::Stopped` when a token in force has stopped.
pub fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct List<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Vec<T>, A::Error> {
            let (mut list, mut pacer) = (Vec::new(), Pacer::new());
            while let Some(entry) = entries.next_element()? {
                list.push(entry);
                pacer.did(UNITS).map_err(A::Error::custom)?;
            }
            Ok(list)
        }
    }
    deserializer.deserialize_seq(List(PhantomData))
}
