//! Why a plane does not start. Every error names the file, address or object.

use std::{
    io::{self, ErrorKind},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use thiserror::Error;

/// Why a plane does not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The data folder cannot be opened.
    #[error("failed to open the store")]
    Store(#[from] capstan_store::OpenError),
    /// A file of the data folder cannot be used.
    #[error("failed to {operation} {}", path.display())]
    File {
        /// What was tried.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// A certificate or key of the data folder cannot be read.
    #[error("failed to read the certificate authority in {}", folder.display())]
    Authority {
        /// The folder of the certificates.
        folder: PathBuf,
        /// What is wrong.
        source: capstan_pki::Error,
    },
    /// A certificate cannot be issued.
    #[error("failed to issue the certificate of {holder}")]
    Issue {
        /// Whose certificate.
        holder: &'static str,
        /// What is wrong.
        source: capstan_pki::Error,
    },
    /// The serving certificate cannot be used.
    #[error("failed to set up TLS")]
    Tls(#[source] capstan_apiserver::http::tls::TlsError),
    /// The serving key does not fit TLS.
    #[error("failed to use the serving certificate")]
    ServingKey(#[source] rustls::Error),
    /// The address cannot be listened on.
    #[error("failed to listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system answered.
        source: io::Error,
    },
    /// The API server does not start.
    #[error("failed to start the API server: {0}")]
    Server(String),
    /// A definition cannot be installed.
    #[error("failed to install the CustomResourceDefinition {name}")]
    Definition {
        /// Its name.
        name: String,
        /// What the API server answered.
        source: Box<kube::Error>,
    },
}

impl StartError {
    pub(crate) fn file(operation: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File {
            operation,
            path: path.to_owned(),
            source,
        }
    }

    /// What the user can do about it, if anything is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Listen { address, source } => match source.kind() {
                ErrorKind::AddrInUse => Some(format!(
                    "another process listens on {address}: stop it, or choose another port with --listen"
                )),
                ErrorKind::AddrNotAvailable => {
                    Some("the address is none of this host's: choose another with --listen".to_owned())
                }
                ErrorKind::PermissionDenied => {
                    Some("this user may not use the port: choose one above 1023 with --listen".to_owned())
                }
                _ => None,
            },
            Self::File { path, source, .. } => match source.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                    Some("the disk is full: free space, or choose another folder with --data-dir".to_owned())
                }
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Some(format!(
                    "make {} writable for this user, or choose another folder with --data-dir",
                    path.parent().unwrap_or(path).display()
                )),
                _ => None,
            },
            Self::Authority { folder, .. } => Some(format!(
                "restore the files from a backup, or remove {} to get a new authority (old kubeconfigs then stop \
                 working)",
                folder.display()
            )),
            _ => None,
        }
    }
}
