//! Commands and their output.

use serde_json::json;

use super::{Shape, word};
use crate::planted::places::{b64, conf, journal, line, plain};

pub(super) const SHAPES: &[Shape] = &[
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
