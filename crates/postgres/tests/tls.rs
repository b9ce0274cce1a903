//! TLS, with a certificate of an authority of the tests' own.

use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use runstate_postgres::{PostgresOptions, PostgresStore};
use runstate_store::StoreError;

use runstate_postgres_server::{Server, Setup, for_tests};

use crate::cluster::{self, Place};

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A server whose certificate is for `localhost`, from the authority in `root.pem`.
fn server() -> Option<Server> {
    let (ours, other) = (authority("ours"), authority("other"));
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &ours).unwrap();
    let setup = Setup::new()
        .setting("ssl=on")
        .setting("ssl_cert_file=../server.pem")
        .setting("ssl_key_file=../server.key")
        .file("root.pem", ours.pem())
        .file("other.pem", other.pem())
        .file("empty.pem", "nothing")
        .file("server.pem", certificate.pem())
        .file("server.key", key.serialize_pem());
    for_tests(setup)
}

#[tokio::test]
async fn the_server_proves_what_the_mode_asks_for() {
    let Some(server) = server() else { return };
    let pem = |name: &str| server.folder().join(name).display().to_string();
    let (root, other, empty, none) = (pem("root.pem"), pem("other.pem"), pem("empty.pem"), pem("none.pem"));
    for (host, mode, root, refused) in [
        ("localhost", "disable", None, None),
        ("localhost", "prefer", None, None),
        ("localhost", "require", None, None),
        ("localhost", "require", Some(&root), None),
        ("127.0.0.1", "require", Some(&root), None),
        ("localhost", "require", Some(&other), Some("invalid peer certificate: UnknownIssuer")),
        ("localhost", "verify-ca", Some(&root), None),
        ("127.0.0.1", "verify-ca", Some(&root), None),
        ("127.0.0.1", "verify-ca", Some(&other), Some("invalid peer certificate: UnknownIssuer")),
        ("localhost", "verify-full", Some(&root), None),
        ("127.0.0.1", "verify-full", Some(&root), Some("certificate not valid for name \"127.0.0.1\"")),
        ("localhost", "verify-full", Some(&other), Some("invalid peer certificate: UnknownIssuer")),
        ("localhost", "verify-full", None, Some("invalid peer certificate: UnknownIssuer")),
        ("localhost", "verify-full", Some(&empty), Some("there are none; expected certificates in PEM")),
        ("localhost", "verify-full", Some(&none), Some("No such file")),
    ] {
        let case = format!("{host} {mode} {root:?}");
        let port = server.port();
        let mut string = format!(
            "host={host} hostaddr=127.0.0.1 port={port} user=postgres dbname=postgres sslmode={mode}"
        );
        if let Some(root) = root {
            string.push_str(&format!(" sslrootcert='{root}'"));
        }
        let options = PostgresOptions::new(&string).unwrap().connections(1);
        match (PostgresStore::connect(options).await, refused) {
            (Ok(store), None) => {
                assert_eq!(is_encrypted(&server).await, mode != "disable", "{case}");
                drop(store);
            }
            (Err(StoreError::Failed(cause)), Some(refused)) => {
                assert!(cause.to_string().contains(refused), "{case}: {cause}");
            }
            (got, _) => panic!("{case}: {got:?}"),
        }
    }
}

/// Is the one connection of a store encrypted?
async fn is_encrypted(server: &Server) -> bool {
    let (client, connection) =
        tokio_postgres::connect(&server.url("postgres"), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let sql = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'runstate' ORDER BY backend_start DESC LIMIT 1";
    client.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn a_server_without_tls_is_refused_where_it_is_asked_for() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = place.url.replace("disable", mode);
        let refused = PostgresStore::connect(PostgresOptions::new(&url).unwrap()).await.unwrap_err();
        assert!(matches!(refused, StoreError::Failed(_)), "{refused:?}");
        assert!(refused.to_string().contains("server does not support TLS"), "{refused}");
    }
}

#[test]
fn options_that_cannot_work_are_told() {
    for (string, told) in [
        (
            "postgres://h/d?sslmode=all",
            "sslmode is unknown; expected disable, prefer, require, verify-ca or verify-full",
        ),
        ("mysql://h/d", "the connection string cannot be read"),
        ("postgres://h/d?prot=1", "the connection string cannot be read, and is not shown"),
        ("postgres://h/d?sslrootcert=%ff", "the value of sslrootcert is not UTF-8"),
    ] {
        let error = PostgresOptions::new(string).unwrap_err().to_string();
        assert!(error.contains(told), "{string}: {error}");
    }
    for schema in ["", "pg_mine", &"long".repeat(20), "a\0b", "a\"b", "$$"] {
        let error = PostgresOptions::new("host=h").unwrap().schema(schema).unwrap_err().to_string();
        assert!(
            error.contains(
                "expected 1 to 50 bytes of letters, digits, _, - and spaces, and no pg_ before them"
            ),
            "{error}"
        );
    }
    let options =
        PostgresOptions::new("postgres://me:secret@h/d").unwrap().root_certificates(PathBuf::from("/x"));
    assert!(!format!("{options:?}").contains("secret"), "{options:?}");
}
