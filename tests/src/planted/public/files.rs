//! Files as their programs write them.

use serde_json::json;

use super::{Shape, word};
use crate::planted::places::{b64, conf, plain, toml, yaml};

pub(super) const SHAPES: &[Shape] = &[
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
