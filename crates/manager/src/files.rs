//! Private files of the data folder: written whole or not at all, readable by their owner only.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
};

use crate::error::StartError;

/// Creates a folder (mode 0700) where it is missing.
pub(crate) fn create_folder(path: &Path) -> Result<(), StartError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| StartError::file("create the folder", path, source))
}

/// The content of a file; none if there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, StartError> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StartError::file("read", path, source)),
    }
}

/// Makes `content` the content of a file (mode 0600), so that a reader at any moment, and after a power cut too, finds
/// the old or the new content. Writes nothing if the file has it already.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), StartError> {
    if read(path)?.is_some_and(|it| it == content) {
        return Ok(());
    }
    replace(path, content).map_err(|source| StartError::file("write", path, source))
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let draft = path.with_file_name(name);
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    // The rename itself is durable once the folder is.
    path.parent()
        .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_is_private_and_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubeconfig");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn equal_content_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.crt");
        write(&path, b"same").unwrap();
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        write(&path, b"same").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    }

    #[test]
    fn what_is_missing_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("nothing")).unwrap(), None);
    }

    #[test]
    fn a_folder_that_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gone/kubeconfig");
        let error = write(&path, b"x").unwrap_err();
        assert_eq!(error.to_string(), format!("failed to write {}", path.display()));
    }
}
