//! What is said of a kubeconfig that cannot be used.

use super::*;

async fn complaint(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config");
    std::fs::write(&file, text).unwrap();
    let error = check(&file, None).await.unwrap_err().to_string();
    error.replace(&file.display().to_string(), "FILE")
}

const HEAD: &str = "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n";

#[tokio::test]
async fn a_bad_kubeconfig_is_named_with_the_field() {
    assert_eq!(
        complaint("kind: Config\n").await,
        "FILE: current-context: not set"
    );
    assert_eq!(
        complaint("current-context: b\n").await,
        "FILE: current-context (or --context): there is no context named \"b\""
    );
    assert_eq!(
        complaint(HEAD).await,
        "FILE: contexts[].context.cluster: there is no cluster named \"c\""
    );
    let no_server = format!("{HEAD}clusters: [{{name: c, cluster: {{}}}}]\n");
    assert_eq!(
        complaint(&no_server).await,
        "FILE: clusters[].cluster.server: not set"
    );
    let bad_ca = format!(
        "{HEAD}clusters: [{{name: c, cluster: {{server: 'https://x', certificate-authority-data: '%%'}}}}]\n"
    );
    assert!(
        complaint(&bad_ca)
            .await
            .starts_with("FILE: clusters[].cluster.certificate-authority")
    );
    assert!(
        complaint("a: [\n")
            .await
            .starts_with("FILE: not a kubeconfig: ")
    );
}

#[tokio::test]
async fn what_the_user_of_a_kubeconfig_lacks_is_named_with_the_field() {
    let head = format!("{HEAD}clusters: [{{name: c, cluster: {{server: 'https://x'}}}}]\n");
    let user = |user: &str| format!("{head}users: [{{name: u, user: {{{user}}}}}]\n");
    assert_eq!(
        complaint(&head).await,
        "FILE: contexts[].context.user: there is no user named \"u\""
    );
    for (fields, said) in [
        (
            "client-certificate: /nonexistent/crt, client-key: /nonexistent/key",
            "FILE: users[].user.client-certificate: /nonexistent/crt: No such file",
        ),
        (
            "tokenFile: /nonexistent/token",
            "FILE: users[].user.tokenFile: /nonexistent/token: No such file",
        ),
        (
            "client-certificate-data: YWJj, client-key-data: YWJj",
            "FILE: users[].user.client-certificate(-data), client-key(-data): ",
        ),
    ] {
        let said_here = complaint(&user(fields)).await;
        assert!(said_here.starts_with(said), "{said_here}");
    }
}

#[tokio::test]
async fn an_absent_kubeconfig_is_named() {
    let error = check(Path::new("/nonexistent/kubeconfig"), None)
        .await
        .unwrap_err();
    assert!(
        error.to_string().starts_with("/nonexistent/kubeconfig: "),
        "{error}"
    );
}

#[tokio::test]
async fn a_login_helper_of_a_file_that_was_merely_found_is_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config");
    let text = format!(
        "{HEAD}clusters: [{{name: c, cluster: {{server: 'https://x'}}}}]\nusers: [{{name: u, user: {{exec: {{apiVersion: v1, command: aws}}}}}}]\n"
    );
    std::fs::write(&file, text).unwrap();
    let place = Origin::Found("/var/lib/kubelet/kubeconfig".to_owned());
    let error = load(&place, Some(file.clone()), None)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("\"aws\""), "{error}");
    assert!(
        load(&Origin::Named(file.clone()), Some(file), None)
            .await
            .is_ok()
    );
}
