//! Landlock: the kernel's own list of which files a process may touch, and whom it may signal.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, RestrictionStatus, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};

use super::layer::Kind;
use super::policy::Policy;
use super::wire::{Failure, Plan, Step as _};

/// The newest Landlock whose rules were tried here.
const NEWEST: ABI = ABI::V6;

/// Devices every program expects.
pub(super) const DEVICES: [&str; 3] = ["/dev/null", "/dev/random", "/dev/urandom"];

/// Restricts this process to the files of its policy, for good.
pub(super) fn restrict(policy: &Policy, plan: &Plan) -> Result<(), Failure> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let mut rules = ruleset(plan)?;
    for path in &policy.executable {
        rules = allow(rules, path, read | AccessFs::Execute)?;
    }
    rules = allow(rules, &policy.program, AccessFs::ReadFile | AccessFs::Execute)?;
    for path in &policy.readable {
        rules = allow(rules, path, read)?;
    }
    for writable in &policy.writable {
        rules = allow(rules, &writable.path, writing())?;
    }
    rules = allow(rules, Path::new("/dev/null"), AccessFs::ReadFile | AccessFs::WriteFile)?;
    for device in &DEVICES[1..] {
        rules = allow(rules, Path::new(device), AccessFs::ReadFile.into())?;
    }
    if plan.mode.is_some() && Path::new("/proc/self").exists() {
        rules = allow(rules, Path::new("/proc"), read)?;
    }
    let status = rules.restrict_self().step("landlock")?;
    holds(&status)
}

/// Everything a bot does in its own folder. No links, sockets, pipes or devices, and nothing to run.
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

/// An empty set of rules for everything this kernel can refuse and the plan asks for.
fn ruleset(plan: &Plan) -> Result<RulesetCreated, Failure> {
    let mut rules = Ruleset::default().handle_access(AccessFs::from_all(NEWEST)).step("landlock")?;
    if plan.has(Kind::LandlockNetwork) {
        rules = rules.handle_access(AccessNet::from_all(NEWEST)).step("landlock")?;
    }
    if plan.has(Kind::LandlockScopes) {
        rules = rules.scope(Scope::from_all(NEWEST)).step("landlock")?;
    }
    rules.create().step("landlock")
}

/// Restricts this process to no file at all, and no signal to anybody. For probing.
pub(super) fn restrict_all(plan: &Plan) -> Result<(), Failure> {
    holds(&ruleset(plan)?.restrict_self().step("landlock")?)
}

fn holds(status: &RestrictionStatus) -> Result<(), Failure> {
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(Failure::new("landlock", "the kernel did not take the rules"));
    }
    Ok(())
}

fn allow(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, Failure> {
    let step = || format!("the bot's user cannot reach {}", path.display());
    let metadata = path.metadata().map_err(|error| Failure::new(step(), error))?;
    let access = if metadata.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    let beneath = PathFd::new(path).map_err(|error| Failure::new(step(), error))?;
    rules.add_rule(PathBeneath::new(beneath, access)).step("landlock")
}
