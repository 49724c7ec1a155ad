//! Bootstrap data as they come, and what a container is told.

use base64::Engine as _;
use expect_test::expect;

use super::*;

fn facts() -> Facts {
    Facts {
        host_name: "demo-x7k2p".to_owned(),
        provider_id: "docker:////demo-x7k2p".to_owned(),
        has_cgroup_v1: true,
    }
}

/// The steps for people, and the contents of files.
fn told(data: &str) -> String {
    match read(data.as_bytes(), &facts()) {
        Err(error) => format!("error: {error}\n"),
        Ok(bootstrap) => {
            let steps = bootstrap
                .steps
                .iter()
                .map(|it| format!("# {}\n{}\n", it.title, it.script));
            let contents = bootstrap
                .contents
                .iter()
                .enumerate()
                .map(|(number, it)| format!("[{number}]\n{}\n", String::from_utf8_lossy(it)));
            steps.chain(contents).collect()
        }
    }
}

#[test]
fn files_come_before_commands_whatever_their_order_and_encoding() {
    let base64 = base64::engine::general_purpose::STANDARD;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut gzip, b"zipped").unwrap();
    let data = format!(
        r"#cloud-config
runcmd:
  - echo 'it is' > /tmp/it
  - [ls, -l, it's here]
write_files:
- path: /etc/one
  content: plain for {{{{ ds.meta_data.local_hostname }}}}
  permissions: '0640'
  owner: www-data:root
- path: /etc/two
  encoding: gzip+base64
  content: {}
  append: true
",
        base64.encode(gzip.finish().unwrap())
    );
    expect![[r#"
        # write /etc/one
        mkdir -p /etc && cat /var/lib/capstan/bootstrap/contents/0 > /etc/one && chmod 0640 /etc/one && chown www-data:root /etc/one
        # write /etc/two
        mkdir -p /etc && cat /var/lib/capstan/bootstrap/contents/1 >> /etc/two && chmod 0644 /etc/two
        # runcmd: echo it
        echo 'it is' > /tmp/it
        # runcmd: ls -l
        ls -l 'it'\''s here'
        [0]
        plain for demo-x7k2p
        [1]
        zipped
    "#]]
    .assert_eq(&told(&data));
}

#[test]
fn kubeadm_is_told_that_it_is_in_a_container_and_what_the_user_set_stays() {
    let data = r"#cloud-config
write_files:
- path: /run/kubeadm/kubeadm.yaml
  content: |
    ---
    apiVersion: kubeadm.k8s.io/v1beta4
    kind: ClusterConfiguration
    clusterName: demo
    ---
    apiVersion: kubeadm.k8s.io/v1beta4
    kind: InitConfiguration
    nodeRegistration:
      kubeletExtraArgs:
      - name: eviction-hard
        value: nodefs.available<5%
- path: /run/kubeadm/kubeadm-join-config.yaml
  content: |
    apiVersion: kubeadm.k8s.io/v1beta3
    kind: JoinConfiguration
runcmd:
- kubeadm init --config /run/kubeadm/kubeadm.yaml && echo success > /run/cluster-api/bootstrap-success.complete
";
    expect![[r##"
        # write /run/kubeadm/kubeadm.yaml
        mkdir -p /run/kubeadm && cat /var/lib/capstan/bootstrap/contents/0 > /run/kubeadm/kubeadm.yaml && chmod 0644 /run/kubeadm/kubeadm.yaml
        # write /run/kubeadm/kubeadm-join-config.yaml
        mkdir -p /run/kubeadm && cat /var/lib/capstan/bootstrap/contents/1 > /run/kubeadm/kubeadm-join-config.yaml && chmod 0644 /run/kubeadm/kubeadm-join-config.yaml
        # runcmd: kubeadm init
        kubeadm init --ignore-preflight-errors=SystemVerification,Swap,FileContent--proc-sys-net-bridge-bridge-nf-call-iptables --config /run/kubeadm/kubeadm.yaml && echo success > /run/cluster-api/bootstrap-success.complete
        [0]
        ---
        apiVersion: kubeadm.k8s.io/v1beta4
        clusterName: demo
        kind: ClusterConfiguration
        ---
        apiVersion: kubeadm.k8s.io/v1beta4
        kind: InitConfiguration
        nodeRegistration:
          criSocket: unix:///var/run/containerd/containerd.sock
          kubeletExtraArgs:
          - name: eviction-hard
            value: nodefs.available<5%
          - name: image-gc-high-threshold
            value: "100"
          - name: fail-swap-on
            value: "false"
          - name: cgroup-root
            value: /kubelet
          - name: runtime-cgroups
            value: /system.slice/containerd.service
          - name: provider-id
            value: docker:////demo-x7k2p
        ---
        apiVersion: kubeproxy.config.k8s.io/v1alpha1
        conntrack:
          maxPerCore: 0
          min: 0
          tcpCloseWaitTimeout: 0s
          tcpEstablishedTimeout: 0s
        kind: KubeProxyConfiguration
        ---
        apiVersion: kubelet.config.k8s.io/v1beta1
        failCgroupV1: false
        kind: KubeletConfiguration

        [1]
        ---
        apiVersion: kubeadm.k8s.io/v1beta3
        kind: JoinConfiguration
        nodeRegistration:
          criSocket: unix:///var/run/containerd/containerd.sock
          kubeletExtraArgs:
            cgroup-root: /kubelet
            eviction-hard: nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%
            fail-swap-on: "false"
            image-gc-high-threshold: "100"
            provider-id: docker:////demo-x7k2p
            runtime-cgroups: /system.slice/containerd.service

    "##]].assert_eq(&told(data));
}

#[test]
fn users_and_mounts_are_made_and_what_means_nothing_is_said() {
    let data = r"#cloud-config
ntp:
  enabled: true
users:
- default
- name: ops
  groups: [sudo, adm]
  sudo: ALL=(ALL) NOPASSWD:ALL
  ssh_authorized_keys: ['ssh-ed25519 AAAA ops']
mounts:
- [tmpfs, /data, tmpfs, 'size=1m']
something_else: 1
";
    expect![[r##"
        # skip ntp, which means nothing in a container
        :
        # skip something_else, which is not known here
        :
        # mount /data
        mkdir -p /data && mount -t tmpfs -o size=1m tmpfs /data || echo 'not mounted'
        # make user ops
        groupadd -f sudo
        groupadd -f adm
        id -u ops >/dev/null 2>&1 || useradd -G sudo,adm -m ops
        passwd -l ops >/dev/null
        mkdir -p /etc/sudoers.d
        echo 'ops ALL=(ALL) NOPASSWD:ALL' >> /etc/sudoers.d/90-cloud-init-users
        home=$(getent passwd ops | cut -d: -f6)
        mkdir -p "$home/.ssh"
        chmod 0700 "$home/.ssh"
        echo 'ssh-ed25519 AAAA ops' >> "$home/.ssh/authorized_keys"
        chmod 0600 "$home/.ssh/authorized_keys"
        chown -R ops: "$home/.ssh"
    "##]]
    .assert_eq(&told(data));
}

#[test]
fn data_that_cannot_be_run_name_the_field() {
    for (data, said) in [
        (
            "- a list",
            "error: bootstrap data are not YAML: cloud-config is a mapping of modules\n",
        ),
        (
            "write_files: [{path: etc/x}]",
            "error: bootstrap data, write_files[0].path: must be an absolute path\n",
        ),
        (
            "write_files: [{path: /x, encoding: rot13}]",
            "error: bootstrap data, write_files[0].content: encoding \"rot13\" is not known; use gzip, base64 or gzip+base64\n",
        ),
        (
            "runcmd: [{a: b}]",
            "error: bootstrap data, runcmd[0]: a command is a line of shell, or a list of a program and its arguments\n",
        ),
        (
            "mounts: [[/dev/sda]]",
            "error: bootstrap data, mounts[0]: a mount is a list of a device, where it is mounted, and options\n",
        ),
    ] {
        assert_eq!(told(data), said);
    }
}

#[test]
fn a_look_into_a_container_tells_how_far_it_is() {
    let probe = |text: &str| read_probe(text);
    assert_eq!(
        probe("systemd starting\n"),
        (Err("starting".to_owned()), Probe::NotStarted)
    );
    assert_eq!(probe("systemd running\nup\n"), (Ok(()), Probe::NotStarted));
    let running = Probe::Running {
        step: "runcmd: kubeadm init".to_owned(),
    };
    assert_eq!(
        probe("systemd running\nup\nbegun\nalive\nstep runcmd: kubeadm init\nlog\nx\n").1,
        running
    );
    assert_eq!(probe("systemd running\nup\nbegun\nresult 0\n").1, Probe::Done);
    let failed = |how: &str, log: &str| Probe::Failed {
        step: "s".to_owned(),
        how: how.to_owned(),
        log: log.to_owned(),
    };
    assert_eq!(
        probe("up\nbegun\nstep s\nresult 1\nlog\nusing token abcdef.0123456789abcdef\r\nno\n").1,
        failed("failed with exit code 1", "using token <hidden>\nno")
    );
    assert_eq!(
        probe("up\nbegun\nstep s\nresult 124\nlog\n").1,
        failed("took longer than bootstrapTimeout allows", "")
    );
    assert_eq!(
        probe("up\nbegun\nstep s\nlog\n").1,
        failed("was interrupted: the container was restarted", "")
    );
}
