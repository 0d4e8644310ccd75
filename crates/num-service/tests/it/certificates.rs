//! Certificates for tests and for the testbed.

use std::fs;
use std::path::{Path, PathBuf};

use netnum_service::Certificates;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

/// An authority that signs certificates, all in one folder.
pub(crate) struct Authority {
    folder: PathBuf,
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        fs::create_dir_all(folder).unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let file = folder.join(format!("{name}.pem"));
        fs::write(&file, params.self_signed(&key).unwrap().pem()).unwrap();
        Self { folder: folder.into(), issuer: Issuer::new(params, key), file }
    }

    /// A certificate of this name.
    pub(crate) fn sign(&self, name: &str) -> Certificates {
        self.sign_until(name, 2100)
    }

    /// A certificate of this name that holds from 2020 to such a year.
    pub(crate) fn sign_until(&self, name: &str, year: i32) -> Certificates {
        self.sign_for(vec![name.to_string()], name, year)
    }

    /// A certificate of these names, in files of such a name.
    pub(crate) fn sign_for(&self, names: Vec<String>, file: &str, year: i32) -> Certificates {
        let mut params = CertificateParams::new(names).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(year, 1, 1));
        let key = KeyPair::generate().unwrap();
        let signed = params.signed_by(&key, &self.issuer).unwrap();
        let [certificate, private] = ["pem", "key"].map(|kind| self.folder.join(format!("{file}-{year}.{kind}")));
        fs::write(&certificate, signed.pem()).unwrap();
        fs::write(&private, key.serialize_pem()).unwrap();
        Certificates { authority: self.file.clone(), certificate, key: private }
    }
}
