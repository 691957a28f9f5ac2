//! The bot's namespaces: processes, network, IPC, host name, and a root folder that contains only what the policy names.

use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount,
    mount_bind, mount_change, move_mount, open_tree, unmount,
};
use rustix::process::{chdir, getgid, getuid, pivot_root};
use rustix::thread::UnshareFlags;

use super::kept_folders::KeptFolder;
use super::landlock_rules::DEVICES;
use super::launcher_protocol::{Mode, StepContext as _, StepError};
use super::policy::{Policy, User, Writable};
use super::unsafe_syscalls;

/// The launcher's part: every process it forks from now on is in a new process namespace (and in its user namespace).
pub(super) fn open(mode: Mode) -> Result<(), StepError> {
    match mode {
        Mode::Plain => unsafe_syscalls::unshare(UnshareFlags::NEWPID).step("process namespace"),
        Mode::WithUser => {
            let (uid, gid) = (getuid().as_raw(), getgid().as_raw());
            // The mount namespace is for the file systems that the launcher itself creates (`kept_folders`).
            unsafe_syscalls::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWPID | UnshareFlags::NEWNS)
                .step("user and process namespace")?;
            // Map this user and group to themselves; no others exist inside.
            fs::write("/proc/self/setgroups", "deny").step("user namespace")?;
            fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")).step("user namespace")?;
            fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")).step("user namespace")
        }
    }
}

/// All kinds of namespaces that a bot is in.
pub(super) fn kinds(mode: Mode) -> UnshareFlags {
    let all = UnshareFlags::NEWPID | BOT_NAMESPACES;
    if mode == Mode::WithUser { all | UnshareFlags::NEWUSER } else { all }
}

/// The namespaces that the bot's side creates itself.
const BOT_NAMESPACES: UnshareFlags =
    UnshareFlags::NEWNS.union(UnshareFlags::NEWNET).union(UnshareFlags::NEWIPC).union(UnshareFlags::NEWUTS);

/// The bot's part, before it drops its privileges: its own mounts, network, IPC and host name.
pub(super) fn enter(policy: &Policy, user: Option<User>, kept: &[KeptFolder]) -> Result<(), StepError> {
    unsafe_syscalls::unshare(BOT_NAMESPACES).step("mount, network, IPC and host name namespaces")?;
    rustix::system::sethostname(b"agon").step("host name")?;
    build_root(policy, user, kept)
}

/// A subtree from outside that is mounted inside.
struct BindMount {
    at: PathBuf,
    mount: OwnedFd,
    is_folder: bool,
}

/// Builds the new root. A nested path comes after the path that contains it.
fn build_root(policy: &Policy, user: Option<User>, kept: &[KeptFolder]) -> Result<(), StepError> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).step("mount namespace")?;
    let trees = trees(policy, kept)?;
    let base = ["/tmp", "/run", "/mnt", "/var", "/proc"].into_iter().find(|path| Path::new(path).is_dir());
    let base = base.ok_or_else(|| StepError::new("mount namespace", "there is no folder to mount on"))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("agon", base, "tmpfs", flags, Some(c"size=1m,nr_inodes=4096,mode=755"))
        .step("mounting the new root")?;
    chdir(base).step("entering the new root")?;
    for tree in &trees {
        attach(tree)
            .map_err(|error| StepError::new(format!("showing {} inside", tree.at.display()), error))?;
    }
    for folder in kept {
        attach_kept(folder)
            .map_err(|error| StepError::new(format!("showing {} inside", folder.path.display()), error))?;
    }
    for writable in policy.writable.iter().filter(|writable| !writable.kept) {
        let owner = user.map_or_else(|| (getuid().as_raw(), getgid().as_raw()), |user| (user.uid, user.gid));
        let options =
            format!("size={},nr_inodes=16384,mode=700,uid={},gid={}", writable.bytes, owner.0, owner.1);
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        let at = inside(&writable.path);
        make_place(&at, true).step("making the scratch folder")?;
        let options = std::ffi::CString::new(options).step("making the scratch folder")?;
        mount("scratch", &at, "tmpfs", flags, Some(options.as_c_str())).step("making the scratch folder")?;
    }
    mount_proc().step("mounting /proc")?;
    pivot_root(".", ".").step("changing the root")?;
    unmount(".", UnmountFlags::DETACH).step("leaving the old root")?;
    chdir("/").step("entering the new root")?;
    seal().step("making the new root read-only")
}

/// Mounts a `/proc` that shows only the bot's processes. Where that is not allowed (in many containers), there is none.
fn mount_proc() -> io::Result<()> {
    fs::create_dir_all("proc")?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    let _ = mount("proc", "proc", "proc", flags, Some(c"subset=pid,hidepid=2"));
    Ok(())
}

fn seal() -> io::Result<()> {
    let root = open_tree(CWD, "/", OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
    unsafe_syscalls::mount_attributes(
        root.as_fd(),
        u64::from(MountAttrFlags::MOUNT_ATTR_RDONLY.bits()),
        false,
    )
}

/// Clones every mount that the policy names, with its attributes.
fn trees(policy: &Policy, exact: &[KeptFolder]) -> Result<Vec<BindMount>, StepError> {
    let quiet = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let read_only = quiet | MountAttrFlags::MOUNT_ATTR_RDONLY;
    let mut wanted: Vec<(PathBuf, MountAttrFlags)> = Vec::new();
    wanted.extend(policy.executable.iter().map(|path| (path.clone(), read_only)));
    wanted.push((policy.program.clone(), read_only));
    // A readable folder may contain an executable one, or the program. Landlock decides what may be executed there.
    wanted.extend(policy.readable.iter().map(|path| (path.clone(), read_only)));
    let is_exact = |writable: &Writable| exact.iter().any(|folder| folder.path == writable.path);
    let kept = policy.writable.iter().filter(|writable| writable.kept && !is_exact(writable));
    wanted.extend(kept.map(|kept| (kept.path.clone(), quiet | MountAttrFlags::MOUNT_ATTR_NOEXEC)));
    wanted.extend(DEVICES.iter().map(|device| (device.into(), MountAttrFlags::MOUNT_ATTR_NOSUID)));
    let mut places = Vec::new();
    for (path, attributes) in wanted {
        let real = fs::canonicalize(&path)
            .map_err(|error| StepError::new(format!("finding {}", path.display()), error))?;
        places.push((real.clone(), real.clone(), attributes));
        if real != path {
            places.push((path, real, attributes));
        }
    }
    places.sort_by(|a, b| a.0.cmp(&b.0));
    let mut trees: Vec<BindMount> = Vec::new();
    let mut shown: Vec<(PathBuf, MountAttrFlags)> = Vec::new();
    for (at, from, attributes) in places {
        let covered = |(path, has): &(PathBuf, MountAttrFlags)| {
            // A symbolic link inside a subtree that is mounted is already there.
            at.starts_with(path) && (*has == attributes || at != from)
        };
        if shown.iter().any(covered) {
            continue;
        }
        let flags =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        let step = |error: io::Error| StepError::new(format!("taking {}", from.display()), error);
        let mount = open_tree(CWD, &from, flags).map_err(|error| step(error.into()))?;
        unsafe_syscalls::mount_attributes(mount.as_fd(), u64::from(attributes.bits()), true).map_err(step)?;
        trees.push(BindMount { at: at.clone(), mount, is_folder: from.is_dir() });
        shown.push((at, attributes));
    }
    Ok(trees)
}

fn attach(tree: &BindMount) -> io::Result<()> {
    let at = inside(&tree.at);
    make_place(&at, tree.is_folder)?;
    move_mount(tree.mount.as_fd(), "", CWD, &at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    Ok(())
}

/// Attaches the file system of a kept folder, under both names if a symbolic link leads to it.
fn attach_kept(folder: &KeptFolder) -> io::Result<()> {
    let at = inside(&folder.real);
    make_place(&at, true)?;
    move_mount(folder.mount(), "", CWD, &at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    let named = inside(&folder.path);
    if folder.path != folder.real
        && !fs::canonicalize(&named).is_ok_and(|named| fs::canonicalize(&at).is_ok_and(|at| at == named))
    {
        make_place(&named, true)?;
        mount_bind(&at, &named)?;
    }
    Ok(())
}

/// A path below the new root, which is the working folder while it is built.
fn inside(path: &Path) -> PathBuf {
    Path::new(".").join(path.strip_prefix("/").unwrap_or(path))
}

/// Creates a mount point: a folder, or an empty file.
fn make_place(at: &Path, is_folder: bool) -> io::Result<()> {
    if at.exists() {
        return Ok(());
    }
    if is_folder {
        return fs::create_dir_all(at);
    }
    if let Some(above) = at.parent() {
        fs::create_dir_all(above)?;
    }
    fs::File::create(at).map(|_| ())
}
