//! Names of API servers, looked up here and not by the C library: that one loads plug-ins of the host, of whatever
//! version they are, and a static binary must not.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use http::{HeaderName, HeaderValue, Uri};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// For the look-up of one name.
const LOOK_UP: Duration = Duration::from_secs(5);
/// To see whether one of several addresses takes connections.
const KNOCK: Duration = Duration::from_secs(2);
/// Addresses of one name that are tried.
const MAX_ADDRESSES: usize = 6;

/// Puts addresses in the place of the names of the server and of its proxy. The server is still asked by its name: in
/// the certificate check and in the request's head.
pub async fn pin(config: &mut kube::Config) -> Result<(), String> {
    if let Some(proxy) = &config.proxy_url {
        config.proxy_url = Some(pinned(proxy).await?.unwrap_or_else(|| proxy.clone()));
        // The proxy looks the server up.
        return Ok(());
    }
    let server = config.cluster_url.clone();
    let Some(pinned) = pinned(&server).await? else {
        return Ok(());
    };
    let (Some(name), Some(authority)) = (server.host(), server.authority()) else {
        return Ok(());
    };
    config
        .tls_server_name
        .get_or_insert_with(|| name.to_owned());
    let host = authority.as_str().rsplit('@').next().unwrap_or_default();
    if let Ok(value) = HeaderValue::from_str(host) {
        config
            .headers
            .push((HeaderName::from_static("host"), value));
    }
    config.cluster_url = pinned;
    Ok(())
}

/// The same address with an IP in the place of its name; none where it has one already.
async fn pinned(uri: &Uri) -> Result<Option<Uri>, String> {
    let Some(name) = uri.host() else {
        return Ok(None);
    };
    if name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
        return Ok(None);
    }
    let port = uri
        .port_u16()
        .unwrap_or(if uri.scheme_str() == Some("http") {
            80
        } else {
            443
        });
    let address = SocketAddr::new(first_alive(name, port).await?, port);
    let mut parts = uri.clone().into_parts();
    let authority = address.to_string().parse();
    parts.authority = Some(authority.map_err(|error| format!("{name}: {error}"))?);
    let pinned = Uri::from_parts(parts).map_err(|error| format!("{name}: {error}"))?;
    Ok(Some(pinned))
}

/// The first of a name's addresses that takes connections, or the first at all: its error will tell.
async fn first_alive(name: &str, port: u16) -> Result<IpAddr, String> {
    let addresses = addresses(name).await?;
    for address in &addresses {
        let knock = TcpStream::connect((*address, port));
        if addresses.len() == 1 || timeout(KNOCK, knock).await.is_ok_and(|knock| knock.is_ok()) {
            return Ok(*address);
        }
    }
    addresses
        .first()
        .copied()
        .ok_or_else(|| format!("the name {name} has no address"))
}

/// A name's addresses by /etc/hosts and the resolvers of /etc/resolv.conf.
pub(crate) async fn addresses(name: &str) -> Result<Vec<IpAddr>, String> {
    let failed = |why: String| format!("the name {name} cannot be looked up: {why}");
    let resolver = TokioResolver::builder_tokio()
        .and_then(hickory_resolver::ResolverBuilder::build)
        .map_err(|error| failed(format!("/etc/resolv.conf: {error}")))?;
    let found = timeout(LOOK_UP, resolver.lookup_ip(name))
        .await
        .map_err(|_| failed(format!("no answer within {} s", LOOK_UP.as_secs())))?
        .map_err(|error| failed(error.to_string()))?;
    let mut addresses: Vec<IpAddr> = found.iter().take(MAX_ADDRESSES).collect();
    // Clusters without IPv6 are common, resolvers that make up IPv6 addresses too.
    addresses.sort_by_key(IpAddr::is_ipv6);
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_with_an_address_is_left_alone() {
        let mut config = kube::Config::new("https://10.0.0.1:6443".parse().unwrap());
        pin(&mut config).await.unwrap();
        assert_eq!(config.cluster_url.to_string(), "https://10.0.0.1:6443/");
        assert!(config.tls_server_name.is_none() && config.headers.is_empty());
    }

    #[tokio::test]
    async fn a_server_with_a_name_is_asked_by_its_name_at_its_address() {
        let mut config = kube::Config::new("https://localhost:6443/k8s/c-1".parse().unwrap());
        pin(&mut config).await.unwrap();
        assert_eq!(
            config.cluster_url.to_string(),
            "https://127.0.0.1:6443/k8s/c-1"
        );
        assert_eq!(config.tls_server_name.as_deref(), Some("localhost"));
        assert_eq!(config.headers[0].1, "localhost:6443");
    }
}
