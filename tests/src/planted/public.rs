//! A second corpus, written from what secret scanners and vendors publish about forms and files: each shape as the tool
//! writes it, with a fresh secret in it. The same hand wrote this and the redaction, which has learnt from it since, so
//! it says that published shapes are covered, and is no outside check.

use serde_json::json;

use super::places::{b64, conf, journal, line, plain, toml, yaml};
use super::rng::Rng;
use super::{Case, Document};

/// Its name in the tables, how its secret is made, and the document around it.
type Shape = (&'static str, fn(&mut Rng) -> String, fn(&str) -> Document);

/// Each shape is made so often.
const TIMES: usize = 4;

/// Every shape, with fresh secrets.
pub(super) fn cases(rng: &mut Rng) -> Vec<Case> {
    let all = TOKENS.iter().chain(FILES).chain(COMMANDS).chain(WRAPPED);
    let mut cases = Vec::new();
    for (id, make, plant) in all {
        for _ in 0..TIMES {
            let secret = make(rng);
            cases.push(Case {
                kind: "as published",
                place: id,
                document: plant(&secret),
                needles: vec![secret],
            });
        }
    }
    cases
}

fn word(r: &mut Rng) -> String {
    r.mixed(18)
}

fn said(s: &str) -> Document {
    plain(format!("2026-11-20T10:15:00Z client refused {s} at once\n"))
}

/// Tokens that name their issuer, in prose.
const TOKENS: &[Shape] = &[
    (
        "Groq token in prose",
        |r| format!("gsk_{}", r.mixed(52)),
        said,
    ),
    (
        "Perplexity token in prose",
        |r| format!("pplx-{}", r.mixed(48)),
        said,
    ),
    (
        "xAI token in prose",
        |r| format!("xai-{}", r.mixed(80)),
        said,
    ),
    (
        "Replicate token in prose",
        |r| format!("r8_{}", r.mixed(37)),
        said,
    ),
    (
        "Supabase token in prose",
        |r| format!("sbp_{}", r.hex(40)),
        said,
    ),
    (
        "Figma token in prose",
        |r| format!("figd_{}", r.mixed(40)),
        said,
    ),
    (
        "Sourcegraph token in prose",
        |r| format!("sgp_{}_{}", r.hex(16), r.hex(40)),
        said,
    ),
    (
        "HubSpot token in prose",
        |r| format!("pat-na1-{}", r.uuid()),
        said,
    ),
    (
        "Netlify token in prose",
        |r| format!("nfp_{}", r.mixed(36)),
        said,
    ),
    (
        "RubyGems key in prose",
        |r| format!("rubygems_{}", r.hex(48)),
        said,
    ),
    (
        "Bitbucket app password in prose",
        |r| format!("ATBB{}", r.mixed(32)),
        said,
    ),
    (
        "Prefect key in prose",
        |r| format!("pnu_{}", r.mixed(36)),
        said,
    ),
    (
        "Fly.io token in prose",
        |r| format!("fo1_{}", r.mixed(43)),
        said,
    ),
    (
        "Grafana API key in prose",
        |r| {
            b64(format!(
                "{{\"k\":\"{}\",\"n\":\"x\",\"id\":1}}",
                r.mixed(32)
            ))
        },
        said,
    ),
    (
        "Vault token of old in prose",
        |r| format!("s.{}", r.mixed(24)),
        said,
    ),
    (
        "GitLab runner registration in prose",
        |r| format!("GR1348941{}", r.mixed(20)),
        said,
    ),
    (
        "GitLab feed token in prose",
        |r| format!("glffct-{}", r.mixed(20)),
        said,
    ),
    (
        "Slack refresh token in prose",
        |r| format!("xoxe-1-{}", r.mixed(146)),
        said,
    ),
    (
        "Square secret in prose",
        |r| format!("sq0csp-{}", r.mixed(43)),
        said,
    ),
    (
        "Cloudflare origin key in prose",
        |r| format!("v1.0-{}-{}", r.hex(24), r.hex(146)),
        said,
    ),
    (
        "EasyPost key in prose",
        |r| format!("EZAK{}", r.mixed(54)),
        said,
    ),
    (
        "Okta SSWS header",
        |r| r.mixed(42),
        |s| plain(format!("> Authorization: SSWS {s}\n")),
    ),
    (
        "Weights & Biases login",
        |r| r.hex(40),
        |s| plain(format!("wandb login {s}\n")),
    ),
    (
        "Weights & Biases netrc",
        |r| r.hex(40),
        |s| {
            conf(
                ".netrc",
                format!("machine api.wandb.ai\n  login user\n  password {s}\n"),
            )
        },
    ),
    (
        "Discord bot header",
        |r| format!("{}.{}.{}", r.mixed(24), r.mixed(6), r.mixed(38)),
        |s| plain(format!("> Authorization: Bot {s}\n")),
    ),
];

/// Files as their programs write them.
const FILES: &[Shape] = &[
    (
        "Ceph keyring",
        |r| format!("AQ{}==", r.mixed(36)),
        |s| {
            conf(
                "ceph.client.admin.keyring",
                format!("[client.admin]\n\tkey = {s}\n\tcaps mon = \"allow *\"\n"),
            )
        },
    ),
    (
        "Ceph secret in mount options",
        |r| format!("AQ{}==", r.mixed(36)),
        |s| {
            plain(format!(
                "10.0.0.1:6789:/ on /mnt type ceph (rw,relatime,name=admin,secret={s},acl)\n"
            ))
        },
    ),
    ("CIFS mount options", word, |s| {
        conf(
            "fstab",
            format!("//nas/data /mnt cifs username=me,password={s},vers=3.0 0 0\n"),
        )
    }),
    ("CIFS credentials file", word, |s| {
        conf(
            "cifs.cred",
            format!("username=me\npassword={s}\ndomain=LAB\n"),
        )
    }),
    ("iSCSI CHAP", word, |s| {
        conf(
            "iscsid.conf",
            format!(
                "node.session.auth.authmethod = CHAP\nnode.session.auth.username = me\nnode.session.auth.password = {s}\n"
            ),
        )
    }),
    ("iSCSI CHAP of the target", word, |s| {
        conf(
            "iscsid.conf",
            format!("discovery.sendtargets.auth.password_in = {s}\n"),
        )
    }),
    (
        "WireGuard preshared key",
        |r| format!("{}=", r.mixed(43)),
        |s| {
            conf(
                "wg0.conf",
                format!("[Peer]\nPublicKey = x\nPresharedKey = {s}\nAllowedIPs = 0.0.0.0/0\n"),
            )
        },
    ),
    ("netplan Wi-Fi", word, |s| {
        yaml(format!(
            "network:\n  wifis:\n    wlan0:\n      access-points:\n        \"lab\":\n          password: \"{s}\"\n"
        ))
    }),
    ("NetworkManager psk", word, |s| {
        conf(
            "lab.nmconnection",
            format!("[wifi-security]\nkey-mgmt=wpa-psk\npsk={s}\n"),
        )
    }),
    ("NetworkManager 802.1X", word, |s| {
        conf(
            "lab.nmconnection",
            format!("[802-1x]\nidentity=me\nprivate-key-password={s}\n"),
        )
    }),
    ("wpa_supplicant", word, |s| {
        conf(
            "wpa_supplicant.conf",
            format!("network={{\n  ssid=\"lab\"\n  psk=\"{s}\"\n}}\n"),
        )
    }),
    ("snmpd community", word, |s| {
        conf("snmpd.conf", format!("rocommunity {s} 10.0.0.0/8\n"))
    }),
    ("snmpd com2sec", word, |s| {
        conf("snmpd.conf", format!("com2sec readonly default {s}\n"))
    }),
    ("snmpd user", word, |s| {
        conf("snmpd.conf", format!("createUser admin SHA \"{s}\" AES\n"))
    }),
    (
        "chrony keys",
        |r| r.hex(40),
        |s| conf("chrony.keys", format!("1 SHA1 HEX:{s}\n")),
    ),
    (
        "BIND key",
        |r| format!("{}==", r.mixed(42)),
        |s| {
            conf(
                "rndc.key",
                format!("key \"rndc-key\" {{\n\talgorithm hmac-sha256;\n\tsecret \"{s}\";\n}};\n"),
            )
        },
    ),
    ("RADIUS client", word, |s| {
        conf(
            "pam_radius.conf",
            format!("127.0.0.1:1812\t{s}\t3\n# server shared_secret timeout\n"),
        )
    }),
    ("keepalived", word, |s| {
        conf(
            "keepalived.conf",
            format!("authentication {{\n    auth_type PASS\n    auth_pass {s}\n}}\n"),
        )
    }),
    (
        "corosync",
        |r| r.hex(32),
        |s| {
            conf(
                "corosync.conf",
                format!("totem {{\n  secauth: on\n  key: {s}\n}}\n"),
            )
        },
    ),
    ("HAProxy stats", word, |s| {
        conf("haproxy.cfg", format!("  stats auth admin:{s}\n"))
    }),
    ("HAProxy userlist", word, |s| {
        conf(
            "haproxy.cfg",
            format!("userlist x\n  user admin insecure-password {s}\n"),
        )
    }),
    (
        "htpasswd line",
        |r| format!("$apr1${}${}", r.mixed(8), r.mixed(22)),
        |s| conf("htpasswd", format!("me:{s}\n")),
    ),
    (
        "htpasswd SHA",
        |r| format!("{}=", r.mixed(27)),
        |s| conf("htpasswd", format!("me:{{SHA}}{s}\n")),
    ),
    (
        "shadow line",
        |r| format!("$y$j9T${}${}", r.mixed(22), r.mixed(43)),
        |s| conf("shadow", format!("me:{s}:19000:0:99999:7:::\n")),
    ),
    ("static token file", word, |s| {
        conf(
            "known_tokens.csv",
            format!("{s},admin,admin,system:masters\n"),
        )
    }),
    (
        "rke2 server token",
        |r| format!("K10{}::server:{}", r.hex(64), r.hex(32)),
        |s| {
            conf(
                "config.yaml",
                format!("server: https://10.0.0.1:9345\ntoken: {s}\n"),
            )
        },
    ),
    ("rke2 agent token of its own", word, |s| {
        yaml(format!("agent-token: {s}\nserver: https://10.0.0.1:9345\n"))
    }),
    ("k3s datastore", word, |s| {
        conf(
            "k3s.service.env",
            format!("K3S_DATASTORE_ENDPOINT='mysql://me:{s}@tcp(10.0.0.1:3306)/k3s'\n"),
        )
    }),
    ("rke2 S3 snapshots", word, |s| {
        yaml(format!(
            "etcd-s3: true\netcd-s3-access-key: AKIDEXAMPLE\netcd-s3-secret-key: {s}\n"
        ))
    }),
    (
        "velero credentials",
        |r| r.mixed(40),
        |s| {
            conf(
                "cloud",
                format!("[default]\naws_access_key_id = x\naws_secret_access_key = {s}\n"),
            )
        },
    ),
    (
        "s3cmd",
        |r| r.mixed(40),
        |s| {
            conf(
                ".s3cfg",
                format!("[default]\nsecret_key = {s}\nuse_https = True\n"),
            )
        },
    ),
    (
        "rclone",
        |r| r.mixed(22),
        |s| conf("rclone.conf", format!("[x]\ntype = sftp\npass = {s}\n")),
    ),
    (
        "boto",
        |r| r.mixed(40),
        |s| {
            conf(
                ".boto",
                format!("[Credentials]\ngs_secret_access_key = {s}\n"),
            )
        },
    ),
    (
        "GCP key id and secret in JSON env",
        |r| r.mixed(60),
        |s| {
            conf(
                "app.env",
                format!(
                    "GOOGLE_CREDENTIALS={}\n",
                    json!({"type":"service_account","private_key_id":"x","private_key":format!("-----BEGIN PRIVATE KEY-----\n{s}\n-----END PRIVATE KEY-----\n")})
                ),
            )
        },
    ),
    (
        "Azure SAS",
        |r| format!("{}%3D", r.mixed(43)),
        |s| {
            plain(format!(
                "GET https://x.blob.core.windows.net/c/b?sv=2022-11-02&se=2026-11-20T00%3A00Z&sr=b&sp=r&sig={s} 403\n"
            ))
        },
    ),
    (
        "AWS presigned URL",
        |r| r.hex(64),
        |s| {
            plain(format!(
                "GET https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=300&X-Amz-Signature={s} 403\n"
            ))
        },
    ),
    (
        "GCS signed URL",
        |r| r.hex(256),
        |s| {
            plain(format!(
                "GET https://storage.googleapis.com/b/o?X-Goog-Algorithm=x&X-Goog-Signature={s} 403\n"
            ))
        },
    ),
    ("JDBC query", word, |s| {
        conf(
            "app.properties",
            format!("spring.datasource.url=jdbc:postgresql://db/x?user=me&password={s}\n"),
        )
    }),
    ("JDBC Oracle", word, |s| {
        conf(
            "app.properties",
            format!("url=jdbc:oracle:thin:me/{s}@//db:1521/x\n"),
        )
    }),
    ("SQL Server JDBC", word, |s| {
        conf(
            "app.properties",
            format!("url=jdbc:sqlserver://db;databaseName=x;user=me;password={s};encrypt=true\n"),
        )
    }),
    ("AMQP URL in YAML", word, |s| {
        yaml(format!("broker: amqp://me:{s}@mq:5672/x\n"))
    }),
    ("containerd inline auth", word, |s| {
        toml(format!(
            "[plugins.\"io.containerd.grpc.v1.cri\".registry.configs]\n  \"r.example\" = {{ auth = {{ username = \"me\", password = \"{s}\" }} }}\n"
        ))
    }),
    (
        "containerd hosts header",
        |r| b64(format!("me:{}", r.mixed(18))),
        |s| {
            toml(format!(
                "[host.\"https://r.example\"]\n  [host.\"https://r.example\".header]\n    Authorization = [\n      \"Basic {s}\",\n    ]\n"
            ))
        },
    ),
    (
        "CRI-O auth, pretty",
        |r| b64(format!("me:{}", r.mixed(18))),
        |s| {
            conf(
                "auth.json",
                format!(
                    "{{\n  \"auths\": {{\n    \"quay.io\": {{ \"auth\":\n      \"{s}\" }}\n  }}\n}}\n"
                ),
            )
        },
    ),
    (
        "cosign key",
        |r| r.mixed(64),
        |s| {
            conf(
                "cosign.key",
                format!(
                    "-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n{s}\n-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n"
                ),
            )
        },
    ),
    (
        "PuTTY key",
        |r| r.mixed(64),
        |s| {
            conf(
                "a.ppk",
                format!(
                    "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 1\n{s}\n"
                ),
            )
        },
    ),
    ("grub password", word, |s| {
        conf("grub.cfg", format!("password admin {s}\n"))
    }),
    ("BMC in BareMetalHost URL", word, |s| {
        yaml(format!("bmc:\n  address: ipmi://admin:{s}@10.0.0.9\n"))
    }),
    ("ansible inventory", word, |s| {
        conf(
            "hosts",
            format!("gpu-1 ansible_user=me ansible_ssh_pass={s} ansible_become_pass=x\n"),
        )
    }),
    ("ansible become", word, |s| {
        conf(
            "hosts",
            format!("gpu-1 ansible_user=me ansible_become_pass={s}\n"),
        )
    }),
    ("cloud-init user", word, |s| {
        yaml(format!(
            "users:\n- name: me\n  plain_text_passwd: {s}\n  lock_passwd: false\n"
        ))
    }),
    ("kickstart", word, |s| {
        conf("ks.cfg", format!("rootpw --plaintext {s}\n"))
    }),
    ("apt proxy", word, |s| {
        conf(
            "95proxy",
            format!("Acquire::http::Proxy \"http://me:{s}@proxy:3128\";\n"),
        )
    }),
    ("apt auth", word, |s| {
        conf(
            "auth.conf",
            format!("machine repo.example login me password {s}\n"),
        )
    }),
    ("yum repository", word, |s| {
        conf(
            "a.repo",
            format!("[a]\nbaseurl=https://r.example\nusername=me\npassword={s}\n"),
        )
    }),
    ("pip index", word, |s| {
        conf(
            "pip.conf",
            format!("[global]\nindex-url = https://me:{s}@pypi.example/simple\n"),
        )
    }),
    ("git credentials", word, |s| {
        conf(".git-credentials", format!("https://me:{s}@git.example\n"))
    }),
    ("Maven server over lines", word, |s| {
        conf(
            "settings.xml",
            format!("<server>\n  <id>x</id>\n  <passphrase>{s}</passphrase>\n</server>\n"),
        )
    }),
];

/// Commands and their output.
const COMMANDS: &[Shape] = &[
    ("PGPASSWORD", word, |s| {
        plain(format!("PGPASSWORD={s} psql -h db -U me\n"))
    }),
    ("MYSQL_PWD in a CronJob", word, |s| {
        line(&json!({"command":["sh","-c",format!("MYSQL_PWD={s} mysqldump x")]}))
    }),
    (
        "kubeadm join",
        |r| format!("{}.{}", r.text(6, "abc123"), r.text(16, "abcdef0123456789")),
        |s| {
            plain(format!(
                "kubeadm join 10.0.0.1:6443 --token {s} --discovery-token-ca-cert-hash sha256:00\n"
            ))
        },
    ),
    (
        "kubeadm token list",
        |r| format!("{}.{}", r.text(6, "abc123"), r.text(16, "abcdef0123456789")),
        |s| {
            plain(format!(
                "TOKEN                     TTL   EXPIRES\n{s}   23h   2026-11-21T10:15:00Z   authentication,signing\n"
            ))
        },
    ),
    ("ipmitool in processes", word, |s| {
        line(&json!({"cmdline":["ipmitool","-H","bmc","-U","admin","-P",s,"sdr"]}))
    }),
    ("ipmitool set password", word, |s| {
        plain(format!("ipmitool user set password 2 {s}\n"))
    }),
    ("racadm set", word, |s| {
        plain(format!("racadm -r 10.0.0.9 -u root -p {s} getsysinfo\n"))
    }),
    ("snmpwalk", word, |s| {
        plain(format!("snmpwalk -v2c -c {s} 10.0.0.9 sysDescr\n"))
    }),
    ("cryptsetup", word, |s| {
        plain(format!("echo -n {s} | cryptsetup luksOpen /dev/sdb x -\n"))
    }),
    ("curl bearer, quoted", word, |s| {
        plain(format!(
            "curl -H \"Authorization: Bearer {s}1A\" https://x\n"
        ))
    }),
    ("curl oauth2-bearer", word, |s| {
        plain(format!("curl --oauth2-bearer {s} https://x\n"))
    }),
    ("wget", word, |s| {
        plain(format!("wget --user=me --password={s} https://x\n"))
    }),
    ("wget header", word, |s| {
        plain(format!("wget --header='PRIVATE-TOKEN: {s}' https://x\n"))
    }),
    (
        "git extraheader",
        |r| b64(format!("me:{}", r.mixed(30))),
        |s| {
            plain(format!(
                "git -c http.extraheader='AUTHORIZATION: basic {s}' fetch\n"
            ))
        },
    ),
    ("helm registry login", word, |s| {
        plain(format!("helm registry login r.example -u me -p {s}\n"))
    }),
    ("kubectl create docker-registry", word, |s| {
        plain(format!(
            "kubectl create secret docker-registry a --docker-username=me --docker-password={s}\n"
        ))
    }),
    ("kubectl config", word, |s| {
        plain(format!(
            "kubectl config set-credentials me --username=me --password={s}\n"
        ))
    }),
    ("oc login", word, |s| {
        plain(format!(
            "oc login --token=sha256~{s} --server=https://api:6443\n"
        ))
    }),
    ("az login", word, |s| {
        plain(format!(
            "az login --service-principal -u x -p {s} --tenant y\n"
        ))
    }),
    ("ngc config", word, |s| {
        plain(format!("ngc config set --apikey {s}\n"))
    }),
    ("mc alias", word, |s| {
        plain(format!("mc alias set x https://minio AKIDEXAMPLE {s}\n"))
    }),
    ("vault write", word, |s| {
        plain(format!("vault login {s}Q9\n"))
    }),
    ("vault kv put", word, |s| {
        plain(format!("vault kv put kv/x password={s}\n"))
    }),
    ("consul -token", word, |s| {
        plain(format!("consul members -token={s}\n"))
    }),
    ("redis AUTH", word, |s| {
        plain(format!("1700000000.1 [0 10.0.0.1:1] \"AUTH\" \"{s}\"\n"))
    }),
    ("postgres log", word, |s| {
        plain(format!(
            "LOG:  statement: ALTER USER me WITH PASSWORD '{s}';\n"
        ))
    }),
    ("mysql grant", word, |s| {
        plain(format!(
            "GRANT ALL ON x.* TO 'me'@'%' IDENTIFIED BY '{s}';\n"
        ))
    }),
    ("mount in a journal", word, |s| {
        journal(json!(format!(
            "mount.cifs //nas/x /mnt -o user=me,pass={s},vers=3"
        )))
    }),
    ("sudo in a journal", word, |s| {
        journal(json!(format!(
            "me : TTY=pts/0 ; COMMAND=/usr/bin/mysql -uroot -p{s} -e x"
        )))
    }),
    ("keytool", word, |s| {
        plain(format!("keytool -list -keystore a.jks -storepass {s}\n"))
    }),
    ("openssl pkcs12", word, |s| {
        plain(format!(
            "openssl pkcs12 -in a.p12 -passin pass:{s} -nodes\n"
        ))
    }),
    ("restic", word, |s| {
        conf("restic.env", format!("RESTIC_PASSWORD={s}\n"))
    }),
    ("smbclient", word, |s| {
        plain(format!("smbclient //nas/x -U me%{s}\n"))
    }),
    ("xfreerdp", word, |s| {
        plain(format!("xfreerdp /u:me /p:{s} /v:10.0.0.9\n"))
    }),
    ("lftp", word, |s| {
        plain(format!("lftp -u me,{s} sftp://x\n"))
    }),
    ("ldapmodify", word, |s| {
        plain(format!("ldapmodify -x -D cn=admin -w {s} -f a.ldif\n"))
    }),
    ("openstack", word, |s| {
        plain(format!(
            "openstack --os-username me --os-password {s} server list\n"
        ))
    }),
];

/// Secrets behind other writing: escapes, colours, line ends, encodings.
const WRAPPED: &[Shape] = &[
    ("klog with JSON escaped in it", word, |s| {
        plain(format!(
            "I1120 10:15:00.000000 1 x.go:1] \"config\" data=\"{{\\\"auth\\\":{{\\\"password\\\":\\\"{s}\\\"}}}}\"\n"
        ))
    }),
    ("env with Windows line ends", word, |s| {
        conf("a.env", format!("A=1\r\nDB_PASSWORD={s}\r\nB=2\r\n"))
    }),
    ("YAML with Windows line ends", word, |s| {
        conf(
            "a.yaml",
            format!("db:\r\n  password: |\r\n    {s}\r\n  port: 1\r\n"),
        )
    }),
    ("colour between name and value", word, |s| {
        plain(format!(
            "\u{1b}[32mpassword\u{1b}[0m=\u{1b}[36m{s}\u{1b}[0m host=db\n"
        ))
    }),
    ("colour before the name", word, |s| {
        plain(format!("\u{1b}[31mapi_key={s}\u{1b}[0m host=db\n"))
    }),
    ("name URL-encoded", word, |s| {
        plain(format!("POST body user%3Dme%26password%3D{s}%26x%3D1\n"))
    }),
    ("unicode escapes of Go", word, |s| {
        plain(format!("body=\"user=me\\u0026password={s}\\u0026x=1\"\n"))
    }),
    ("unicode escapes in JSON", word, |s| {
        conf(
            "a.json",
            format!("{{\"cmd\":\"x\\u0026api_key={s}\\u0026y\"}}\n"),
        )
    }),
    (
        "YAML folded over lines",
        |r| r.mixed(30),
        |s| yaml(format!("token: >\n  {}\n  tail\nport: 1\n", s)),
    ),
    ("YAML sequence of pairs", word, |s| {
        yaml(format!(
            "env:\n  - name: \"API_TOKEN\"\n    # set by ops\n    value: {s}1A\n"
        ))
    }),
    ("YAML explicit key", word, |s| {
        yaml(format!("? password\n: {s}\nport: 1\n"))
    }),
    ("journal export, binary field", word, |s| {
        let text = format!("a\npassword={s}\n");
        let mut bytes = b"__CURSOR=x\nMESSAGE\n".to_vec();
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(b"\nPRIORITY=6\n\n");
        let mut document = conf("x.export", String::new());
        document.bytes = bytes;
        document
    }),
    ("big-endian UTF-16", word, |s| {
        let mut document = conf("a.reg", String::new());
        let text = format!("\u{feff}DB_PASSWORD={s}\r\n");
        document.bytes = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        document
    }),
    ("UTF-16 without a mark", word, |s| {
        let mut document = conf("a.reg", String::new());
        let text = format!("A=1\r\nDB_PASSWORD={s}\r\n");
        document.bytes = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        document
    }),
    ("Python repr of bytes", word, |s| {
        plain(format!("config {{b'password': b'{s}'}}\n"))
    }),
    ("Ruby hash", word, |s| {
        plain(format!("{{:password=>\"{s}\", :user=>\"me\"}}\n"))
    }),
    ("PHP array", word, |s| {
        plain(format!("'db_password' => '{s}',\n"))
    }),
    ("logfmt with a dotted name", word, |s| {
        plain(format!("level=info db.password={s} db.host=x\n"))
    }),
    ("Go struct with +v", word, |s| {
        plain(format!("&{{Username:me Password:{s} Host:db}}\n"))
    }),
    ("Java toString", word, |s| {
        plain(format!("Config(user=me, password={s}, host=db)\n"))
    }),
    ("Kubernetes env dump", word, |s| {
        plain(format!(
            "    Environment:\n      DB_PASSWORD:  {s}\n      MODE:         fast\n"
        ))
    }),
    ("docker inspect", word, |s| {
        conf(
            "inspect.json",
            format!(
                "[\n  {{\n    \"Env\": [\n      \"PATH=/bin\",\n      \"DB_PASSWORD={s}\"\n    ]\n  }}\n]\n"
            ),
        )
    }),
    ("ps e environment", word, |s| {
        plain(format!(
            "1 ? Ss 0:00 /bin/app HOME=/ DB_PASSWORD={s} LANG=C\n"
        ))
    }),
    ("proxy in lower case", word, |s| {
        conf(
            "environment",
            format!("http_proxy=http://me:{s}@proxy:3128/\n"),
        )
    }),
    ("proxy in kubelet drop-in", word, |s| {
        conf(
            "proxy.conf",
            format!("[Service]\nEnvironment=\"HTTPS_PROXY=http://me:{s}@proxy:3128\"\n"),
        )
    }),
    (
        "helm values in base64 over lines",
        |r| r.mixed(18),
        |s| {
            let text = b64(format!(
                "image: x\nadminPassword: {s}\nport: 8080\nmore: {}\n",
                "y".repeat(80)
            ));
            let lines: Vec<&str> = text
                .as_bytes()
                .chunks(76)
                .filter_map(|part| std::str::from_utf8(part).ok())
                .collect();
            conf("a.b64", format!("{}\n", lines.join("\n")))
        },
    ),
    ("tab-separated", word, |s| {
        plain(format!("user\tme\npassword\t{s}\n"))
    }),
    ("aligned table", word, |s| {
        plain(format!("Username        me\nPassword        {s}\n"))
    }),
];
