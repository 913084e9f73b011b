//! Who may ask: whoever has the run's token, by the server's own name, and no page of another origin.
//!
//! A browser on this machine can reach a server on the loopback. The token keeps pages out; the checks of `Host` and `Origin`
//! keep them out even where a name of theirs is made to resolve to 127.0.0.1 (DNS rebinding), or the token leaks into one.

use std::net::SocketAddr;

use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};

use crate::status::Status;

/// Checks requests.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    token: String,
    hosts: Vec<String>,
    /// The cookie that the page of the run has its token in. Cookies are shared by all ports of a host, so its name tells
    /// this server from another one beside it.
    cookie: String,
}

impl Gate {
    pub(crate) fn new(token: &str, address: SocketAddr) -> Self {
        let port = address.port();
        let mut hosts: Vec<String> = ["127.0.0.1", "localhost", "[::1]"]
            .iter()
            .map(|host| format!("{host}:{port}"))
            .collect();
        hosts.push(address.to_string());
        Self {
            token: token.to_owned(),
            hosts,
            cookie: format!("casefile-token-{port}"),
        }
    }

    /// Name of the page's cookie.
    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    /// Lets a request in.
    ///
    /// Errors: why not.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), Status> {
        self.own_name(headers)?;
        let bearer = text(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let cookie = text(headers, &COOKIE).and_then(|cookies| {
            let mut all = cookies
                .split(';')
                .filter_map(|one| one.trim().split_once('='));
            all.find(|(name, _)| *name == self.cookie)
                .map(|(_, value)| value)
        });
        match bearer.or(cookie) {
            Some(token) if self.is_token(token.trim()) => Ok(()),
            _ => Err(Status::unauthorized()),
        }
    }

    /// Checks that the request names this server, and comes from no other page.
    pub(crate) fn own_name(&self, headers: &HeaderMap) -> Result<(), Status> {
        let known = |host: &str| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        if !text(headers, &HOST).is_some_and(known) {
            return Err(Status::wrong_host(
                "this server answers only by its own address: the Host header names another",
            ));
        }
        let origin = headers
            .get(ORIGIN)
            .map(|value| value.to_str().unwrap_or(""));
        let own = origin.is_none_or(|origin| origin.strip_prefix("https://").is_some_and(known));
        let site = headers
            .get("sec-fetch-site")
            .map(|value| value.to_str().unwrap_or(""));
        let same = site.is_none_or(|site| matches!(site, "same-origin" | "none"));
        if own && same {
            Ok(())
        } else {
            Err(Status::wrong_host(
                "this server answers no page of another origin",
            ))
        }
    }

    /// Compares in the same time whatever is wrong.
    pub(crate) fn is_token(&self, token: &str) -> bool {
        let (own, given) = (self.token.as_bytes(), token.as_bytes());
        let differ = own
            .iter()
            .zip(given)
            .fold(0, |differ, (a, b)| differ | (a ^ b));
        own.len() == given.len() && differ == 0
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &http::HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(pairs: &[(&'static str, &str)]) -> Result<(), u16> {
        let gate = Gate::new("secret", "127.0.0.1:6443".parse().unwrap());
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, value.parse().unwrap());
        }
        gate.admit(&headers).map_err(|status| status.code)
    }

    #[test]
    fn only_the_token_by_the_servers_own_name_is_let_in() {
        let own = ("host", "127.0.0.1:6443");
        let token = ("authorization", "Bearer secret");
        assert_eq!(admitted(&[own, token]), Ok(()));
        assert_eq!(admitted(&[("host", "localhost:6443"), token]), Ok(()));
        assert_eq!(admitted(&[own]), Err(401));
        assert_eq!(
            admitted(&[own, ("authorization", "Bearer secreT")]),
            Err(401)
        );
        assert_eq!(admitted(&[("host", "evil.example:6443"), token]), Err(403));
        assert_eq!(admitted(&[token]), Err(403), "no host");
        assert_eq!(
            admitted(&[own, token, ("origin", "https://evil.example")]),
            Err(403)
        );
        assert_eq!(admitted(&[own, token, ("origin", "null")]), Err(403));
        assert_eq!(
            admitted(&[own, token, ("origin", "https://127.0.0.1:6443")]),
            Ok(())
        );
        assert_eq!(
            admitted(&[own, token, ("sec-fetch-site", "cross-site")]),
            Err(403)
        );
        assert_eq!(
            admitted(&[own, ("cookie", "a=b; casefile-token-6443=secret")]),
            Ok(())
        );
        let two = "casefile-token-7000=other; casefile-token-6443=secret";
        assert_eq!(
            admitted(&[own, ("cookie", two)]),
            Ok(()),
            "the page of a second server leaves this one's session alone"
        );
    }
}
