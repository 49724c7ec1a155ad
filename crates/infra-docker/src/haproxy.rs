//! The load balancer's configuration. Pure.
//!
//! A user's own template is one of Go's, and sees the same data as upstream's.
//! Source: cluster-api `test/infrastructure/docker/internal/loadbalancer`.

use std::collections::{BTreeMap, HashMap};

use gtmpl_value::{FuncError, Value};

/// How the load balancer's container is started.
pub(crate) const COMMAND: [&str; 5] = ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"];
/// The folder of the configuration.
pub(crate) const FOLDER: &str = "/usr/local/etc/haproxy";
/// The file that haproxy reads.
pub(crate) const FILE: &str = "haproxy.cfg";
/// A copy of the configuration, written after haproxy was told to read it.
pub(crate) const LOADED: &str = "capstan.loaded";
/// The port of the API servers behind it.
pub(crate) const BACKEND_PORT: u16 = 6443;

/// An API server behind the load balancer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backend {
    /// Where it is reached.
    pub address: String,
    /// How much of the traffic it gets, of 100; 0 takes it out of new traffic.
    pub weight: u8,
}

/// What the configuration says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Facts {
    /// The port that the load balancer listens on.
    pub port: u16,
    /// The API servers, by the names of their containers.
    pub backends: BTreeMap<String, Backend>,
}

/// The configuration; from `template` if there is one.
pub(crate) fn configuration(facts: &Facts, template: Option<&str>) -> Result<String, String> {
    match template {
        None => Ok(default(facts)),
        Some(template) => custom(facts, template),
    }
}

fn default(facts: &Facts) -> String {
    let mut servers = String::new();
    for (name, backend) in &facts.backends {
        servers.push_str(&format!(
            "  server {name} {}:{BACKEND_PORT} weight {} check check-ssl verify none\n",
            backend.address, backend.weight
        ));
    }
    format!(
        "\
global
  log stdout format raw local0 notice
  maxconn 4000

defaults
  log global
  mode tcp
  option dontlognull
  timeout connect 5s
  timeout client 10m
  timeout server 10m
  timeout check 5s

frontend stats
  mode http
  bind *:8404
  stats enable
  stats uri /stats
  stats refresh 1s

frontend control-plane
  bind *:{port}
  default_backend kube-apiservers

backend kube-apiservers
  option httpchk GET /healthz
{servers}",
        port = facts.port
    )
}

fn custom(facts: &Facts, template: &str) -> Result<String, String> {
    let mut parsed = gtmpl::Template::default();
    parsed.add_func("JoinHostPort", join_host_port);
    parsed
        .parse(template)
        .map_err(|it| format!("the load balancer's template cannot be read: {it}"))?;
    let backends: HashMap<String, Value> = facts
        .backends
        .iter()
        .map(|(name, backend)| {
            let fields = HashMap::from([
                ("Address".to_owned(), Value::from(backend.address.clone())),
                ("Weight".to_owned(), Value::from(backend.weight)),
            ]);
            (name.clone(), Value::Object(fields))
        })
        .collect();
    let data = HashMap::from([
        (
            "FrontendControlPlanePort".to_owned(),
            Value::from(facts.port.to_string()),
        ),
        (
            "BackendControlPlanePort".to_owned(),
            Value::from(BACKEND_PORT.to_string()),
        ),
        ("BackendServers".to_owned(), Value::Map(backends)),
        ("IPv6".to_owned(), Value::from(false)),
    ]);
    parsed
        .render(&gtmpl::Context::from(Value::Object(data)))
        .map_err(|it| format!("the load balancer's template cannot be filled: {it}"))
}

/// Go's `net.JoinHostPort`.
fn join_host_port(arguments: &[Value]) -> Result<Value, FuncError> {
    let [Value::String(host), Value::String(port)] = arguments else {
        return Err(FuncError::Generic(
            "JoinHostPort needs a host and a port".to_owned(),
        ));
    };
    let joined = if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    };
    Ok(Value::from(joined))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let backend = |address: &str, weight| Backend {
            address: address.to_owned(),
            weight,
        };
        Facts {
            port: 443,
            backends: BTreeMap::from([
                ("demo-b".to_owned(), backend("172.30.128.2", 0)),
                ("demo-a".to_owned(), backend("172.30.128.1", 100)),
            ]),
        }
    }

    #[test]
    fn api_servers_stand_in_order_with_their_weights() {
        let text = configuration(&facts(), None).unwrap();
        let servers: Vec<&str> = text.lines().filter(|it| it.starts_with("  server")).collect();
        assert_eq!(
            servers,
            [
                "  server demo-a 172.30.128.1:6443 weight 100 check check-ssl verify none",
                "  server demo-b 172.30.128.2:6443 weight 0 check check-ssl verify none",
            ]
        );
        assert!(text.contains("bind *:443\n"));
    }

    #[test]
    fn a_users_template_sees_what_upstreams_sees() {
        let template = "bind *:{{ .FrontendControlPlanePort }}{{ if .IPv6 }} six{{ end }}\n\
            {{range $server, $backend := .BackendServers}}\
            server {{ $server }} {{ JoinHostPort $backend.Address $.BackendControlPlanePort }} weight {{ $backend.Weight }}\n\
            {{end}}";
        assert_eq!(
            configuration(&facts(), Some(template)).unwrap(),
            "bind *:443\n\
             server demo-a 172.30.128.1:6443 weight 100\n\
             server demo-b 172.30.128.2:6443 weight 0\n"
        );
    }

    #[test]
    fn a_template_that_cannot_be_read_says_so() {
        let error = configuration(&facts(), Some("{{ .Nothing")).unwrap_err();
        assert!(
            error.starts_with("the load balancer's template cannot be read"),
            "{error}"
        );
    }
}
