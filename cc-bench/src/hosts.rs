//! Three hosts on one machine: network namespaces for client, router and server, joined by veth pairs.
//!
//! The router forwards nothing by itself: a relay between its two addresses is the only way. Names are
//! `ccbench-OWNER-HOST`; the owner is the process that made them, so that what an interrupted run has left can be told from what is
//! in use.

use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::{error, fmt, io};

/// First part of the names of the namespaces.
const PREFIX: &str = "ccbench";

/// One of the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Where the clients run.
    Client,
    /// Where the relay runs.
    Router,
    /// Where the server runs.
    Server,
}

/// The namespaces. They are removed, and with them what still runs in them loses its network, when this is dropped.
#[derive(Debug)]
pub struct Hosts {
    owner: String,
}

/// Why there are no hosts.
#[derive(Debug)]
pub enum HostsError {
    /// This process may not make namespaces, or there is no program `ip` (iproute2).
    NotAllowed(String),
    /// A command that should have worked did not.
    Failed {
        /// The command.
        command: String,
        /// What it said.
        message: String,
    },
}

impl fmt::Display for HostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAllowed(why) => {
                write!(
                    f,
                    "network namespaces are not allowed here ({why}); `cc-bench sweep --loopback` runs the relay on the \
                     loopback interface instead"
                )
            }
            Self::Failed { command, message } => write!(f, "{command}: {message}"),
        }
    }
}

impl error::Error for HostsError {}

impl Host {
    const ALL: [Self; 3] = [Self::Client, Self::Router, Self::Server];

    fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Router => "router",
            Self::Server => "server",
        }
    }
}

impl Hosts {
    /// Address of the client.
    pub const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 1, 2));
    /// Address of the router on the side of the client: where clients send to.
    pub const ROUTER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 1, 1));
    /// Address of the server.
    pub const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 2, 2));
    /// Address of the router on the side of the server.
    const ROUTER_TO_SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 2, 1));

    /// Makes them for this process, after those of processes that are no more have been removed.
    ///
    /// # Errors
    ///
    /// See [`HostsError`]; nothing is left behind then.
    pub fn for_this_process() -> Result<Self, HostsError> {
        remove_leftovers()?;
        Self::up(&std::process::id().to_string())
    }

    /// Makes them under a name of 1 to 32 letters and digits.
    ///
    /// # Errors
    ///
    /// See [`HostsError`]; nothing is left behind then, unless hosts of that name were there before.
    pub fn up(owner: &str) -> Result<Self, HostsError> {
        if owner.is_empty() || owner.len() > 32 || !owner.chars().all(|c| c.is_ascii_alphanumeric()) {
            let message = format!("`{owner}` is no name (allowed: 1..=32 of A-Z a-z 0-9)");
            return Err(HostsError::Failed { command: "hosts".to_owned(), message });
        }
        if let Some(there) = namespaces()?.into_iter().find(|name| owner_of(name) == Some(owner)) {
            let message = format!("namespace {there} is there already");
            return Err(HostsError::Failed { command: "hosts".to_owned(), message });
        }
        // From here on what there is of them is removed if something fails.
        let hosts = Self { owner: owner.to_owned() };
        for host in Host::ALL {
            ip(&["netns", "add", &hosts.namespace(host)])?;
            ip(&["-n", &hosts.namespace(host), "link", "set", "lo", "up"])?;
        }
        for (host, near, far) in
            [(Host::Client, Self::CLIENT, Self::ROUTER), (Host::Server, Self::SERVER, Self::ROUTER_TO_SERVER)]
        {
            let (end, router) = (hosts.namespace(host), hosts.namespace(Host::Router));
            let device = format!("to-{}", host.name());
            let pair =
                ["link", "add", "to-router", "type", "veth", "peer", "name", &device, "netns", &router];
            ip(&[&["-n", &end][..], &pair[..]].concat())?;
            for (namespace, device, address) in [(&end, "to-router", near), (&router, device.as_str(), far)] {
                ip(&["-n", namespace, "addr", "add", &format!("{address}/24"), "dev", device])?;
                ip(&["-n", namespace, "link", "set", device, "up"])?;
            }
        }
        Ok(hosts)
    }

    /// A command that runs `program` on a host.
    #[must_use]
    pub fn command(&self, host: Host, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(host)]).arg(program);
        command
    }

    /// Leaves them there when this is dropped.
    pub fn keep(self) {
        std::mem::forget(self);
    }

    /// Removes those of an owner; how many namespaces there were.
    ///
    /// # Errors
    ///
    /// See [`HostsError`].
    pub fn down(owner: &str) -> Result<usize, HostsError> {
        remove(namespaces()?.into_iter().filter(|name| owner_of(name) == Some(owner)))
    }

    fn namespace(&self, host: Host) -> String {
        format!("{PREFIX}-{}-{}", self.owner, host.name())
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        if let Err(error) = Self::down(&self.owner) {
            eprintln!("warning: {error}");
        }
    }
}

/// Namespaces of this program, of whatever owner.
///
/// # Errors
///
/// See [`HostsError`].
pub fn namespaces() -> Result<Vec<String>, HostsError> {
    let list = ip(&["netns", "list"])?;
    let names = list.lines().filter_map(|line| line.split(' ').next());
    Ok(names.filter(|name| owner_of(name).is_some()).map(str::to_owned).collect())
}

/// Removes the namespaces whose owner is a process that is no more; how many.
///
/// # Errors
///
/// See [`HostsError`].
pub fn remove_leftovers() -> Result<usize, HostsError> {
    let is_left = |name: &String| {
        let process = owner_of(name).and_then(|owner| owner.parse::<u32>().ok());
        process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
    };
    remove(namespaces()?.into_iter().filter(is_left))
}

fn remove(names: impl Iterator<Item = String>) -> Result<usize, HostsError> {
    let mut count = 0;
    for name in names {
        match ip(&["netns", "del", &name]) {
            Ok(_) => count += 1,
            // Another process has been faster.
            Err(_) if !namespaces()?.contains(&name) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// Whose a namespace is; `None` if it is none of this program.
fn owner_of(namespace: &str) -> Option<&str> {
    let (owner, host) = namespace.strip_prefix(PREFIX)?.strip_prefix('-')?.rsplit_once('-')?;
    Host::ALL.iter().any(|of| of.name() == host).then_some(owner)
}

/// Runs `ip`; what it prints.
fn ip<S: AsRef<OsStr>>(arguments: &[S]) -> Result<String, HostsError> {
    let output =
        Command::new("ip").args(arguments).stdin(Stdio::null()).output().map_err(|error| {
            match error.kind() {
                io::ErrorKind::NotFound => {
                    HostsError::NotAllowed("no program `ip`; it is in iproute2".to_owned())
                }
                _ => HostsError::NotAllowed(error.to_string()),
            }
        })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if message.contains("Operation not permitted") || message.contains("Permission denied") {
        return Err(HostsError::NotAllowed(message));
    }
    let words: Vec<_> = arguments.iter().map(|word| word.as_ref().to_string_lossy()).collect();
    Err(HostsError::Failed { command: format!("ip {}", words.join(" ")), message })
}

#[cfg(test)]
mod tests {
    use super::{Hosts, HostsError, owner_of};

    #[test]
    fn only_namespaces_of_this_program_have_an_owner() {
        assert_eq!(owner_of("ccbench-123-client"), Some("123"));
        assert_eq!(owner_of("ccbench-mine-router"), Some("mine"));
        for other in ["other", "ccbench", "ccbench-client", "ccbench-1-printer", "xccbench-1-client"] {
            assert_eq!(owner_of(other), None, "{other}");
        }
    }

    #[test]
    fn names_that_are_none_are_refused_before_anything_is_made() {
        for name in ["", "a-b", "a b", "../x", &"x".repeat(33)] {
            let error = Hosts::up(name).unwrap_err();
            assert!(matches!(&error, HostsError::Failed { .. }), "{error}");
            assert!(error.to_string().contains("(allowed: 1..=32 of A-Z a-z 0-9)"), "{error}");
        }
    }
}
