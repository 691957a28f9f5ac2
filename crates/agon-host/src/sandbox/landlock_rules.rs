//! Landlock rules: the files that a process may access, and the processes that it may signal.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, RestrictionStatus, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};

use super::hidden_paths;
use super::launcher_protocol::{Mode, SandboxPlan, StepContext as _, StepError};
use super::layer::LayerKind;
use super::policy::Policy;

/// The newest Landlock version that was tested with these rules.
const NEWEST_ABI: ABI = ABI::V6;

/// Devices that every program expects.
pub(super) const DEVICES: [&str; 3] = ["/dev/null", "/dev/random", "/dev/urandom"];

/// The access allowed below a path.
pub(super) struct Rule {
    pub path: PathBuf,
    pub access: BitFlags<AccessFs>,
    /// It was found by listing a folder and may be gone.
    pub listed: bool,
}

impl Rule {
    pub(super) fn new(path: impl Into<PathBuf>, access: impl Into<BitFlags<AccessFs>>) -> Self {
        Self { path: path.into(), access: access.into(), listed: false }
    }
}

/// Restricts this process permanently to the files of its policy.
pub(super) fn restrict(policy: &Policy, plan: &SandboxPlan) -> Result<(), StepError> {
    let mut rules = ruleset(plan)?;
    for rule in allowed(policy)? {
        if !rule.is_gone() {
            rules = allow(rules, &rule)?;
        }
    }
    if plan.mode.is_some() && Path::new(PROC).join("self").exists() {
        rules = allow(rules, &Rule::new(PROC, looking()))?;
    }
    let status = rules.restrict_self().step("landlock")?;
    holds(&status)
}

/// The same rules as numbers, for a process that applies them itself: the access rights that are denied by default (files,
/// network, scopes), and the rights allowed below each path.
pub(super) fn as_numbers(policy: &Policy, plan: &SandboxPlan) -> Result<serde_json::Value, StepError> {
    let abi = ABI::from(i32::from(plan.landlock)).min(NEWEST_ABI);
    let known = AccessFs::from_all(abi);
    let mut rules = Vec::new();
    for rule in allowed(policy)?.into_iter().filter(|rule| !rule.is_gone()) {
        let access = reachable(&rule)? & known;
        rules.push(serde_json::json!([rule.path, access.bits()]));
    }
    let network = if plan.has(LayerKind::LandlockNetwork) { AccessNet::from_all(abi).bits() } else { 0 };
    let scopes = if plan.has(LayerKind::LandlockScopes) { Scope::from_all(abi).bits() } else { 0 };
    // Only the fork itself can see whether there is a /proc inside. As an ordinary user a fork has none: its processes could look into
    // each other, because the launcher must be able to look into them.
    let proc = (plan.mode == Some(Mode::Plain)).then(|| (PROC, looking().bits()));
    Ok(serde_json::json!({
        "files": known.bits(), "network": network, "scopes": scopes, "rules": rules, "proc": proc,
    }))
}

const PROC: &str = "/proc";

fn looking() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::ReadDir
}

fn allowed(policy: &Policy) -> Result<Vec<Rule>, StepError> {
    let read = looking();
    let mut rules = Vec::new();
    rules.extend(policy.executable.iter().map(|path| Rule::new(path, read | AccessFs::Execute)));
    rules.push(Rule::new(&policy.program, AccessFs::ReadFile | AccessFs::Execute));
    rules.extend(policy.readable.iter().map(|path| Rule::new(path, read)));
    rules.extend(policy.writable.iter().map(|writable| Rule::new(&writable.path, writing())));
    rules.push(Rule::new(DEVICES[0], AccessFs::ReadFile | AccessFs::WriteFile));
    rules.extend(DEVICES[1..].iter().map(|device| Rule::new(device, AccessFs::ReadFile)));
    hidden_paths::without(&policy.hidden, rules)
}

impl Rule {
    fn is_gone(&self) -> bool {
        self.listed && self.path.symlink_metadata().is_err()
    }
}

/// Everything a bot may do in a writable folder: no links, sockets, pipes or devices, and no execution.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
        | AccessFs::Refer
}

/// An empty ruleset for everything that this kernel can deny and the plan asks for.
fn ruleset(plan: &SandboxPlan) -> Result<RulesetCreated, StepError> {
    let mut rules = Ruleset::default().handle_access(AccessFs::from_all(NEWEST_ABI)).step("landlock")?;
    if plan.has(LayerKind::LandlockNetwork) {
        rules = rules.handle_access(AccessNet::from_all(NEWEST_ABI)).step("landlock")?;
    }
    if plan.has(LayerKind::LandlockScopes) {
        rules = rules.scope(Scope::from_all(NEWEST_ABI)).step("landlock")?;
    }
    rules.create().step("landlock")
}

/// Denies this process all files and signals. For probing.
pub(super) fn restrict_all(plan: &SandboxPlan) -> Result<(), StepError> {
    holds(&ruleset(plan)?.restrict_self().step("landlock")?)
}

fn holds(status: &RestrictionStatus) -> Result<(), StepError> {
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(StepError::new("landlock", "the kernel did not accept the rules"));
    }
    Ok(())
}

/// The access rights of a rule that apply to the type of its file.
fn reachable(rule: &Rule) -> Result<BitFlags<AccessFs>, StepError> {
    let metadata = rule.path.metadata().map_err(|error| StepError::new(unreachable(&rule.path), error))?;
    Ok(if metadata.is_dir() { rule.access } else { rule.access & AccessFs::from_file(NEWEST_ABI) })
}

fn unreachable(path: &Path) -> String {
    format!("the bot's user cannot reach {}", path.display())
}

fn allow(rules: RulesetCreated, rule: &Rule) -> Result<RulesetCreated, StepError> {
    let access = reachable(rule)?;
    let beneath = PathFd::new(&rule.path).map_err(|error| StepError::new(unreachable(&rule.path), error))?;
    rules.add_rule(PathBeneath::new(beneath, access)).step("landlock")
}
