//! Lines whose names or words sound like a secret.

use serde_json::json;

use super::{Sort, item, sort, whole};
use crate::planted::kinds::base64;

/// Lines whose names or words sound like a secret.
pub(super) const SORTS: &[Sort] = &[
    sort("secret reference", "a.json", |r| {
        item(
            json!({"env":[{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"name":format!("db-{}", r.hex(6)),"key":"password"}}}]}),
        )
    }),
    sort("secret volume", "a.json", |r| {
        item(
            json!({"volumes":[{"name":"v","secret":{"secretName":format!("tls-{}", r.hex(6)),"defaultMode":420}}]}),
        )
    }),
    sort("pull secret", "a.json", |r| {
        item(json!({"imagePullSecrets":[{"name":format!("ngc-secret-{}", r.hex(4))}]}))
    }),
    sort("token projection", "a.json", |r| {
        item(
            json!({"projected":{"sources":[{"serviceAccountToken":{"path":"token","expirationSeconds":3600 + r.below(10)}}]}}),
        )
    }),
    sort("token mount switch", "a.json", |r| {
        item(json!({"automountServiceAccountToken":r.below(2) == 0,"serviceAccountName":"default"}))
    }),
    sort("key file path", "a.yaml", |r| {
        whole(format!(
            "tlsPrivateKeyFile: /var/lib/kubelet/pki/{}.key\n",
            r.hex(6)
        ))
    }),
    sort("key file flag", "a.log", |r| {
        whole(format!(
            "kubelet --tls-private-key-file=/etc/kubernetes/pki/{}.key --v=2\n",
            r.hex(6)
        ))
    }),
    sort("token file flag", "a.log", |r| {
        whole(format!(
            "x --token-auth-file=/etc/tokens-{}.csv --authorization-mode=Node,RBAC\n",
            r.hex(4)
        ))
    }),
    sort("kubeconfig flag", "a.log", |r| {
        whole(format!(
            "kubelet --bootstrap-kubeconfig=/etc/kubernetes/b-{}.conf --kubeconfig=/etc/kubernetes/kubelet.conf\n",
            r.hex(4)
        ))
    }),
    sort("environment reference", "a.yaml", |r| {
        whole(format!("password: $(DB_PASSWORD_{})\n", r.capitals(3)))
    }),
    sort("template reference", "a.yaml", |r| {
        whole(format!("password: {{{{ .Values.db{} }}}}\n", r.hex(3)))
    }),
    sort("existing secret", "a.yaml", |r| {
        whole(format!(
            "existingSecret: db-{}\nexistingSecretPasswordKey: password\n",
            r.hex(5)
        ))
    }),
    sort("log about a token", "a.log", |r| {
        whole(format!(
            "E1120 10:15:00.{} 1 auth.go:1] unable to get token: context deadline exceeded\n",
            r.text(6, "0123456789")
        ))
    }),
    sort("log about a password", "a.log", |r| {
        whole(format!(
            "pam_unix(sshd:auth): authentication failure; user{} password check failed\n",
            r.hex(3)
        ))
    }),
    sort("log about a key", "a.log", |r| {
        whole(format!(
            "time=x level=info msg=\"key not found\" key=/registry/pods/shop/web-{}\n",
            r.hex(6)
        ))
    }),
    sort("log about secrets", "a.log", |r| {
        whole(format!(
            "MountVolume.SetUp failed for volume \"certs\" : secret \"tls-{}\" not found\n",
            r.hex(5)
        ))
    }),
    sort("log about authorization", "a.log", |r| {
        whole(format!(
            "pods is forbidden: User \"u{}\" cannot list resource \"secrets\" in API group \"\"\n",
            r.hex(4)
        ))
    }),
    sort("basic words", "a.log", |r| {
        whole(format!(
            "Basic authorization failed for request {}\n",
            r.below(10_000)
        ))
    }),
    sort("bearer words", "a.log", |r| {
        whole(format!(
            "bearer authentication is on, attempt {}\n",
            r.below(10_000)
        ))
    }),
    sort("language model tokens", "a.log", |r| {
        whole(format!(
            "prompt_tokens={} max_tokens: {} tokens_per_second={}\n",
            r.below(4096),
            1 + r.below(4096),
            r.below(99)
        ))
    }),
    sort("switches", "a.yaml", |_| {
        whole("auth: false\ncredentials: null\ntoken: \"\"\npassword: \"\"\n".to_owned())
    }),
    sort("authentication modes", "a.yaml", |r| {
        whole(format!(
            "authentication:\n  anonymous:\n    enabled: false\n  webhook:\n    cacheTTL: {}s\nauthorization:\n  mode: Webhook\n",
            r.below(500)
        ))
    }),
    sort("certificate", "a.pem", |r| {
        whole(format!(
            "-----BEGIN CERTIFICATE-----\n{}\n{}\n-----END CERTIFICATE-----\n",
            base64(r, 48),
            base64(r, 30)
        ))
    }),
    sort("certificate in base64", "a.json", |r| {
        item(
            json!({"webhooks":[{"clientConfig":{"caBundle":base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", base64(r, 48)))}}]}),
        )
    }),
    sort("certificate data", "a.yaml", |r| {
        whole(format!(
            "certificate-authority-data: {}\n",
            base64::Engine::encode(
                &base64::engine::general_purpose::STANDARD,
                format!(
                    "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
                    base64(r, 48)
                )
            )
        ))
    }),
    sort("public key", "a.pem", |r| {
        whole(format!(
            "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
            base64(r, 48)
        ))
    }),
    sort("checksum annotation", "a.json", |r| {
        item(
            json!({"annotations":{"checksum/config":r.hex(64),"checksum/secret":r.hex(64),"deprecated.daemonset.template.generation":"1"}}),
        )
    }),
    sort("template hash", "a.json", |r| {
        item(
            json!({"labels":{"pod-template-hash":r.text(10, "bcdf456789"),"controller-revision-hash":r.text(10, "bcdf456789")}}),
        )
    }),
    sort("toleration key", "a.yaml", |r| {
        whole(format!(
            "tolerations:\n- key: nvidia.com/gpu\n  operator: Exists\n  tolerationSeconds: {}\n",
            r.below(600)
        ))
    }),
    sort("match expression", "a.json", |r| {
        item(
            json!({"matchExpressions":[{"key":format!("feature.node.kubernetes.io/pci-{}.present", r.hex(4)),"operator":"In","values":["true"]}]}),
        )
    }),
    sort("config map key", "a.json", |r| {
        item(json!({"configMapKeyRef":{"key":format!("conf-{}", r.hex(4)),"name":"x"}}))
    }),
    sort("author", "a.yaml", |r| {
        whole(format!(
            "author: someone{}\nmaintainer-key-id: none\nkeywords: [gpu, cuda]\n",
            r.below(99)
        ))
    }),
    sort("session words", "a.log", |r| {
        whole(format!(
            "pam_unix(sudo:session): session opened for user root(uid=0) by (uid={})\n",
            r.below(2000)
        ))
    }),
    sort("systemd key", "a.log", |r| {
        whole(format!(
            "Unknown key name 'StartLimit{}' in section 'Service', ignoring.\n",
            r.hex(3)
        ))
    }),
    sort("keyring", "a.toml", |r| {
        whole(format!(
            "keyring = \"/etc/ceph/ceph.client.{}.keyring\"\n",
            r.hex(4)
        ))
    }),
    sort("secure boot key", "a.log", |r| {
        whole(format!(
            "integrity: Loaded X.509 cert 'Canonical Ltd. Secure Boot Signing: {}'\n",
            r.hex(40)
        ))
    }),
    sort("module signature", "a.log", |r| {
        whole(format!(
            "nvidia: module verification failed: signature and/or required key missing - tainting kernel {}\n",
            r.below(99)
        ))
    }),
    sort("sysctl keyring", "a.log", |r| {
        whole(format!(
            "kernel.keys.root_maxkeys = {}\nkernel.keys.maxbytes = 20000\n",
            r.below(100_000)
        ))
    }),
    sort("event reason", "a.json", |r| {
        item(
            json!({"kind":"Event","reason":"FailedToRetrieveImagePullSecret","message":format!("Unable to retrieve some image pull secrets (ngc-{}); attempting to pull the image may not succeed.", r.hex(4))}),
        )
    }),
    sort("image pull error", "a.json", |r| {
        item(
            json!({"message":format!("failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://nvcr.io/proxy_auth?scope=repository%3Anvidia%2Fx{}%3Apull&service=nvcr.io: 401 Unauthorized", r.hex(4))}),
        )
    }),
    sort("ssh log", "a.log", |r| {
        whole(format!(
            "Accepted publickey for ubuntu from 10.0.0.{} port 51234 ssh2: ED25519 SHA256:{}\n",
            r.below(255),
            base64(r, 32).trim_end_matches('=')
        ))
    }),
    sort("audit line", "a.log", |r| {
        whole(format!(
            "audit: type=1400 audit(1763634900.{}:81): apparmor=\"DENIED\" operation=\"open\" profile=\"snap.k8s\" key=(null)\n",
            r.text(3, "0123456789")
        ))
    }),
    sort("lease identity", "a.json", |r| {
        item(json!({"spec":{"holderIdentity":format!("gpu-1_{}", r.uuid()),"leaseTransitions":3}}))
    }),
    sort("node annotation", "a.json", |r| {
        item(
            json!({"annotations":{"volumes.kubernetes.io/controller-managed-attach-detach":"true","nfd.node.kubernetes.io/feature-labels":format!("cpu-cpuid.AESNI,cpu-model.id-{}", r.hex(3))}}),
        )
    }),
    sort("secret index", "a.json", |r| {
        item(
            json!({"metadata":{"name":format!("db-{}", r.hex(4)),"namespace":"shop"},"type":"Opaque","entries":[{"name":"password","bytes":12}]}),
        )
    }),
    sort("service account name", "a.yaml", |r| {
        whole(format!(
            "serviceAccountName: token-reader-{}\ntokenRequests: []\n",
            r.hex(3)
        ))
    }),
    sort("CSI driver", "a.json", |r| {
        item(
            json!({"spec":{"tokenRequests":[{"audience":format!("vault-{}", r.hex(3)),"expirationSeconds":600}],"requiresRepublish":true}}),
        )
    }),
    sort("TLS settings", "a.yaml", |r| {
        whole(format!(
            "tlsMinVersion: VersionTLS12\ntlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]\nrotateCertificates: true\nx: {}\n",
            r.hex(4)
        ))
    }),
    sort("nsswitch", "nsswitch.conf", |r| {
        whole(format!(
            "passwd:         files systemd\nshadow:         files\n# {}\n",
            r.hex(3)
        ))
    }),
    sort("ufw line", "a.log", |r| {
        whole(format!(
            "[UFW BLOCK] IN=cali{} OUT= MAC=ee:ee:ee:ee:ee:ee:{}:08:00 SRC=10.1.2.3 DST=10.0.0.1 LEN=60 PROTO=UDP\n",
            r.hex(11),
            "02:11:22:33:44:55"
        ))
    }),
    sort("nvidia-smi line", "a.log", |r| {
        whole(format!(
            "    Serial Number                         : {}\n    GPU UUID                              : GPU-{}\n    Minor Number                          : 0\n",
            r.text(13, "0123456789"),
            r.uuid()
        ))
    }),
    sort("command with -p and -u", "a.log", |r| {
        whole(format!(
            "journalctl -u kubelet.service -p err; mkdir -p /var/lib/x{}; ps -u root\n",
            r.hex(3)
        ))
    }),
    sort("ssh port", "a.log", |r| {
        whole(format!(
            "ssh -p {} ubuntu@gpu-1 uptime; scp -P 2222 a b:\n",
            1000 + r.below(60_000)
        ))
    }),
    sort("docker ports", "a.log", |r| {
        whole(format!(
            "docker run -d -p {}:80 -u 1000:1000 nginx\n",
            1000 + r.below(60_000)
        ))
    }),
    sort("password settings", "a.conf", |r| {
        whole(format!(
            "PasswordAuthentication no\nPermitEmptyPasswords no\nMaxAuthTries {}\nPubkeyAuthentication yes\n",
            r.below(9)
        ))
    }),
    sort("Go duration", "a.yaml", |r| {
        whole(format!(
            "tokenTTL: {}h0m0s\nauthExtraGroups: []\nkeyRotationPeriod: 24h\n",
            r.below(48)
        ))
    }),
    sort("metrics", "a.log", |r| {
        whole(format!(
            "apiserver_authentication_token_cache_fetch_total{{status=\"ok\"}} {}\n",
            r.below(9999)
        ))
    }),
    sort("stack trace", "a.log", |r| {
        whole(format!(
            "goroutine {} [select]:\nk8s.io/client-go/util/keyutil.ParsePrivateKeyPEM(0xc000{}, 0x1)\n",
            r.below(999),
            r.hex(6)
        ))
    }),
    sort("proxy without password", "a.env", |r| {
        whole(format!(
            "HTTPS_PROXY=http://proxy{}.corp:3128\nNO_PROXY=10.0.0.0/8,.svc\n",
            r.below(9)
        ))
    }),
    sort("image list", "a.log", |r| {
        whole(format!(
            "registry.k8s.io/pause@sha256:{}  3.10  {}  736kB\n",
            r.hex(64),
            r.hex(13)
        ))
    }),
    sort("API path", "a.log", |r| {
        whole(format!(
            "GET https://10.96.0.1:443/api/v1/namespaces/kube-system/secrets?limit=500&resourceVersion={}\n",
            r.below(999_999)
        ))
    }),
    sort("kernel command line", "a.log", |r| {
        whole(format!(
            "BOOT_IMAGE=/vmlinuz root=UUID={} ro quiet\n",
            r.uuid()
        ))
    }),
];
