//! Hands a finished bundle to an HTTP endpoint or object storage, and goes on where a lost connection left off.
//!
//! An address with a query (a signed URL of S3, Google Cloud Storage or Azure) or one that names a file gets one PUT. An
//! address that ends with `/` is asked first: a server that speaks tus 1.0 (<https://tus.io>) gets the bundle in parts
//! and is asked what it has before each; any other gets a PUT of the bundle's name below it. What is sent is the file as
//! it was checked for leaks; nothing else leaves the node.

mod folder;
mod wire;

use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

pub(crate) use folder::command;
use wire::{Http, Part, Sent, absolute, client, none};

/// Holds a token that the server wants as `Authorization: Bearer`; on the command line every user would see it.
const TOKEN: &str = "CASEFILE_UPLOAD_TOKEN";
/// Bytes of one part; a lost connection costs no more than this.
const PART: u64 = 8 << 20;
/// Attempts, each after twice the pause of the one before.
const ATTEMPTS: u32 = 6;
/// Pause after the first attempt.
const PAUSE: Duration = Duration::from_secs(1);
/// Time that one request may take.
const TIME: Duration = Duration::from_secs(300);

/// Why a bundle did not arrive. Queries of addresses, which may hold a signature, are not in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UploadError {
    /// The address cannot be used.
    #[error("--upload {0}: write https://HOST/PATH/ or a signed address")]
    Address(String),
    /// The token would cross the network for anybody to read.
    #[error("CASEFILE_UPLOAD_TOKEN is sent over https only; --upload names a plain http address")]
    Plain,
    /// The bundle cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The bundle.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// This machine's certificates of authorities cannot be read.
    #[error("certificates of authorities: {0}")]
    Roots(#[source] std::io::Error),
    /// The server cannot be reached, or refuses.
    #[error(
        "{place}: {why}; the bundle stays at {}: send it again with `casefile-collector upload {} URL`",
        path.display(), path.display()
    )]
    Refused {
        /// The address without its query.
        place: String,
        /// What was answered.
        why: String,
        /// The bundle.
        path: PathBuf,
    },
}

/// What one request came to.
enum Failure {
    /// The same request may pass later.
    Later(String),
    /// It will not.
    Never(String),
}

/// Sends a bundle.
///
/// # Errors
/// [`UploadError`], after several attempts where another one may help.
pub(crate) async fn send(bundle: &Path, address: &str) -> Result<(), UploadError> {
    let shown = without_query(address);
    let wrong = || UploadError::Address(shown.clone());
    let uri: Uri = address.parse().map_err(|_| wrong())?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
        return Err(wrong());
    }
    let upload = Upload {
        http: client()?,
        token: token(&uri)?,
        bundle,
        bytes: size(bundle)?,
        address,
    };
    let mut pause = PAUSE;
    let mut attempt = 1;
    loop {
        let why = match upload.once().await {
            Ok(()) => return Ok(()),
            Err(Failure::Later(_)) if attempt < ATTEMPTS => {
                tokio::time::sleep(pause).await;
                pause *= 2;
                attempt += 1;
                continue;
            }
            Err(Failure::Later(why)) => format!("{why} ({ATTEMPTS} attempts)"),
            Err(Failure::Never(why)) => why,
        };
        return Err(UploadError::Refused {
            place: shown,
            why,
            path: bundle.to_owned(),
        });
    }
}

/// How long this node waits of the longest time: a share that its name gives, so that it is the same every night.
pub(crate) fn share(node: &str, most: Duration) -> Duration {
    let digest = ring::digest::digest(&ring::digest::SHA256, node.as_bytes());
    let start = digest.as_ref().iter().take(4);
    let part = start.fold(0_u32, |part, byte| (part << 8) | u32::from(*byte));
    most.mul_f64(f64::from(part) / f64::from(u32::MAX))
}

/// The token of the environment, where the address may have it.
fn token(address: &Uri) -> Result<Option<String>, UploadError> {
    let token = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
    let host = address.host().unwrap_or("").trim_matches(['[', ']']);
    let own = host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback());
    if token.is_some() && address.scheme_str() != Some("https") && !own {
        return Err(UploadError::Plain);
    }
    Ok(token)
}

pub(crate) fn without_query(address: &str) -> String {
    let plain = address.split(['?', '#']).next().unwrap_or("");
    match (plain.split_once("://"), plain.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        _ => plain.to_owned(),
    }
}

fn size(bundle: &Path) -> Result<u64, UploadError> {
    let found = std::fs::metadata(bundle).map_err(|source| UploadError::File {
        path: bundle.to_owned(),
        source,
    })?;
    Ok(found.len())
}

/// An upload in progress.
struct Upload<'a> {
    http: Http,
    token: Option<String>,
    bundle: &'a Path,
    bytes: u64,
    address: &'a str,
}

impl Upload<'_> {
    async fn once(&self) -> Result<(), Failure> {
        let below = self.address.ends_with('/');
        if below && self.speaks_tus().await? {
            return self.in_parts().await;
        }
        let name = self
            .bundle
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let place = if below {
            format!("{}{name}", self.address)
        } else {
            self.address.to_owned()
        };
        let request = Request::builder()
            .method(Method::PUT)
            .uri(place)
            .header("Content-Type", "application/gzip");
        let answer = self.ask(request, self.part(0, self.bytes)?).await?;
        expect(
            &answer,
            &[StatusCode::OK, StatusCode::CREATED, StatusCode::NO_CONTENT],
        )
    }

    async fn speaks_tus(&self) -> Result<bool, Failure> {
        let request = Request::builder().method(Method::OPTIONS).uri(self.address);
        let answer = self.ask(request, none()).await?;
        Ok(answer.headers().contains_key("tus-version"))
    }

    /// tus: creates the upload or finds the one of an earlier run, then sends what the server does not have.
    async fn in_parts(&self) -> Result<(), Failure> {
        let place = match self.earlier() {
            Some(place) => place,
            None => self.create().await?,
        };
        loop {
            let request = tus(Method::HEAD, &place);
            let answer = self.ask(request, none()).await?;
            if matches!(answer.status(), StatusCode::NOT_FOUND | StatusCode::GONE) {
                // The server has forgotten it: from the start, with the next attempt.
                let _ = std::fs::remove_file(self.note());
                return Err(Failure::Later("the server forgot the upload".to_owned()));
            }
            expect(&answer, &[StatusCode::OK, StatusCode::NO_CONTENT])?;
            let offset = answer.headers().get("upload-offset");
            let offset = offset.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
            let Some(offset) = offset.filter(|offset| *offset <= self.bytes) else {
                return Err(Failure::Never(
                    "the server does not say how much it has".to_owned(),
                ));
            };
            if offset == self.bytes {
                let _ = std::fs::remove_file(self.note());
                return Ok(());
            }
            let part = self.part(offset, PART.min(self.bytes - offset))?;
            let request = tus(Method::PATCH, &place)
                .header("Upload-Offset", offset)
                .header("Content-Type", "application/offset+octet-stream");
            let answer = self.ask(request, part).await?;
            // Another attempt of ours may have got further: ask again where it stands.
            expect(
                &answer,
                &[StatusCode::NO_CONTENT, StatusCode::OK, StatusCode::CONFLICT],
            )?;
        }
    }

    async fn create(&self) -> Result<String, Failure> {
        use base64::Engine as _;
        let name = self
            .bundle
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let name = base64::engine::general_purpose::STANDARD.encode(name.as_bytes());
        let request = tus(Method::POST, self.address)
            .header("Upload-Length", self.bytes)
            .header("Upload-Metadata", format!("filename {name}"));
        let answer = self.ask(request, none()).await?;
        expect(&answer, &[StatusCode::CREATED])?;
        let location = answer.headers().get("location");
        let location = location.and_then(|value| value.to_str().ok());
        let Some(location) = location else {
            return Err(Failure::Never(
                "the server names no place for the upload".to_owned(),
            ));
        };
        let place = absolute(self.address, location);
        // Without the note a later run starts anew, which costs time only.
        let _ = std::fs::write(self.note(), format!("{}\n{place}\n", self.address));
        Ok(place)
    }

    /// Beside the bundle, so that a run after a restart goes on.
    fn note(&self) -> PathBuf {
        let mut name = self.bundle.as_os_str().to_owned();
        name.push(".upload");
        PathBuf::from(name)
    }

    fn earlier(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.note()).ok()?;
        let (address, place) = text.trim_end().split_once('\n')?;
        (address == self.address).then(|| place.to_owned())
    }

    fn part(&self, from: u64, bytes: u64) -> Result<Sent, Failure> {
        let opened = File::open(self.bundle).and_then(|mut file| {
            file.seek(SeekFrom::Start(from))?;
            Ok(file)
        });
        let file = opened.map_err(|error| Failure::Never(error.to_string()))?;
        Ok(Part { file, left: bytes }.boxed_unsync())
    }

    async fn ask(
        &self,
        mut request: http::request::Builder,
        body: Sent,
    ) -> Result<Response<Incoming>, Failure> {
        // A server may name a place elsewhere, which is not to have the token.
        let same = |uri: &Uri| {
            self.address
                .parse()
                .is_ok_and(|own: Uri| own.authority() == uri.authority())
        };
        if let Some(token) = &self.token
            && request.uri_ref().is_some_and(same)
        {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let request = request
            .body(body)
            .map_err(|error| Failure::Never(error.to_string()))?;
        match tokio::time::timeout(TIME, self.http.request(request)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                let source = std::error::Error::source(&error).map(ToString::to_string);
                Err(Failure::Later(source.unwrap_or_else(|| error.to_string())))
            }
            Err(_) => Err(Failure::Later(format!(
                "no answer within {} s",
                TIME.as_secs()
            ))),
        }
    }
}

fn tus(method: Method, place: &str) -> http::request::Builder {
    Request::builder()
        .method(method)
        .uri(place)
        .header("Tus-Resumable", "1.0.0")
}

/// An answer that is not one of these: the server's own trouble and haste pass, the rest does not.
fn expect(answer: &Response<Incoming>, good: &[StatusCode]) -> Result<(), Failure> {
    let status = answer.status();
    if good.contains(&status) {
        return Ok(());
    }
    let said = format!("the server answers {status}");
    let passing = [
        StatusCode::REQUEST_TIMEOUT,
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::LOCKED,
    ];
    Err(if status.is_server_error() || passing.contains(&status) {
        Failure::Later(said)
    } else {
        Failure::Never(said)
    })
}

#[cfg(test)]
mod tests;
