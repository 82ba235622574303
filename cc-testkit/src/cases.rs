//! The 68 cases of bugs found in public, as scripts and as tests of components; cases of invariant U10; and rules that no known
//! bug broke and no invariant covers, with names that begin with R.

use crate::components;
use crate::script::{Script, ScriptError};

/// One case; several may share an id.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Name: the id of the case, and a suffix where it has several parts (`A9-low-rtt`).
    pub name: &'static str,
    /// What it consists of.
    pub kind: CaseKind,
}

/// What a case consists of.
#[derive(Clone, Copy, Debug)]
pub enum CaseKind {
    /// An event script for any controller.
    Script(&'static str),
    /// Scripts after which the windows are equal within one datagram.
    Alike(&'static [&'static str]),
    /// A test of a component that no controller contains.
    Component {
        /// Which one.
        component: &'static str,
        /// The test.
        ///
        /// # Errors
        ///
        /// What did not hold.
        test: fn() -> Result<(), String>,
    },
}

impl Case {
    /// The id of the case without suffix.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.name.split('-').next().unwrap_or(self.name)
    }

    /// The parsed scripts; none for a component's test.
    ///
    /// # Errors
    ///
    /// A script is wrong.
    pub fn scripts(&self) -> Result<Vec<Script>, ScriptError> {
        match self.kind {
            CaseKind::Script(text) => Script::parse(text).map(|script| vec![script]),
            CaseKind::Alike(texts) => texts.iter().map(|text| Script::parse(text)).collect(),
            CaseKind::Component { .. } => Ok(Vec::new()),
        }
    }
}

macro_rules! scripts {
    ($($name:literal)*) => {
        &[$(Case {
            name: $name,
            kind: CaseKind::Script(include_str!(concat!("../cases/", $name, ".txt"))),
        }),*]
    };
}

/// All scripts.
pub const SCRIPTS: &[Case] = scripts![
    "A1"
    "A3"
    "A4"
    "A6"
    "A6-252645136"
    "A6-613566757"
    "A6-4294967296"
    "A7"
    "A7-100-gigabit"
    "A7-terabit"
    "A9"
    "A9-microsecond"
    "A9-three-milliseconds"
    "A11"
    "A12"
    "A13"
    "A15"
    "A17"
    "A18"
    "B1"
    "B1-marked"
    "B2-greedy"
    "B2-greedy-unknown"
    "B2-sparse"
    "B4"
    "B7"
    "B8"
    "B9"
    "B10"
    "B11"
    "B12-1500"
    "B12-9000"
    "B12-black-hole"
    "B12-handshake"
    "B12-raised"
    "C1"
    "C3"
    "C5"
    "C7"
    "C8-acked-between"
    "C8-equal"
    "C8-longer"
    "C8-not-eliciting"
    "C8-no-sample"
    "C8-without-probes"
    "C9"
    "C9-keys"
    "C10"
    "C10-told"
    "C11"
    "C13"
    "C14"
    "C15"
    "C16"
    "C17"
    "C18"
    "C19"
    "D1"
    "D2"
    "D4"
    "D5"
    "D5-loss-first"
    "E2"
    "E3"
    "E4-limited"
    "E4-plateau"
    "E5"
    "E6"
    "E7"
    "E8"
    "E10"
    "E11"
    "E14"
    "E15"
    "E17"
    "F2"
    "F2-trickle"
    "F3"
    "F3-end-of-time"
    "F5-queue"
    "F5-spike"
    "F6"
    "F10"
    "F10-early-loss"
    "F10-other-path"
    "F11"
    "F11-spaces"
    "F12"
    "R1"
    "R2"
    "R2-threshold"
    "R3"
    "R4"
    "R5"
    "R6"
    "R7"
    "R7-hours"
    "R7-reverse"
    "R7-wrap"
    "R8"
    "R8-back"
    "R9"
    "R9-absurd"
    "R10"
    "U10-blackout"
    "U10-greedy"
    "U10-limited"
    "U10-receive-times"
];

/// Scripts that are compared with each other.
pub const COMPARISONS: &[Case] = &[Case {
    name: "B6",
    kind: CaseKind::Alike(&[
        include_str!("../cases/B6-single.txt"),
        include_str!("../cases/B6-ten.txt"),
        include_str!("../cases/B6-small.txt"),
    ]),
}];

/// All tests of components.
pub const COMPONENTS: &[Case] = components::CASES;

/// All cases in the order of their names.
#[must_use]
pub fn all() -> Vec<Case> {
    let mut cases: Vec<Case> = SCRIPTS.iter().chain(COMPARISONS).chain(COMPONENTS).copied().collect();
    cases.sort_by_key(|case| {
        let id = case.id();
        let (letter, number) = id.split_at(1);
        (letter, number.parse::<u32>().unwrap_or(0), case.name)
    });
    cases
}
