//! Files that go into containers and come out of them.

use std::io::Read as _;

use bollard::query_parameters::{DownloadFromContainerOptionsBuilder, UploadToContainerOptionsBuilder};
use bytes::Bytes;
use futures::StreamExt as _;

use super::{Docker, DockerError};

/// The largest file that is read from a container.
const LARGEST: usize = 1 << 20;

/// A file on its way into a container.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// Where it goes, relative to the folder that it is uploaded to.
    pub path: String,
    /// Its permissions, like `0o600`.
    pub mode: u32,
    /// What it holds.
    pub content: Vec<u8>,
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} bytes)", self.path, self.content.len())
    }
}

/// The files as a tar archive, every folder above them included.
fn archive(files: &[File]) -> std::io::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut folders = std::collections::BTreeSet::new();
    for file in files {
        let mut above = String::new();
        for part in file
            .path
            .split('/')
            .collect::<Vec<_>>()
            .split_last()
            .map_or(&[][..], |it| it.1)
        {
            above.push_str(part);
            above.push('/');
            if folders.insert(above.clone()) {
                let mut header = tar::Header::new_gnu();
                header.set_entry_type(tar::EntryType::Directory);
                header.set_size(0);
                header.set_mode(0o700);
                builder.append_data(&mut header, &above, std::io::empty())?;
            }
        }
        let mut header = tar::Header::new_gnu();
        header.set_size(file.content.len() as u64);
        header.set_mode(file.mode);
        builder.append_data(&mut header, &file.path, file.content.as_slice())?;
    }
    builder.into_inner()
}

impl Docker {
    /// Writes files below a folder of a container, which need not run.
    pub async fn upload(&self, name: &str, folder: &str, files: &[File]) -> Result<(), DockerError> {
        let archive = archive(files)
            .map_err(|it| DockerError::refused("pack files for container", name, it.to_string()))?;
        let options = UploadToContainerOptionsBuilder::new().path(folder).build();
        let body = bollard::body_full(Bytes::from(archive));
        let sent = self
            .client()
            .await?
            .upload_to_container(name, Some(options), body)
            .await;
        sent.map_err(|it| self.error("write files to container", name, it))
    }

    /// Reads a file of a container, which need not run; none if there is none.
    pub async fn read_file(&self, name: &str, path: &str) -> Result<Option<Vec<u8>>, DockerError> {
        let options = DownloadFromContainerOptionsBuilder::new().path(path).build();
        let mut parts = Box::pin(self.client().await?.download_from_container(name, Some(options)));
        let mut bytes = Vec::new();
        while let Some(part) = parts.next().await {
            match part.map_err(|it| self.error("read a file of container", name, it)) {
                Ok(part) => bytes.extend_from_slice(&part),
                Err(error) if error.is_not_found() => return Ok(None),
                Err(error) => return Err(error),
            }
            if bytes.len() > LARGEST {
                let message = format!("{path} is larger than {LARGEST} bytes");
                return Err(DockerError::refused("read a file of container", name, message));
            }
        }
        let mut archive = tar::Archive::new(bytes.as_slice());
        let mut content = Vec::new();
        let read = archive
            .entries()
            .and_then(|mut entries| entries.next().transpose())
            .and_then(|entry| entry.map(|mut it| it.read_to_end(&mut content)).transpose());
        read.map_err(|it| DockerError::refused("read a file of container", name, it.to_string()))?;
        Ok(Some(content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_what_is_in_them_and_once() {
        let file = |path: &str| File {
            path: path.to_owned(),
            mode: 0o600,
            content: b"x".to_vec(),
        };
        let bytes = archive(&[file("a/b/one"), file("a/two"), file("three")]).unwrap();
        let mut names = Vec::new();
        for entry in tar::Archive::new(bytes.as_slice()).entries().unwrap() {
            let entry = entry.unwrap();
            let mode = entry.header().mode().unwrap();
            names.push(format!("{} {mode:o}", entry.path().unwrap().display()));
        }
        assert_eq!(
            names,
            ["a/ 700", "a/b/ 700", "a/b/one 600", "a/two 600", "three 600"]
        );
    }
}
