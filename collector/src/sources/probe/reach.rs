//! Connects to a server as a client would, a step at a time: TCP, the TLS handshake, one HTTP request. Each step is a
//! row, so that it shows which one fails. No credential is sent, and whatever certificate is shown is noted, not judged.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use http::Request;
use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

use super::targets::Endpoint;
use super::{Certificate, PATIENCE, Row, no_answer};

/// Every step to one address of an endpoint, up to the first that fails.
pub(super) async fn reach(endpoint: Endpoint, address: IpAddr) -> Vec<Row> {
    let to = SocketAddr::new(address, endpoint.port);
    let row = |protocol, start, result: String| Row {
        purpose: endpoint.purpose.word(),
        ..Row::new(
            protocol,
            to.to_string(),
            &endpoint.host,
            &endpoint.named_by,
            start,
            result,
        )
    };
    let start = Instant::now();
    let stream = match patient(TcpStream::connect(to)).await {
        Ok(stream) => stream,
        Err(why) => return vec![row("tcp", start, why)],
    };
    let mut rows = vec![row("tcp", start, "connected".to_owned())];
    if !endpoint.tls {
        let start = Instant::now();
        rows.push(row("http", start, status(stream, &endpoint).await));
        return rows;
    }
    let start = Instant::now();
    let stream = match patient(handshake(stream, &endpoint.host)).await {
        Ok(stream) => stream,
        Err(why) => {
            rows.push(row("tls", start, why));
            return rows;
        }
    };
    let (_, session) = stream.get_ref();
    let version = session.protocol_version();
    let version = version.map_or_else(|| "connected".to_owned(), |version| format!("{version:?}"));
    let shown = session.peer_certificates().and_then(|chain| chain.first());
    rows.push(Row {
        certificate: shown.and_then(certificate),
        ..row("tls", start, version)
    });
    let start = Instant::now();
    rows.push(row("http", start, status(stream, &endpoint).await));
    rows
}

async fn patient<T>(step: impl Future<Output = std::io::Result<T>>) -> Result<T, String> {
    match timeout(PATIENCE, step).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(no_answer()),
    }
}

async fn handshake(
    stream: TcpStream,
    host: &str,
) -> std::io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(std::io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Noted(provider)))
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(std::io::Error::other)?;
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

/// The status of one request, `HTTP 401`, or why there is none.
async fn status(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    endpoint: &Endpoint,
) -> String {
    let asked = timeout(PATIENCE, ask(stream, endpoint)).await;
    match asked {
        Ok(Ok(code)) => format!("HTTP {code}"),
        Ok(Err(error)) => error.to_string(),
        Err(_) => no_answer(),
    }
}

async fn ask(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    endpoint: &Endpoint,
) -> Result<u16, hyper::Error> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let mut request = Request::new(Empty::<bytes::Bytes>::new());
    *request.uri_mut() = http::Uri::from_static(endpoint.purpose.path());
    let agent = http::HeaderValue::from_static("casefile-collector");
    request
        .headers_mut()
        .insert(http::header::USER_AGENT, agent);
    if let Ok(host) = http::HeaderValue::from_str(&endpoint.host) {
        request.headers_mut().insert(http::header::HOST, host);
    }
    // The body is not wanted: the head of the answer says all.
    tokio::select! {
        answer = sender.send_request(request) => Ok(answer?.status().as_u16()),
        Err(error) = connection => Err(error),
    }
}

/// What a certificate says of itself.
fn certificate(der: &CertificateDer<'_>) -> Option<Certificate> {
    let (_, parsed) = X509Certificate::from_der(der).ok()?;
    let time = |at: x509_parser::time::ASN1Time| {
        chrono::DateTime::from_timestamp(at.timestamp(), 0)
            .map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
            .unwrap_or_default()
    };
    let validity = parsed.validity();
    Some(Certificate {
        subject: parsed.subject().to_string(),
        issuer: parsed.issuer().to_string(),
        not_before: time(validity.not_before),
        not_after: time(validity.not_after),
    })
}

/// Lets every certificate pass, since a wrong one is what a probe has to show. The handshake's signature is checked:
/// without it the server would not be the one whose certificate it is.
#[derive(Debug)]
struct Noted(Arc<CryptoProvider>);

impl ServerCertVerifier for Noted {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
