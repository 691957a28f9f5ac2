//! Controllers of the version 2 hierarchy, which limit the memory and the number of processes of a whole bot.
//!
//! The kernel gives controllers to the children of a cgroup only if that cgroup itself contains no process. So Agon moves its own
//! processes to a child of its own cgroup, where the cgroup belongs to Agon alone: a service or a scope with `Delegate=yes`. Everywhere
//! else nothing is changed, and the launcher counts memory itself.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

/// Prefix of the cgroup of Agon's own processes. The id of the engine's process follows.
const ENGINE_PREFIX: &str = "agon-engine-";
/// The controllers that limit a bot.
pub(super) const WANTED: [&str; 2] = ["memory", "pids"];

/// The folder below which bots get their cgroups, if a process is in this folder: the one above it if Agon has moved itself.
pub(super) fn bots_parent(own: PathBuf) -> PathBuf {
    let is_engine =
        own.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(ENGINE_PREFIX));
    match own.parent() {
        Some(parent) if is_engine => parent.to_owned(),
        _ => own,
    }
}

/// Enables the wanted controllers for the children of this cgroup, if all its processes belong to this engine. Returns whether at least one
/// is enabled now.
pub(super) fn enable(folder: &Path, engine: Pid, wanted: &[&str]) -> bool {
    let words = |file: &str| -> Vec<String> {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        text.split_ascii_whitespace().map(ToOwned::to_owned).collect()
    };
    let offered = words("cgroup.controllers");
    let enabled = words("cgroup.subtree_control");
    let has = |list: &[String], name: &str| list.iter().any(|one| one == name);
    let missing: Vec<&str> =
        wanted.iter().copied().filter(|name| has(&offered, name) && !has(&enabled, name)).collect();
    let already = wanted.iter().any(|name| has(&enabled, name));
    // The root of the hierarchy has no type. It belongs to the machine.
    if missing.is_empty() || !folder.join("cgroup.type").exists() {
        return already;
    }
    let members: Vec<Pid> =
        words("cgroup.procs").iter().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect();
    if !all_descend_from(&members, engine) {
        return already;
    }
    let leaf = folder.join(format!("{ENGINE_PREFIX}{}", engine.as_raw_nonzero()));
    if fs::create_dir(&leaf).is_err() && !leaf.exists() {
        return already;
    }
    let moved = members.iter().all(|pid| move_to(&leaf, *pid));
    let request = missing.iter().map(|name| format!("+{name}")).collect::<Vec<_>>().join(" ");
    if moved && fs::write(folder.join("cgroup.subtree_control"), request).is_ok() {
        return true;
    }
    // As it was before.
    for pid in members {
        move_to(folder, pid);
    }
    let _ = fs::remove_dir(&leaf);
    already
}

/// Moves a process. One that has ended counts as moved.
fn move_to(folder: &Path, pid: Pid) -> bool {
    let text = pid.as_raw_nonzero().to_string();
    match fs::write(folder.join("cgroup.procs"), text) {
        Ok(()) => true,
        Err(error) => error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()),
    }
}

/// Whether all these processes are the engine or were started by it, directly or not.
fn all_descend_from(members: &[Pid], engine: Pid) -> bool {
    let parents: HashMap<Pid, Pid> = members.iter().filter_map(|&pid| Some((pid, parent_of(pid)?))).collect();
    let descends = |&pid: &Pid| {
        let mut at = Some(pid);
        // A chain has no more links than there are processes.
        (0..=members.len()).any(|_| {
            let found = at == Some(engine);
            at = at.and_then(|pid| parents.get(&pid).copied());
            found
        })
    };
    members.contains(&engine) && members.iter().all(descends)
}

/// The parent of a process.
fn parent_of(pid: Pid) -> Option<Pid> {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    Pid::from_raw(line.trim().parse().ok()?)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A plain folder with the files of a cgroup: a real one has controllers only where the machine's owner gives them to it.
    fn folder(controllers: &str, members: &[Pid]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let members: Vec<String> = members.iter().map(|pid| pid.as_raw_nonzero().to_string()).collect();
        let members = members.join("\n");
        for (file, text) in [
            ("cgroup.controllers", controllers),
            ("cgroup.subtree_control", ""),
            ("cgroup.type", "domain\n"),
            ("cgroup.procs", &members),
        ] {
            fs::write(folder.path().join(file), text).unwrap();
        }
        folder
    }

    #[test]
    fn engine_leaves_a_cgroup_of_its_own_and_enables_what_limits_bots() {
        let me = rustix::process::getpid();
        let own = folder("cpu io memory pids", &[me]);
        assert!(enable(own.path(), me, &WANTED));
        let read = |file: &str| fs::read_to_string(own.path().join(file)).unwrap();
        assert_eq!(read("cgroup.subtree_control"), "+memory +pids");
        let leaf = own.path().join(format!("{ENGINE_PREFIX}{}", me.as_raw_nonzero()));
        assert_eq!(fs::read_to_string(leaf.join("cgroup.procs")).unwrap(), me.as_raw_nonzero().to_string());
        assert_eq!(bots_parent(leaf), own.path());
        assert_eq!(bots_parent(own.path().to_owned()), own.path());
        fs::write(own.path().join("cgroup.subtree_control"), "memory pids").unwrap();
        assert!(enable(own.path(), me, &WANTED), "it is enabled already");
    }

    #[test]
    fn nothing_changes_in_a_cgroup_that_is_not_the_engines_own() {
        let me = rustix::process::getpid();
        let unchanged = |folder: &tempfile::TempDir, why: &str| {
            assert!(!enable(folder.path(), me, &WANTED), "{why}");
            assert_eq!(
                fs::read_to_string(folder.path().join("cgroup.subtree_control")).unwrap(),
                "",
                "{why}"
            );
            assert!(
                fs::read_dir(folder.path()).unwrap().flatten().all(|entry| entry.path().is_file()),
                "{why}"
            );
        };
        let parent = rustix::process::getppid().unwrap();
        unchanged(&folder("memory pids", &[me, parent]), "another process is in it");
        unchanged(&folder("hugetlb", &[me]), "it has no useful controller");
        unchanged(&folder("memory pids", &[]), "the engine is elsewhere");
        let root = folder("memory pids", &[me]);
        fs::remove_file(root.path().join("cgroup.type")).unwrap();
        unchanged(&root, "the root of the hierarchy");
    }

    #[test]
    fn descendants_of_the_engine_belong_to_it() {
        let me = rustix::process::getpid();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        assert!(all_descend_from(&[me, pid], me));
        assert!(!all_descend_from(&[me, pid], pid), "a parent is no descendant");
        assert!(!all_descend_from(&[pid], me), "the engine itself is elsewhere");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
