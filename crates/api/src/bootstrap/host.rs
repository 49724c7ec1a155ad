//! What a `KubeadmConfig` does to a host besides running kubeadm: files, users, disks, time.

use crate::record::{keyword, record};

record! {
    /// A file to write.
    pub struct File {
        /// Where.
        pub path: String,
        /// The owner, as `user:group`.
        pub owner: Option<String>,
        /// The mode, such as `"0640"`.
        pub permissions: Option<String>,
        /// How the content is encoded.
        pub encoding: Option<Encoding>,
        /// Whether the content is appended to what is there.
        pub append: Option<bool>,
        /// The content.
        pub content: Option<String>,
        /// Where the content comes from instead.
        pub content_from: Option<FileSource>,
        /// Whether the content is a template; absent means [`ContentFormat::Raw`].
        pub content_format: Option<ContentFormat>,
    }

    /// Where a file's content comes from.
    pub struct FileSource {
        /// The secret and the key in it.
        pub secret: SecretKeyReference,
    }

    /// Where a password comes from.
    pub struct PasswdSource {
        /// The secret and the key in it.
        pub secret: SecretKeyReference,
    }

    /// One key of a secret in the config's namespace.
    pub struct SecretKeyReference {
        /// The secret's name.
        pub name: String,
        /// The key.
        pub key: String,
    }

    /// A user to make.
    pub struct User {
        /// The name.
        pub name: String,
        /// The comment.
        pub gecos: Option<String>,
        /// Further groups, separated by commas.
        pub groups: Option<String>,
        /// The home folder.
        pub home_dir: Option<String>,
        /// Whether the account is disabled.
        pub inactive: Option<bool>,
        /// The shell.
        pub shell: Option<String>,
        /// The hash of the password.
        pub passwd: Option<String>,
        /// Where the hash of the password comes from instead.
        pub passwd_from: Option<PasswdSource>,
        /// The first group.
        pub primary_group: Option<String>,
        /// Whether logging in with a password is impossible.
        pub lock_password: Option<bool>,
        /// The rule for sudo.
        pub sudo: Option<String>,
        /// The keys that may log in.
        pub ssh_authorized_keys: Vec<String>,
    }

    /// Time servers.
    pub struct Ntp {
        /// The servers.
        pub servers: Vec<String>,
        /// Whether time is synchronised.
        pub enabled: Option<bool>,
    }

    /// Partitions and file systems.
    pub struct DiskSetup {
        /// Partitions.
        pub partitions: Vec<Partition>,
        /// File systems.
        pub filesystems: Vec<Filesystem>,
    }

    /// The partitions of one disk: either one for all (`layout`) or a list (`disk_layout`).
    pub struct Partition {
        /// The disk.
        pub device: String,
        /// Whether one partition fills the disk.
        pub layout: Option<bool>,
        /// Whether what is there is overwritten.
        pub overwrite: Option<bool>,
        /// `mbr` or `gpt`.
        pub table_type: Option<String>,
        /// The partitions one by one.
        pub disk_layout: Vec<PartitionSpec>,
    }

    /// One partition.
    pub struct PartitionSpec {
        /// How much of the disk.
        pub percentage: i32,
        /// The type, by name or as a GUID.
        pub partition_type: Option<String>,
    }

    /// One file system.
    pub struct Filesystem {
        /// The disk.
        pub device: String,
        /// The type.
        pub filesystem: String,
        /// The label.
        pub label: Option<String>,
        /// The partition.
        pub partition: Option<String>,
        /// Whether what is there is overwritten.
        pub overwrite: Option<bool>,
        /// A type that is overwritten.
        #[serde(rename = "replaceFS")]
        pub replace_fs: Option<String>,
        /// Further options for making it.
        pub extra_opts: Vec<String>,
    }

    /// What holds for Ignition only.
    pub struct Ignition {
        /// Further Container Linux configuration.
        pub container_linux_config: ContainerLinuxConfig,
    }

    /// Further Container Linux configuration.
    pub struct ContainerLinuxConfig {
        /// The configuration.
        pub additional_config: Option<String>,
        /// Whether warnings are errors.
        pub strict: Option<bool>,
    }
}

keyword! {
    /// The format of bootstrap data.
    pub enum Format {
        /// cloud-init's cloud-config.
        CloudConfig = "cloud-config",
        /// Ignition.
        Ignition = "ignition",
    }

    /// How a file's content is encoded.
    pub enum Encoding {
        /// Base64.
        Base64 = "base64",
        /// gzip.
        Gzip = "gzip",
        /// gzip, then Base64.
        GzipBase64 = "gzip+base64",
    }

    /// Whether a file's content is a template.
    pub enum ContentFormat {
        /// It is taken as it is.
        Raw = "Raw",
        /// It is rendered first.
        Template = "Template",
    }
}
