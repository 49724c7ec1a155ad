//! Where new keys and serial numbers come from.

use std::{
    fmt::Debug,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver},
    },
};

use capstan_base::Entropy;

use crate::{Algorithm, Error, PrivateKey};

/// Makes private keys and the serial numbers of certificates.
pub trait KeySource: Debug + Send + Sync + 'static {
    /// A new private key. May take a second for RSA unless the source keeps some ready.
    fn key(&self, algorithm: Algorithm) -> Result<PrivateKey, Error>;

    /// A new serial number: positive, and random enough not to repeat within one authority.
    fn serial_number(&self) -> u64;
}

/// A positive number of 63 random bits, the range upstream draws serial numbers from.
fn serial_number(entropy: &dyn Entropy) -> u64 {
    (entropy.number() >> 1).max(1)
}

/// Makes each key of the algorithm asked for, at the moment it is asked for.
#[derive(Debug, Clone)]
pub struct SystemKeys {
    entropy: Arc<dyn Entropy>,
}

impl SystemKeys {
    /// A source that draws from `entropy`.
    pub fn new(entropy: Arc<dyn Entropy>) -> Self {
        Self { entropy }
    }
}

impl KeySource for SystemKeys {
    fn key(&self, algorithm: Algorithm) -> Result<PrivateKey, Error> {
        PrivateKey::generate(algorithm, &*self.entropy)
    }

    fn serial_number(&self) -> u64 {
        serial_number(&*self.entropy)
    }
}

/// Makes cheap P-256 keys whatever algorithm is asked for: for simulations, where thousands of clusters are made and
/// every byte has to follow from the seed of `entropy`.
#[derive(Debug, Clone)]
pub struct UniformKeys {
    entropy: Arc<dyn Entropy>,
}

impl UniformKeys {
    /// A source that draws from `entropy`.
    pub fn new(entropy: Arc<dyn Entropy>) -> Self {
        Self { entropy }
    }
}

impl KeySource for UniformKeys {
    fn key(&self, _algorithm: Algorithm) -> Result<PrivateKey, Error> {
        PrivateKey::generate(Algorithm::EcdsaP256, &*self.entropy)
    }

    fn serial_number(&self) -> u64 {
        serial_number(&*self.entropy)
    }
}

/// Keeps some keys of the default algorithm ready, made by a thread of its own in the background, since one of them
/// costs a good part of a second. Only for live processes: which key a caller gets depends on timing.
///
/// The thread sleeps while enough keys are ready and ends when the pool is dropped.
#[derive(Debug)]
pub struct KeyPool {
    direct: SystemKeys,
    ready: Mutex<Receiver<PrivateKey>>,
}

impl KeyPool {
    /// A pool that keeps up to `depth` keys ready, plus one in the making.
    ///
    /// # Errors
    /// When the operating system refuses a thread.
    pub fn start(entropy: Arc<dyn Entropy>, depth: NonZeroUsize) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::sync_channel(depth.get());
        let maker = SystemKeys::new(entropy.clone());
        std::thread::Builder::new()
            .name("key-pool".to_owned())
            .spawn(move || {
                while let Ok(key) = maker.key(Algorithm::default()) {
                    if sender.send(key).is_err() {
                        break;
                    }
                }
            })?;
        Ok(Self {
            direct: SystemKeys::new(entropy),
            ready: Mutex::new(receiver),
        })
    }
}

impl KeySource for KeyPool {
    fn key(&self, algorithm: Algorithm) -> Result<PrivateKey, Error> {
        if algorithm == Algorithm::default()
            && let Ok(key) = self
                .ready
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .try_recv()
        {
            return Ok(key);
        }
        self.direct.key(algorithm)
    }

    fn serial_number(&self) -> u64 {
        self.direct.serial_number()
    }
}
