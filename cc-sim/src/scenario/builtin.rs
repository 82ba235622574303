//! The scenarios that are part of the program, in groups.

use super::{Scenario, ScenarioError, parse};

/// Scenarios that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// "Reaction to network events" of draft-huitema-ccwg-c4-test; each file says where its runs differ from the text.
    NetworkEvents,
    /// The competitions with C4, CUBIC and BBR of the same draft, those over Wi-Fi left out; the other flow's algorithm is
    /// part of the scenario. The files say where the runs differ from the text.
    Compete,
    /// Paths over Wi-Fi of the same draft, and competitions over them, as simulated: the scenarios behind its tables. The
    /// files say where they differ from the text.
    Wifi,
    /// The same as the draft's text has them, but for `wifi_suspension`, which is simulated as written.
    WifiWritten,
    /// "Handling of ECN" of the same draft as its runs had it: tail drop, ECT(0), not one mark.
    EcnSimulated,
    /// The same as its text has it: DualPI2 (RFC 9332) and ECT(1) for C4; audio and video over such a path too.
    EcnWritten,
    /// Audio and video of the same draft, as simulated. The files say where they differ from the text.
    Media,
    /// Two flows on one path.
    Share,
    /// The experiments of the authors of QUIC-DC, and what they leave out: a queue on the way back, CUBIC beside.
    Delay,
}

impl Group {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::NetworkEvents,
        Self::Compete,
        Self::Wifi,
        Self::WifiWritten,
        Self::EcnSimulated,
        Self::EcnWritten,
        Self::Media,
        Self::Share,
        Self::Delay,
    ];

    /// The name used on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NetworkEvents => "network_events",
            Self::Compete => "compete",
            Self::Wifi => "wifi",
            Self::WifiWritten => "wifi_written",
            Self::EcnSimulated => "ecn_simulated",
            Self::EcnWritten => "ecn_written",
            Self::Media => "media",
            Self::Share => "share",
            Self::Delay => "delay",
        }
    }

    /// The groups that a name of the command line stands for: the one of that name, those of the C4 test draft for `all`, or
    /// none.
    #[must_use]
    pub fn named(name: &str) -> Vec<Self> {
        let is_meant = |group: &Self| group.name() == name || name == "all" && group.is_of_the_draft();
        Self::ALL.iter().copied().filter(is_meant).collect()
    }

    /// Whether its scenarios are rows of the draft's tables: those that are as its text has them are not.
    fn is_of_the_draft(self) -> bool {
        !matches!(self, Self::Share | Self::Delay) && !self.name().ends_with("_written")
    }

    /// Names of its scenarios, in the order of tables.
    pub fn scenarios(self) -> impl Iterator<Item = &'static str> {
        self.files().iter().map(|(name, _)| *name)
    }

    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::NetworkEvents => NETWORK_EVENTS,
            Self::Compete => COMPETE,
            Self::Wifi => WIFI,
            Self::WifiWritten => WIFI_WRITTEN,
            Self::EcnSimulated => ECN_SIMULATED,
            Self::EcnWritten => ECN_WRITTEN,
            Self::Media => MEDIA,
            Self::Share => SHARE,
            Self::Delay => DELAY,
        }
    }
}

/// One of the scenarios that are part of the program.
///
/// # Errors
///
/// There is none of that name; the error lists those that there are.
pub fn builtin(name: &str) -> Result<Scenario, ScenarioError> {
    let mut files = Group::ALL.iter().flat_map(|group| group.files());
    match files.find(|(builtin, _)| *builtin == name) {
        Some((_, text)) => parse(text, &format!("built-in scenario {name}")),
        None => {
            let problem = format!("unknown (allowed: {})", builtin_names().collect::<Vec<_>>().join(", "));
            Err(ScenarioError::new(&format!("`{name}`"), "scenario", &problem))
        }
    }
}

/// Names of the scenarios that are part of the program, group by group.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    Group::ALL.iter().flat_map(|group| group.scenarios())
}

/// The name of a file without its ending, and its content.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../scenarios/", $name, ".toml")))),*]
    };
}

/// In the order of the draft's table.
const NETWORK_EVENTS: &[(&str, &str)] =
    files!["alone", "alone_200", "low_and_up", "drop_and_back", "blackhole", "short_long", "satellite"];

/// In the order of the draft's table.
const COMPETE: &[(&str, &str)] = files![
    "vs_bbr",
    "vs_c4",
    "vs_cubic",
    "after_c4",
    "before_c4",
    "vs_c4_lg",
    "vs_c4_lg2",
    "vs_bbr_lg",
    "vs_bbr_lg2",
    "vs_cubic_lg",
    "vs_cubic_lg2",
];

/// In the order of the draft's table.
const WIFI: &[(&str, &str)] =
    files!["wifi_bad", "wifi_fade", "wifi_suspension", "wifi_bad_bbr", "wifi_bad_c4", "wifi_bad_cubic",];

const WIFI_WRITTEN: &[(&str, &str)] = files![
    "wifi_bad_written",
    "wifi_fade_written",
    "wifi_bad_bbr_written",
    "wifi_bad_c4_written",
    "wifi_bad_cubic_written",
];
const ECN_SIMULATED: &[(&str, &str)] = files!["ecn", "ecn_c4", "ecn_cubic", "ecn_bbr"];

const ECN_WRITTEN: &[(&str, &str)] =
    files!["l4s", "l4s_c4", "l4s_cubic", "l4s_bbr", "l4s_cubic_ect0", "l4s_media"];

/// In the order of the draft's table.
const MEDIA: &[(&str, &str)] = files![
    "media100",
    "media10",
    "media_600fr",
    "media_short_long",
    "media_wb",
    "media_wf",
    "media_ws",
    "media_ecn",
];

const SHARE: &[(&str, &str)] = files!["share_1bdp", "share_4bdp"];

const DELAY: &[(&str, &str)] = files![
    "delay_05bdp",
    "delay_1bdp",
    "delay_2bdp",
    "delay_4bdp",
    "delay_four_flows",
    "delay_four_rtts",
    "delay_reverse_flows",
    "delay_square_wave",
    "delay_against_cubic",
    "delay_reverse_queue",
];

#[cfg(test)]
mod tests {
    use super::{Group, builtin, builtin_names};

    #[test]
    fn every_file_is_a_scenario_of_its_own_name() {
        let mut names: Vec<&str> = builtin_names().collect();
        for name in &names {
            assert_eq!(builtin(name).map(|scenario| scenario.name).as_deref(), Ok(*name));
            assert_eq!(Group::named(name), [], "a scenario and a group of one name");
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!(Group::named("share"), [Group::Share]);
        let all = Group::named("all");
        assert!(all.starts_with(&[Group::NetworkEvents, Group::Compete]));
        assert!(!all.contains(&Group::Share) && !all.contains(&Group::Delay));
        assert!(!all.contains(&Group::WifiWritten));
    }
}
