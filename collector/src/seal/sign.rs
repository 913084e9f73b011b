//! Ed25519 signatures, with keys as `openssl genpkey -algorithm ed25519` writes them.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use casefile_bundle::{Signed, hex};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use super::SealError;

/// What stands before the 32 bytes of an Ed25519 key in its public form (RFC 8410).
const PUBLIC_HEAD: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// A key that signs.
pub struct Signer(Ed25519KeyPair);

impl Signer {
    /// Reads a private key: PEM, PKCS 8, not encrypted.
    pub fn load(path: &Path) -> Result<Self, SealError> {
        let name = || format!("--sign-key {}", path.display());
        let der = pem(path, "PRIVATE KEY").map_err(|why| SealError::new(name(), why))?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der);
        pair.map(Self).map_err(|_| {
            SealError::new(
                name(),
                "no Ed25519 key (make one with: openssl genpkey -algorithm ed25519 -out FILE)",
            )
        })
    }

    /// Signs a statement.
    pub fn sign(&self, statement: String) -> Signed {
        let signature = hex(self.0.sign(statement.as_bytes()).as_ref());
        Signed {
            schema: Signed::SCHEMA.to_owned(),
            algorithm: "ed25519".to_owned(),
            public_key: hex(self.0.public_key().as_ref()),
            statement,
            signature,
        }
    }
}

/// Checks a signature against a public key file: PEM, as `openssl pkey -pubout` writes it.
pub fn verify(signed: &Signed, public_key: &Path) -> Result<(), SealError> {
    let name = || format!("--public-key {}", public_key.display());
    let der = pem(public_key, "PUBLIC KEY").map_err(|why| SealError::new(name(), why))?;
    let key = der
        .strip_prefix(&PUBLIC_HEAD)
        .filter(|key| key.len() == 32)
        .ok_or_else(|| SealError::new(name(), "no Ed25519 public key"))?;
    if signed.algorithm != "ed25519" || signed.public_key != hex(key) {
        return Err(SealError::new(
            "manifest.json.sig",
            "signed with another key than the given one",
        ));
    }
    let bytes = unhex(&signed.signature).unwrap_or_default();
    UnparsedPublicKey::new(&ED25519, key)
        .verify(signed.statement.as_bytes(), &bytes)
        .map_err(|_| SealError::new("manifest.json.sig", "the signature does not hold"))
}

fn pem(path: &Path, label: &str) -> Result<Vec<u8>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (begin, end) = (
        format!("-----BEGIN {label}-----"),
        format!("-----END {label}-----"),
    );
    let body = text
        .split_once(&begin)
        .and_then(|(_, rest)| rest.split_once(&end))
        .map(|(body, _)| body.split_whitespace().collect::<String>())
        .ok_or_else(|| format!("no PEM block {begin}"))?;
    STANDARD
        .decode(body)
        .map_err(|_| "its PEM block is broken".to_owned())
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let pairs = digits?;
    pairs
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect()
}
