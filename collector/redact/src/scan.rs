//! The one search that says where in a text secrets may stand, and which of all expressions are worth trying there.
//!
//! A word that only may name a secret (`key`, `path`) counts where the whole name around it does, so that most lines
//! need no second look.

mod digits;
mod edges;
mod hits;
mod members;
mod names;
mod places;
mod search;
mod seen;
mod skim;

use super::forms::SPECS;
pub(crate) use digits::digits_may_tell;
pub(crate) use edges::Edges;
pub(crate) use hits::{Hits, Seen};
pub(crate) use places::{Drawn, Places};
pub(crate) use search::Hit;
use search::SEARCH;

/// What opens or continues something over several lines.
const OTHERS: [&str; 29] = [
    "stdout p ",
    "stderr p ",
    "-----begin",
    "data:",
    "stringdata:",
    "private-lines",
    "\"kty",
    "\"modulus",
    "proctitle=",
    "---- begin",
    "secretlist", // lists of bytes
    ":[1",
    ":[2",
    ":[3",
    ":[4",
    ":[5",
    ":[6",
    ":[7",
    ":[8",
    ":[9",
    ": [1",
    ": [2",
    ": [3",
    ": [4",
    ": [5",
    ": [6",
    ": [7",
    ": [8",
    ": [9",
];
/// What a line means to the ones after it, though nothing in it is secret.
const STRUCTURE: [&str; 3] = ["kind:", "---", "- value:"];
/// Programs that take secrets as bare arguments.
const PROGRAMS: &[&str] = &[
    "mysql",
    "mariadb",
    "curl",
    "sshpass",
    "redis-cli",
    "docker",
    "podman",
    "nerdctl",
    "skopeo",
    "buildah",
    "crictl",
    "ctr ",
    "ipmitool",
    "openssl",
    "ldap",
    "htpasswd",
    "mongo",
    "sqlcmd",
    "bcp ",
    "smbclient",
    "snmp",
    "unzip",
    "zip ",
    "7z",
    "etcdctl",
    "helm ",
    "oc ",
    "az ",
    "mc ",
    "rabbitmq",
    "twine ",
    "crane ",
    "http -",
    "mosquitto_",
    "cqlsh",
    "beeline",
    "fence_",
    "hdparm",
    "sedutil",
    "racadm",
    "keytool",
    "\"-",
    "oras ",
    "regctl",
    "cosign",
    "singularity",
    "apptainer",
    "argocd",
    "ibmcloud",
    "npm ",
    "net ",
    "rpcclient",
    "winexe",
    "wmic",
    "pcs ",
    "kadmin",
    "ktutil",
    "ipa-",
    "slappasswd",
    "govc",
    "-setcookie",
    "nuget",
    "caddy",
    "rdesktop",
    "--passphrase",
    "bmc-config",
    "nvsm",
];

/// What a text may hold, as bits: one for names, one for programs, one for what spans lines, one for each form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hints(u128);

const NAME_BIT: u32 = 0;
const PROGRAM_BIT: u32 = 1;
const OTHER_BIT: u32 = 2;
const STRUCTURE_BIT: u32 = 3;
const FIRST_FORM: u32 = 4;

impl Hints {
    /// Whether nothing that may be secret was found.
    pub(crate) fn none(self) -> bool {
        self.0 & !(1 << STRUCTURE_BIT) == 0
    }

    /// Whether a name of a secret may stand there.
    pub(crate) fn names(self) -> bool {
        self.0 & (1 << NAME_BIT) != 0
    }

    /// Whether something may stand there that opens or continues what spans lines.
    pub(crate) fn others(self) -> bool {
        self.0 & (1 << OTHER_BIT) != 0
    }

    /// Whether a program that takes secrets as arguments may stand there.
    pub(crate) fn programs(self) -> bool {
        self.0 & (1 << PROGRAM_BIT) != 0
    }

    /// The forms that may stand there, by their place in [`SPECS`].
    pub(crate) fn forms(self) -> impl Iterator<Item = usize> {
        let mut bits = self.0 >> FIRST_FORM;
        std::iter::from_fn(move || {
            let next = bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
            usize::try_from(next)
                .ok()
                .filter(|next| *next < SPECS.len())
        })
    }
}

/// What these bytes may hold; one search for everything.
pub(crate) fn hints(bytes: &[u8]) -> Hints {
    let mut all = 0;
    SEARCH.run(bytes, |_, _, bit| {
        all |= bit;
        false
    });
    Hints(all)
}

#[cfg(test)]
mod tests {
    use super::super::alike::Alike;
    use super::super::known::Known;
    use super::*;

    #[test]
    fn words_count_where_the_name_around_them_does() {
        for quiet in [
            "key: nvidia.com/gpu",
            "path: /var/run/secrets/kubernetes.io/serviceaccount",
            "imagePullSecrets:",
            "secretName: db",
            "task-runner disk-0 monkey keyring",
            "author: me",
        ] {
            assert!(hints(quiet.as_bytes()).none(), "{quiet}");
        }
        for telling in [
            "DB_PASSWORD",
            "x-api-key",
            "example.com/api/key",
            "githubPat",
            "userpw=1",
        ] {
            assert!(hints(telling.as_bytes()).names(), "{telling}");
        }
    }

    #[test]
    fn a_line_of_json_is_passed_over_only_where_no_name_has_a_value() {
        let none = |json: &str| {
            let line = Alike::of(json.as_bytes());
            Places::of(&line).none(&line, &Known::new())
        };
        assert!(none(
            r#"{"serviceAccountToken":{"path":"token","x":1},"y":2}"#
        ));
        assert!(none(
            r#"{"value":1,"a":[{"name":"DB_PASSWORD","valueFrom":{"x":{"name":"db","key":"password"},"value":1}}]}"#
        ));
        for told in [
            r#"{"token":"x"}"#,
            r#"{"name":"token","value":"x"}"#,
            r#"{"value":"x","a":{"b":"}"},"name":"DB_PASSWORD"}"#,
            r#"{"key":"DB_PASSWORD","a":["]"],"Value" : "x"}"#,
            r#"{"name":"DB_PASSWORD","a":"\"}","value":"x"}"#,
            r#"{"name":"DB_PASSWORD","#,
            r#"["token","x"]"#,
            r#"{"passwords":["x"]}"#,
            r#"{"a":"{\"token\":{}}"}"#,
            r#"{"kind":"Secret","data":{"x":"y"}}"#,
        ] {
            assert!(!none(told), "{told}");
        }
    }

    #[test]
    fn every_form_has_a_bit() {
        assert!(FIRST_FORM as usize + SPECS.len() <= 128);
    }
}
