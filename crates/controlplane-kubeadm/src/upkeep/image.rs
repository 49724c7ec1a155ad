//! References to container images: `repository/name:tag@digest`.
// Parity: upstream util/container/image.go

use std::fmt;

/// An image reference, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    /// Everything before the last slash; empty if there is none.
    pub repository: String,
    /// The last part of the path.
    pub name: String,
    /// The tag; empty if there is none.
    pub tag: String,
    /// The digest, as `sha256:…`; empty if there is none.
    pub digest: String,
}

impl Image {
    /// Takes a reference apart. Every text is one: what the parts may look like is the container runtime's to say.
    pub(crate) fn parse(text: &str) -> Self {
        let (rest, digest) = text.split_once('@').unwrap_or((text, ""));
        let (repository, last) = rest.rsplit_once('/').unwrap_or(("", rest));
        let (name, tag) = last.split_once(':').unwrap_or((last, ""));
        Self {
            repository: repository.to_owned(),
            name: name.to_owned(),
            tag: tag.to_owned(),
            digest: digest.to_owned(),
        }
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.repository.is_empty() {
            write!(f, "{}/", self.repository)?;
        }
        f.write_str(&self.name)?;
        if !self.tag.is_empty() {
            write!(f, ":{}", self.tag)?;
        }
        if !self.digest.is_empty() {
            write!(f, "@{}", self.digest)?;
        }
        Ok(())
    }
}

/// A version as an image's tag: what a tag must not hold becomes an underscore, like the `+` of build metadata.
pub(crate) fn tag_of(version: &str) -> String {
    let allowed = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    version
        .chars()
        .map(|it| if allowed(it) { it } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_taken_apart_and_put_together() {
        let table = [
            (
                "registry.k8s.io/kube-proxy:v1.36.0",
                ("registry.k8s.io", "kube-proxy", "v1.36.0", ""),
            ),
            (
                "registry.k8s.io/coredns/coredns:v1.11.3",
                ("registry.k8s.io/coredns", "coredns", "v1.11.3", ""),
            ),
            ("localhost:5000/coredns", ("localhost:5000", "coredns", "", "")),
            ("coredns@sha256:ab", ("", "coredns", "", "sha256:ab")),
        ];
        for (text, (repository, name, tag, digest)) in table {
            let image = Image::parse(text);
            let parts = (&*image.repository, &*image.name, &*image.tag, &*image.digest);
            assert_eq!(parts, (repository, name, tag, digest), "{text}");
            assert_eq!(image.to_string(), text);
        }
    }

    #[test]
    fn build_metadata_is_written_with_an_underscore() {
        assert_eq!(tag_of("v1.36.0-rc.1+build.7"), "v1.36.0-rc.1_build.7");
    }
}
