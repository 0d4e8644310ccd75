//! What tests ask a daemon.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use netnum_service::Certificates;
use netnum_service::daemon::Daemon;
use quinn::crypto::rustls::QuicClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub(crate) fn get(address: SocketAddr, page: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {page} HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

pub(crate) fn metric(daemon: &Daemon, name: &str) -> f64 {
    let text = get(daemon.status_address().unwrap(), "/metrics");
    let line = text.lines().find(|line| line.starts_with(&format!("{name} "))).expect("it has the metric");
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// QUIC of a client that knows the authority, and may show its own certificate.
pub(crate) fn client_config(tls: &Certificates, shows_own: bool) -> quinn::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(&tls.authority).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_root_certificates(roots);
    let mut config = if shows_own {
        let chain = vec![CertificateDer::from_pem_file(&tls.certificate).unwrap()];
        builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_file(&tls.key).unwrap()).unwrap()
    } else {
        builder.with_no_client_auth()
    };
    config.alpn_protocols = vec![b"netnum/1".to_vec()];
    quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(config).unwrap()))
}
