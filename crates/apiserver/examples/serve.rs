//! A bare API server in memory, with TLS and a kubeconfig: `cargo run --example serve -- KUBECONFIG [ADDRESS:PORT]`.
//! It serves pods/portforward as an echo, for trying clients out.

use std::{error::Error, sync::Arc};

use capstan_apiserver::{Duplex, PortForward, Server, http::tls::server_config};
use capstan_base::{Clock, Entropy, SystemClock, SystemEntropy};
use capstan_pki::{Algorithm, Authority, Kubeconfig, Request, SystemKeys};
use capstan_store::{Options, Store};
use rustls::{
    crypto::ring::sign::any_supported_type,
    sign::{CertifiedKey, SingleCertAndKey},
};
use tokio::net::TcpListener;

struct Echo;

impl PortForward for Echo {
    fn open(&self, _namespace: &str, _pod: &str, _port: u16) -> Result<Box<dyn Duplex>, String> {
        let (near, far) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move {
            let (mut reader, mut writer) = tokio::io::split(far);
            // The client closing its end is how an echo ends.
            let _ = tokio::io::copy(&mut reader, &mut writer).await;
        });
        Ok(Box::new(near))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: serve KUBECONFIG [ADDRESS:PORT]")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    tracing_subscriber::fmt()
        .with_env_filter("info,capstan_apiserver=debug")
        .init();

    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
    let keys = SystemKeys::new(Arc::clone(&entropy));
    let validity = jiff::SignedDuration::from_hours(24 * 365);
    let authority = Authority::generate("serve", Algorithm::EcdsaP256, validity, clock.now(), &keys)?;
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let serving = authority.issue(
        &Request::server("serve", names),
        Algorithm::EcdsaP256,
        clock.now(),
        &keys,
    )?;
    let key = any_supported_type(&serving.key.to_rustls()?)?;
    let certified = CertifiedKey::new(vec![serving.certificate.to_rustls()], key);
    let resolver = Arc::new(SingleCertAndKey::from(certified));
    let config = server_config(resolver, &[authority.certificate().to_rustls()])?;

    let store = Store::memory(Options::new(Arc::clone(&clock)));
    let server = Server::builder(store, Arc::clone(&clock), entropy)
        .port_forward(Arc::new(Echo))
        .build()
        .await?;
    let listener = TcpListener::bind(&address).await?;
    let url = format!("https://{}", listener.local_addr()?);
    let kubeconfig = Kubeconfig::for_administrator(
        "serve",
        &url,
        &authority,
        Algorithm::EcdsaP256,
        clock.now(),
        &keys,
    )?;
    std::fs::write(&path, kubeconfig.to_yaml()?.expose())?;
    tracing::info!(url, kubeconfig = path, "serving");
    server.serve_tls(listener, Arc::new(config)).await;
    Ok(())
}
