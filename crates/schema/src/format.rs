//! The values of `format` that Kubernetes enforces.
//! Source: apiextensions-apiserver `pkg/apiserver/validation/formats.go`, kube-openapi `pkg/validation/strfmt`.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::LazyLock,
};

use regex::Regex;

use crate::structural::Type;

/// A format that is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the format of that name")]
pub enum Format {
    Int32,
    Int64,
    Float,
    Double,
    BsonObjectId,
    Uri,
    Email,
    Hostname,
    Ipv4,
    Ipv6,
    Cidr,
    Mac,
    Uuid,
    Uuid3,
    Uuid4,
    Uuid5,
    Isbn,
    Isbn10,
    Isbn13,
    CreditCard,
    Ssn,
    HexColor,
    RgbColor,
    Byte,
    Password,
    Date,
    Duration,
    DateTime,
    ShortName,
    LongName,
}

impl Format {
    /// The enforced format called `name` on values of type `kind`; without a type, only formats of strings are.
    /// Dashes in the name don't count.
    pub fn parse(name: &str, kind: Option<Type>) -> Option<Self> {
        match kind {
            Some(Type::Integer) => match name {
                "int32" => Some(Self::Int32),
                "int64" => Some(Self::Int64),
                _ => None,
            },
            Some(Type::Number) => match name {
                "float" => Some(Self::Float),
                "double" => Some(Self::Double),
                _ => None,
            },
            None | Some(Type::String) => Self::of_strings(&name.replace('-', "")),
            Some(Type::Array | Type::Boolean | Type::Object) => None,
        }
    }

    fn of_strings(name: &str) -> Option<Self> {
        Some(match name {
            "bsonobjectid" => Self::BsonObjectId,
            "uri" => Self::Uri,
            "email" => Self::Email,
            "hostname" => Self::Hostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "cidr" => Self::Cidr,
            "mac" => Self::Mac,
            "uuid" => Self::Uuid,
            "uuid3" => Self::Uuid3,
            "uuid4" => Self::Uuid4,
            "uuid5" => Self::Uuid5,
            "isbn" => Self::Isbn,
            "isbn10" => Self::Isbn10,
            "isbn13" => Self::Isbn13,
            "creditcard" => Self::CreditCard,
            "ssn" => Self::Ssn,
            "hexcolor" => Self::HexColor,
            "rgbcolor" => Self::RgbColor,
            "byte" => Self::Byte,
            "password" => Self::Password,
            "date" => Self::Date,
            "duration" => Self::Duration,
            "datetime" => Self::DateTime,
            "k8sshortname" => Self::ShortName,
            "k8slongname" => Self::LongName,
            _ => return None,
        })
    }

    /// Whether `text` has this format. Formats of numbers accept every string: they are checked on numbers.
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Self::Int32 | Self::Int64 | Self::Float | Self::Double | Self::Password => true,
            Self::BsonObjectId => text.len() == 24 && text.bytes().all(|it| it.is_ascii_hexdigit()),
            Self::Uri => is_request_uri(text),
            Self::Email => is_email(text),
            Self::Hostname => is_hostname(text),
            Self::Ipv4 => text.contains('.') && parse_ip(text).is_some(),
            Self::Ipv6 => text.contains(':') && text.parse::<Ipv6Addr>().is_ok(),
            Self::Cidr => is_cidr(text),
            Self::Mac => is_mac(text),
            Self::Uuid => is_uuid(text, None),
            Self::Uuid3 => is_uuid(text, Some(b'3')),
            Self::Uuid4 => is_uuid(text, Some(b'4')),
            Self::Uuid5 => is_uuid(text, Some(b'5')),
            Self::Isbn => is_isbn10(text) || is_isbn13(text),
            Self::Isbn10 => is_isbn10(text),
            Self::Isbn13 => is_isbn13(text),
            Self::CreditCard => is_credit_card(text),
            Self::Ssn => text.len() == 11 && SSN.is_match(text),
            Self::HexColor => HEX_COLOR.is_match(text),
            Self::RgbColor => RGB_COLOR.is_match(text),
            Self::Byte => BASE64.is_match(text),
            Self::Date => is_date(text),
            Self::Duration => is_duration(text),
            Self::DateTime => is_date_time(text),
            Self::ShortName => text.len() <= 63 && is_name_segment(text),
            Self::LongName => text.len() <= 253 && text.split('.').all(is_name_segment),
        }
    }
}

fn expression(source: &str) -> Regex {
    Regex::new(source).expect("invariant: a constant regular expression compiles")
}

static SSN: LazyLock<Regex> = LazyLock::new(|| expression(r"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$"));
static HEX_COLOR: LazyLock<Regex> = LazyLock::new(|| expression(r"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"));
static RGB_COLOR: LazyLock<Regex> = LazyLock::new(|| {
    let part = r"(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])";
    expression(&format!(
        r"^rgb\([\t\n\f\r ]*{part}[\t\n\f\r ]*,[\t\n\f\r ]*{part}[\t\n\f\r ]*,[\t\n\f\r ]*{part}[\t\n\f\r ]*\)$"
    ))
});
static BASE64: LazyLock<Regex> = LazyLock::new(|| {
    let letter = "[A-Za-z0-9+/]";
    expression(&format!(
        "^(?:{letter}{{4}})*(?:{letter}{{2}}==|{letter}{{3}}=|{letter}{{4}})$"
    ))
});
static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| {
    let letter = r"a-zA-Z0-9\p{S}\p{L}";
    expression(&format!(
        r"^([{letter}]((-?[{letter}]{{0,62}})?)|([{letter}](([{letter}\-]{{0,61}}[{letter}])?)(\.))+([a-zA-Z\p{{L}}]){{2,63}})$"
    ))
});
static TIME: LazyLock<Regex> =
    LazyLock::new(|| expression(r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$"));
static LOOSE_DURATION: LazyLock<Regex> = LazyLock::new(|| expression(r"([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)"));
static CREDIT_CARD: LazyLock<Regex> = LazyLock::new(|| {
    expression(
        r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11}|6[27][0-9]{14})$",
    )
});
static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    let atom = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\x{80}-\x{10FFFF}]+";
    let quoted = r#""(?:[^"\\\r\n]|\\.)*""#;
    let address = format!(r"(?:{atom}(?:\.{atom})*|{quoted})@(?:{atom}(?:\.{atom})*|\[[^\[\]\\\r\n]*\])");
    let phrase = format!(r"(?:(?:{atom}|{quoted}|\.)[ \t]*)*");
    expression(&format!(
        r"^[ \t]*(?:{address}|{phrase}<[ \t]*{address}[ \t]*>)[ \t]*$"
    ))
});

/// A mail address as RFC 5322 has it, with or without a display name; comments are not recognised.
fn is_email(text: &str) -> bool {
    EMAIL.is_match(text)
}

fn is_hostname(text: &str) -> bool {
    text.len() <= 255 && HOSTNAME.is_match(text) && text.split('.').all(|part| part.len() <= 63)
}

fn is_name_segment(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && !text.starts_with('-') && !text.ends_with('-') && text.bytes().all(inner)
}

/// Parses an address as Go once did: leading zeros in the parts of an IPv4 address are decimal.
fn parse_ip(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    let mut octets = [0_u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        if part.is_empty() || !part.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        *octet = part
            .trim_start_matches('0')
            .parse()
            .or_else(|error| {
                if part.trim_matches('0').is_empty() {
                    Ok(0)
                } else {
                    Err(error)
                }
            })
            .ok()?;
    }
    parts.next().is_none().then(|| IpAddr::V4(Ipv4Addr::from(octets)))
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let Some(address) = parse_ip(address) else {
        return false;
    };
    let limit = if address.is_ipv4() { 32 } else { 128 };
    let digits = !length.is_empty() && length.len() <= 3 && length.bytes().all(|it| it.is_ascii_digit());
    digits && length.parse::<u16>().is_ok_and(|it| it <= limit)
}

/// A MAC-48, EUI-64 or 20 byte InfiniBand address with `:`, `-` (pairs) or `.` (quads).
fn is_mac(text: &str) -> bool {
    let parts_are = |separator: char, width: usize, counts: &[usize]| {
        let parts: Vec<&str> = text.split(separator).collect();
        counts.contains(&parts.len())
            && parts
                .iter()
                .all(|part| part.len() == width && part.bytes().all(|it| it.is_ascii_hexdigit()))
    };
    parts_are(':', 2, &[6, 8, 20]) || parts_are('-', 2, &[6, 8, 20]) || parts_are('.', 4, &[3, 4, 10])
}

/// A UUID with or without any of its dashes; of the given version, if one is given.
fn is_uuid(text: &str, version: Option<u8>) -> bool {
    let mut digits = Vec::with_capacity(32);
    let mut dash_allowed = false;
    for byte in text.bytes() {
        if byte == b'-' {
            if !dash_allowed {
                return false;
            }
            dash_allowed = false;
        } else if byte.is_ascii_hexdigit() {
            digits.push(byte.to_ascii_lowercase());
            dash_allowed = matches!(digits.len(), 8 | 12 | 16 | 20);
        } else {
            return false;
        }
    }
    let variant = |byte: u8| matches!(byte, b'8' | b'9' | b'a' | b'b');
    digits.len() == 32
        && version.is_none_or(|wanted| digits[12] == wanted && (wanted == b'3' || variant(digits[16])))
}

fn isbn_digits(text: &str) -> String {
    text.chars()
        .filter(|it| !matches!(it, '-' | ' ' | '\t' | '\n' | '\r'))
        .collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = isbn_digits(text);
    let bytes = digits.as_bytes();
    if bytes.len() != 10 || !bytes[..9].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let last = match bytes[9] {
        b'X' => 10,
        byte if byte.is_ascii_digit() => u32::from(byte - b'0'),
        _ => return false,
    };
    let sum: u32 = (1_u32..)
        .zip(&bytes[..9])
        .map(|(weight, byte)| weight * u32::from(byte - b'0'))
        .sum();
    (sum + 10 * last).is_multiple_of(11)
}

fn is_isbn13(text: &str) -> bool {
    let digits = isbn_digits(text);
    if digits.len() != 13 || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return false;
    }
    let weights = [1_u32, 3].into_iter().cycle();
    let sum: u32 = weights
        .zip(digits.bytes())
        .map(|(weight, byte)| weight * u32::from(byte - b'0'))
        .sum();
    sum.is_multiple_of(10)
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if !CREDIT_CARD.is_match(&digits) {
        return false;
    }
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, byte)| {
            let digit = u32::from(byte - b'0');
            let doubled = if index % 2 == 1 { digit * 2 } else { digit };
            doubled / 10 + doubled % 10
        })
        .sum();
    sum.is_multiple_of(10)
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.is_char_boundary(4) && text.parse::<jiff::civil::Date>().is_ok()
}

/// Source: kube-openapi `pkg/validation/strfmt/time.go`; the letters `t` and `z` may be small.
fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    if !is_date(date) {
        return false;
    }
    TIME.captures(time)
        .is_some_and(|found| &found[1] <= "23" && &found[2] <= "59" && &found[3] <= "59")
}

/// Source: kube-openapi `pkg/validation/strfmt/duration.go`: Go's durations, or any text with a count of units in it.
fn is_duration(text: &str) -> bool {
    if is_go_duration(text) {
        return true;
    }
    let mut found = false;
    for part in LOOSE_DURATION.captures_iter(text) {
        if part[1].parse::<i64>().is_err() {
            return false;
        }
        let unit = part[2].to_lowercase();
        let exact = ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"];
        let prefixes = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
        found |= exact.contains(&unit.as_str()) || prefixes.iter().any(|prefix| unit.starts_with(prefix));
    }
    found
}

/// Whether Go's `time.ParseDuration` takes it: `1h30m`, `-1.5s`, `0`.
pub(crate) fn is_go_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let length = rest
            .find(|it: char| !it.is_ascii_digit() && it != '.')
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(length);
        if number.matches('.').count() > 1 || !number.bytes().any(|it| it.is_ascii_digit()) {
            return false;
        }
        let unit = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"]
            .into_iter()
            .filter(|unit| tail.starts_with(unit))
            .max_by_key(|unit| unit.len());
        let Some(unit) = unit else { return false };
        rest = &tail[unit.len()..];
    }
    true
}

/// Whether Go's `url.ParseRequestURI` takes it: an absolute URI, or an absolute path.
fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|it| it < 0x20 || it == 0x7f) {
        return false;
    }
    let rest = match text.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => rest,
        // A first path segment with a colon, or no scheme before it.
        Some((before, _)) if !before.contains('/') => return false,
        _ if text.starts_with('/') => text,
        _ => return text == "*",
    };
    let hierarchical = rest.split(['?', '#']).next().unwrap_or_default();
    let Some(authority) = rest.strip_prefix("//") else {
        return has_valid_escapes(hierarchical);
    };
    let authority = authority.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    is_host(host) && has_valid_escapes(hierarchical)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'-' | b'.'))
}

fn is_host(text: &str) -> bool {
    let is_port = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
    if let Some(rest) = text.strip_prefix('[') {
        return rest.split_once(']').is_some_and(|(address, port)| {
            !address.is_empty() && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
        });
    }
    let (name, port) = text.rsplit_once(':').unwrap_or((text, ""));
    is_port(port) && !name.contains([' ', '"', '<', '>', '\\', '^', '`', '{', '|', '}', '[', ']'])
}

fn has_valid_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|part| {
        let bytes = part.as_bytes();
        bytes.len() >= 2 && bytes[0].is_ascii_hexdigit() && bytes[1].is_ascii_hexdigit()
    })
}
