//! Tar archives as they are used here: an index of one, and a writer of others.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use tar::{EntryType, Header};

use crate::BuildError;

/// What is at a path of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: EntryType,
    pub(crate) mode: u32,
    /// What a link points to.
    pub(crate) link: Option<PathBuf>,
    offset: u64,
    size: u64,
}

/// Where everything is in an archive. Paths have no leading slash and no trailing one.
#[derive(Debug)]
pub(crate) struct Index {
    file: PathBuf,
    pub(crate) entries: BTreeMap<PathBuf, Entry>,
}

impl Index {
    pub(crate) fn read(file: &Path) -> Result<Self, BuildError> {
        let fail = |it| BuildError::file("read", file, it);
        let mut archive = tar::Archive::new(BufReader::new(File::open(file).map_err(fail)?));
        let mut entries = BTreeMap::new();
        for entry in archive.entries_with_seek().map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let path = plain(&entry.path().map_err(fail)?);
            let link = entry.link_name().map_err(fail)?.map(|it| it.into_owned());
            let (offset, size) = (entry.raw_file_position(), entry.size());
            let found = Entry {
                kind: entry.header().entry_type(),
                mode: entry.header().mode().map_err(fail)?,
                link,
                offset,
                size,
            };
            entries.insert(path, found);
        }
        Ok(Self {
            file: file.to_owned(),
            entries,
        })
    }

    /// The entry of a path, hard links followed.
    pub(crate) fn get(&self, path: &Path) -> Option<&Entry> {
        let entry = self.entries.get(path)?;
        match (&entry.kind, &entry.link) {
            (EntryType::Link, Some(target)) => self.entries.get(&plain(target)),
            _ => Some(entry),
        }
    }

    /// What a file holds.
    pub(crate) fn content(&self, entry: &Entry) -> Result<impl Read + use<>, BuildError> {
        let fail = |it| BuildError::file("read", &self.file, it);
        let mut file = File::open(&self.file).map_err(fail)?;
        file.seek(SeekFrom::Start(entry.offset)).map_err(fail)?;
        Ok(BufReader::new(file).take(entry.size))
    }

    /// A small file as text.
    pub(crate) fn text(&self, path: &str) -> Result<Option<String>, BuildError> {
        let Some(entry) = self.get(Path::new(path)) else {
            return Ok(None);
        };
        let mut text = String::new();
        self.content(entry)?
            .read_to_string(&mut text)
            .map_err(|it| BuildError::file("read", path, it))?;
        Ok(Some(text))
    }
}

/// A path without `./` or `/` before it.
pub(crate) fn plain(path: &Path) -> PathBuf {
    path.components()
        .filter(|it| matches!(it, std::path::Component::Normal(_)))
        .collect()
}

/// Writes an archive. The same input gives the same bytes: everything is root's, and of one time. What is written first
/// to a path stays: an Engine refuses archives that have a path twice.
pub(crate) struct Writer<W: Write> {
    builder: tar::Builder<W>,
    written: BTreeSet<PathBuf>,
}

impl Writer<BufWriter<File>> {
    /// A writer to a new file.
    pub(crate) fn create(path: &Path) -> Result<Self, BuildError> {
        let file = File::create(path).map_err(|it| BuildError::file("write", path, it))?;
        Ok(Self::new(BufWriter::new(file)))
    }
}

impl<W: Write> Writer<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self {
            builder: tar::Builder::new(inner),
            written: BTreeSet::new(),
        }
    }

    fn is_new(&mut self, path: &str) -> bool {
        self.written.insert(plain(Path::new(path)))
    }

    pub(crate) fn folder(&mut self, path: &str, mode: u32) -> Result<(), BuildError> {
        if !self.is_new(path) {
            return Ok(());
        }
        let mut header = header(EntryType::Directory, mode, 0);
        self.builder
            .append_data(&mut header, path, std::io::empty())
            .map_err(|it| BuildError::file("pack", path, it))
    }

    pub(crate) fn file(&mut self, path: &str, mode: u32, content: &[u8]) -> Result<(), BuildError> {
        if !self.is_new(path) {
            return Ok(());
        }
        let mut header = header(EntryType::Regular, mode, content.len() as u64);
        self.builder
            .append_data(&mut header, path, content)
            .map_err(|it| BuildError::file("pack", path, it))
    }

    pub(crate) fn link(&mut self, path: &str, target: &Path) -> Result<(), BuildError> {
        if !self.is_new(path) {
            return Ok(());
        }
        let mut header = header(EntryType::Symlink, 0o777, 0);
        self.builder
            .append_link(&mut header, path, target)
            .map_err(|it| BuildError::file("pack", path, it))
    }

    /// Packs a file of this machine.
    pub(crate) fn copy(&mut self, path: &str, mode: u32, source: &Path) -> Result<(), BuildError> {
        if !self.is_new(path) {
            return Ok(());
        }
        let fail = |it| BuildError::file("pack", source, it);
        let file = File::open(source).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        let mut header = header(EntryType::Regular, mode, size);
        self.builder
            .append_data(&mut header, path, BufReader::new(file))
            .map_err(fail)
    }

    /// Packs what an index has at `path`.
    pub(crate) fn take(&mut self, index: &Index, path: &Path) -> Result<(), BuildError> {
        let Some(entry) = index.get(path) else {
            return Ok(());
        };
        let name = path.display().to_string();
        match (entry.kind, &entry.link) {
            (EntryType::Symlink, Some(target)) => self.link(&name, target),
            (EntryType::Directory, _) => self.folder(&name, entry.mode),
            (EntryType::Regular, _) if self.is_new(&name) => {
                let mut header = header(EntryType::Regular, entry.mode, entry.size);
                self.builder
                    .append_data(&mut header, &name, index.content(entry)?)
                    .map_err(|it| BuildError::file("pack", &name, it))
            }
            _ => Ok(()),
        }
    }

    /// Packs everything that is in an archive but for some paths, with owners and times.
    pub(crate) fn all_but(&mut self, source: &Path, left_out: &BTreeSet<PathBuf>) -> Result<(), BuildError> {
        let fail = |it| BuildError::file("read", source, it);
        let mut archive = tar::Archive::new(BufReader::new(File::open(source).map_err(fail)?));
        for entry in archive.entries().map_err(fail)? {
            let mut entry = entry.map_err(fail)?;
            let path = entry.path().map_err(fail)?.into_owned();
            if left_out.contains(&plain(&path)) {
                continue;
            }
            let mut header = entry.header().clone();
            let packed = match entry.link_name().map_err(fail)? {
                Some(target) => {
                    let target = target.into_owned();
                    self.builder.append_link(&mut header, &path, target)
                }
                None => self.builder.append_data(&mut header, &path, &mut entry),
            };
            packed.map_err(|it| BuildError::file("pack", &path, it))?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<W, BuildError> {
        let mut inner = self
            .builder
            .into_inner()
            .map_err(|it| BuildError::file("finish", "an archive", it))?;
        inner
            .flush()
            .map_err(|it| BuildError::file("finish", "an archive", it))?;
        Ok(inner)
    }
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_from_an_archive_is_what_was_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tar");
        let mut writer = Writer::create(&path).unwrap();
        writer.folder("usr/", 0o755).unwrap();
        writer.file("./usr/one", 0o644, b"hello").unwrap();
        writer.link("usr/two", Path::new("one")).unwrap();
        writer.finish().unwrap();

        let index = Index::read(&path).unwrap();
        assert_eq!(index.text("usr/one").unwrap().as_deref(), Some("hello"));
        assert_eq!(index.text("usr/none").unwrap(), None);
        assert_eq!(
            index.get(Path::new("usr/two")).and_then(|it| it.link.clone()),
            Some(PathBuf::from("one"))
        );

        let mut copy = Writer::new(Vec::new());
        let left_out = BTreeSet::from([PathBuf::from("usr/two")]);
        copy.all_but(&path, &left_out).unwrap();
        copy.take(&index, Path::new("usr/two")).unwrap();
        // Two blocks for the file, one each for the folder and the link, and two of zeros.
        assert_eq!(copy.finish().unwrap().len(), 6 * 512);
    }
}
