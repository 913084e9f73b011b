//! The signature: a seal that somebody made with a key.

use serde::{Deserialize, Serialize};

use crate::reader::{Input, Limits, OpenError, read_entry};
use crate::{SIGNATURE_PATH, seal};

/// `manifest.json.sig`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// [`Signed::SCHEMA`].
    pub schema: String,
    /// `ed25519`.
    pub algorithm: String,
    /// The key that the signature was made with, in hex; whose it is must be known from elsewhere.
    pub public_key: String,
    /// What is signed: the manifest's hash, and length and hash of all bytes of the file before the signature's member.
    pub statement: String,
    /// The signature over the statement, in hex.
    pub signature: String,
}

impl Signed {
    /// The form of the entry.
    pub const SCHEMA: &str = "casefile-signature/1";
}

/// The signature of a bundle, and in what way the bundle is not what it speaks for (empty: it is). Whether the
/// signature itself holds is for who knows the key. None where the bundle is not signed.
pub fn read_signature<'a>(
    input: impl Into<Input<'a>>,
    limits: &Limits,
) -> Result<Option<(Signed, Vec<String>)>, OpenError> {
    let input = input.into();
    let Some(json) = read_entry(input, limits, SIGNATURE_PATH, seal::MAX_BYTES)? else {
        return Ok(None);
    };
    let Ok(signed) = serde_json::from_slice::<Signed>(&json) else {
        let broken = Signed {
            schema: String::new(),
            algorithm: String::new(),
            public_key: String::new(),
            statement: String::new(),
            signature: String::new(),
        };
        return Ok(Some((
            broken,
            vec![format!("{SIGNATURE_PATH}: not readable")],
        )));
    };
    let problems = seal::check(input, limits, &signed.statement, &json)?;
    Ok(Some((signed, problems)))
}
