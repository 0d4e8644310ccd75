//! Certificates: both sides show one, and each accepts only those of one authority.
//!
//! TLS 1.3 within QUIC, with ring's cryptography. The name in an endpoint's certificate says which endpoint it is.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quinn::TransportConfig;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{CertificateError, ClientConfig, RootCertStore, ServerConfig};
use serde::Deserialize;

/// What both sides agree on before the first datagram.
const ALPN: &[u8] = b"netnum/1";

/// Files of a side's certificate, in PEM.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificates {
    /// Certificates of the authority that has signed the other side's.
    pub authority: PathBuf,
    /// The certificate of this side, and those between it and the authority.
    pub certificate: PathBuf,
    /// The private key of this side.
    pub key: PathBuf,
}

/// Certificates that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", file.display())]
pub struct BadCertificates {
    file: PathBuf,
    what: String,
}

impl Certificates {
    /// These files, where they are relative within such a folder.
    pub fn within(mut self, folder: &std::path::Path) -> Self {
        for file in [&mut self.authority, &mut self.certificate, &mut self.key] {
            *file = folder.join(&*file);
        }
        self
    }

    /// The allocator's side.
    ///
    /// # Errors
    /// [`BadCertificates`] names the file.
    pub(crate) fn server(&self, idle: Duration) -> Result<quinn::ServerConfig, BadCertificates> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(self.roots()?), provider.clone());
        let verifier = verifier.build().map_err(|error| wrong(&self.authority, error))?;
        let (chain, key) = self.own()?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| wrong(&self.certificate, error))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .map_err(|error| self.unfit(error))?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        // Every connection shows its certificate: none goes on from an earlier one.
        (config.session_storage, config.send_tls13_tickets) = (Arc::new(NoServerSessionStorage {}), 0);
        let crypto = QuicServerConfig::try_from(config).map_err(|error| wrong(&self.certificate, error))?;
        let mut config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(transport(idle));
        Ok(config)
    }

    /// The endpoint's side.
    ///
    /// # Errors
    /// [`BadCertificates`] names the file.
    pub(crate) fn client(&self, idle: Duration) -> Result<quinn::ClientConfig, BadCertificates> {
        let (chain, key) = self.own()?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| wrong(&self.certificate, error))?
            .with_root_certificates(self.roots()?)
            .with_client_auth_cert(chain, key)
            .map_err(|error| self.unfit(error))?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        let crypto = QuicClientConfig::try_from(config).map_err(|error| wrong(&self.certificate, error))?;
        let mut config = quinn::ClientConfig::new(Arc::new(crypto));
        config.transport_config(transport(idle));
        Ok(config)
    }

    /// What an endpoint that trusts the same authority finds in the certificate of this side.
    ///
    /// # Errors
    /// [`BadCertificates`] names the file.
    pub(crate) fn seen_by_endpoints(&self) -> Result<Seen, BadCertificates> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(self.roots()?), provider).build();
        let verifier = verifier.map_err(|error| wrong(&self.authority, error))?;
        let chain = read_certificates(&self.certificate)?;
        let names = names_in(&chain);
        let Some(name) = names.iter().find_map(|name| ServerName::try_from(name.as_str()).ok()) else {
            let why = "it has no subjectAltName with a name of a host: openssl x509 takes one from -extfile";
            return Ok(Seen { names, days: None, refused: Some(why.into()) });
        };
        let error_at = |time| verifier.verify_server_cert(&chain[0], &chain[1..], &name, &[], time).err();
        let now = UnixTime::now();
        // After the end of all certificates it is an error that says when this one's was.
        let days = match error_at(UnixTime::since_unix_epoch(Duration::MAX)) {
            Some(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
                Some(not_after.as_secs().saturating_sub(now.as_secs()) / (24 * 3600))
            }
            _ => None,
        };
        let refused = error_at(now).map(|error| error.to_string());
        Ok(Seen { names, days, refused })
    }

    fn roots(&self) -> Result<RootCertStore, BadCertificates> {
        let mut roots = RootCertStore::empty();
        for certificate in read_certificates(&self.authority)? {
            roots.add(certificate).map_err(|error| wrong(&self.authority, error))?;
        }
        Ok(roots)
    }

    /// A certificate and a key that do not fit.
    fn unfit(&self, error: rustls::Error) -> BadCertificates {
        wrong(&self.certificate, format!("with the key {}: {error}", self.key.display()))
    }

    fn own(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), BadCertificates> {
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| wrong(&self.key, error))?;
        Ok((read_certificates(&self.certificate)?, key))
    }
}

/// A certificate as endpoints see it.
pub(crate) struct Seen {
    /// Whose it is.
    names: Vec<String>,
    /// For how many whole days it holds from now on.
    days: Option<u64>,
    /// Why endpoints refuse it.
    pub(crate) refused: Option<String>,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = if self.names.is_empty() { "nobody".into() } else { self.names.join(", ") };
        write!(f, "certificate of {whose}")?;
        self.days.map_or(Ok(()), |days| write!(f, ", for {days} days"))
    }
}

/// The names in the certificate that the other side has shown.
pub(crate) fn names(connection: &quinn::Connection) -> Vec<String> {
    let identity = connection.peer_identity().and_then(|identity| identity.downcast::<Vec<CertificateDer<'_>>>().ok());
    identity.map_or_else(Vec::new, |chain| names_in(&chain))
}

fn names_in(chain: &[CertificateDer<'_>]) -> Vec<String> {
    let Some(leaf) = chain.first() else { return Vec::new() };
    match webpki::EndEntityCert::try_from(leaf) {
        Ok(certificate) => certificate.valid_dns_names().map(str::to_string).collect(),
        Err(_) => Vec::new(),
    }
}

fn read_certificates(file: &PathBuf) -> Result<Vec<CertificateDer<'static>>, BadCertificates> {
    let all = CertificateDer::pem_file_iter(file).map_err(|error| wrong(file, error))?;
    let all: Vec<_> = all.collect::<Result<_, _>>().map_err(|error| wrong(file, error))?;
    if all.is_empty() { Err(wrong(file, "there is no certificate in it")) } else { Ok(all) }
}

fn wrong(file: &std::path::Path, what: impl ToString) -> BadCertificates {
    BadCertificates { file: file.into(), what: what.to_string() }
}

/// No streams: everything is a datagram, and what is not heard of for so long is gone.
fn transport(idle: Duration) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.max_concurrent_bidi_streams(0_u8.into()).max_concurrent_uni_streams(0_u8.into());
    // Until the first round trip is measured: the allocator is near.
    transport.initial_rtt(Duration::from_millis(10));
    transport.max_idle_timeout(idle.try_into().ok());
    // A datagram that waits is stale: the newest takes its place, as the state machines resend.
    transport.datagram_send_buffer_size(64 * 1024);
    Arc::new(transport)
}
