//! The one search that says where in a text secrets may stand, and which of all expressions are worth trying there.
//!
//! A word that only may name a secret (`key`, `path`) counts where the whole name around it does, so that most lines
//! need no second look.

mod hits;
mod members;
mod names;
mod places;
mod search;
mod seen;
mod skim;

use std::sync::LazyLock;

use super::encoded;
use super::escapes;
use super::forms::SPECS;
use super::known::Known;
use super::unexplained;
pub(crate) use hits::Hits;
pub(crate) use places::Places;
use search::SEARCH;

/// What opens or continues something over several lines.
const OTHERS: [&str; 28] = [
    "stdout p ",
    "stderr p ",
    "-----begin",
    "data:",
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

    /// Whether nothing may stand there but what addresses hold.
    pub(crate) fn addresses(self) -> bool {
        self.0 != 0 && self.0 & !*ADDRESSES == 0
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

/// The bits of the forms that a user in an address has, each of which holds an `@`.
static ADDRESSES: LazyLock<u128> = LazyLock::new(|| {
    let of_addresses = SPECS
        .iter()
        .zip(FIRST_FORM..)
        .filter(|(form, _)| form.hints == ["://"]);
    of_addresses.fold(0, |all, (_, bit)| all | 1 << bit)
});

/// What these bytes may hold; one search for everything.
pub(crate) fn hints(bytes: &[u8]) -> Hints {
    let mut all = 0;
    SEARCH.run(bytes, |_, _, bit| {
        all |= bit;
        false
    });
    Hints(all)
}

/// So many bytes are searched at once: what one search finds early, another need not pass on its way to the end.
const WINDOW: usize = 16 << 10;

/// What was found out about the lines at the beginning of some bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct QuietLines {
    /// So many bytes are whole lines in which nothing may be secret.
    pub(super) quiet: usize,
    /// And so many behind them are whole lines in which at most a word may be that nothing explains.
    pub(super) clear: usize,
}

/// Looks at lines as a block. `clear` says how many bytes are known to be whole lines as those of [`QuietLines::clear`]:
/// nothing that is searched for goes on from one line to the next, so they are not searched again.
pub(super) fn quiet_lines(bytes: &[u8], clear: usize, known: &Known) -> QuietLines {
    let mut quiet = 0;
    loop {
        let window = &bytes[quiet..bytes.len().min(quiet + WINDOW)];
        let end = clear_bytes(window, clear.saturating_sub(quiet));
        let clear_lines = whole_lines(&window[..end]);
        let end = unexplained::first(&window[..end], known).unwrap_or(end);
        let lines = whole_lines(&window[..end]);
        let last = quiet + window.len() == bytes.len();
        quiet += lines;
        if end < window.len() || last || lines == 0 {
            let clear = clear_lines - lines;
            return QuietLines { quiet, clear };
        }
    }
}

/// How many bytes are lines with their ends.
fn whole_lines(bytes: &[u8]) -> usize {
    memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1)
}

/// How many bytes stand in front of the first at or behind `from` that may be secret, words apart that nothing explains.
fn clear_bytes(bytes: &[u8], from: usize) -> usize {
    let mut end = bytes.len();
    SEARCH.within(bytes, &(from..bytes.len()), |start, _, _| {
        end = start;
        true
    });
    if let Some(run) = encoded::first(&bytes[from..end]) {
        end = from + run;
    }
    if let Some(escape) = escapes::first(&bytes[from..end]) {
        end = from + escape;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

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
    fn quiet_lines_end_before_the_first_line_that_needs_a_look() {
        let text = b"a: 1\nb: 2\npassword: x\nc: 3\n";
        let quiet = |text: &[u8]| quiet_lines(text, 0, &Known::new()).quiet;
        assert_eq!(quiet(text), 10);
        assert_eq!(quiet(b"a: 1\nb: 2\nhalf a li"), 10);
        assert_eq!(quiet(b"kind: Secret\n"), 0);
        assert_eq!(quiet(b"a\nx cGFzc3dvcmQ6IGh1bnRlcjI=\n"), 2);
    }

    #[test]
    fn clear_lines_hold_at_most_a_word_that_nothing_explains() {
        let text = "a: 1\nwe set 564i_0a9_v58bn\nb: 2\npassword: x\n";
        let found = quiet_lines(text.as_bytes(), 0, &Known::new());
        let clear = text.find("password").unwrap();
        assert_eq!((found.quiet, found.quiet + found.clear), (5, clear));
        for from in [0, 5, clear] {
            let again = quiet_lines(text.as_bytes(), from, &Known::new());
            assert_eq!(again, found);
        }
    }

    #[test]
    fn a_clear_line_has_nothing_alone_either() {
        const PARTS: [&str; 14] = [
            "\n",
            "\n",
            "a: 1",
            " ",
            "564i_0a9_v58bn",
            "api",
            "key",
            "=",
            "%3D",
            "[1, 2, 3, ",
            "\\x41\\x42",
            "cGFzc3dvcmQ6IGh1bnRlcjI=",
            "--",
            "data:",
        ];
        let mut draws = Draws::new();
        for _ in 0..2000 {
            let text: String = (0..30).map(|_| draws.of(&PARTS)).chain(["\n"]).collect();
            let found = quiet_lines(text.as_bytes(), 0, &Known::new());
            let whole = &text[..found.quiet + found.clear];
            for line in whole.split_inclusive('\n').map(str::as_bytes) {
                let nothing = hints(line).none() && escapes::first(line).is_none();
                assert!(nothing && !encoded::possible(line), "{text}");
            }
            let again = quiet_lines(text.as_bytes(), whole.len(), &Known::new());
            assert_eq!(again, found, "{text}");
        }
    }

    #[test]
    fn a_line_of_json_is_passed_over_only_where_no_name_has_a_value() {
        let none = |json: &str| Places::of(json.as_bytes()).none(json.as_bytes(), &Known::new());
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
