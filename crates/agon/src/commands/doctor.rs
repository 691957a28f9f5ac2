//! `agon doctor`: checks that this machine has what Agon needs, and optionally checks a NATS server and a database.

use std::io::IsTerminal as _;
use std::process::Command;
use std::time::Instant;

use agon_bots::error::Diagnostic;
use agon_grid::probe;
use agon_store::{CheckHealth, DoctorCheck};
use serde_json::json;

use crate::args::Doctor;
use crate::{grid, output};

/// The layers of the sandbox, each tried on this machine.
fn sandbox() -> Vec<DoctorCheck> {
    match agon_host::sandbox::probe() {
        Err(error) => vec![DoctorCheck {
            name: "sandbox".into(),
            health: CheckHealth::Bad,
            found: error.to_string(),
            hint: "Agon cannot run programs here, only house bots".into(),
        }],
        Ok(layers) => layers
            .iter()
            .map(|layer| DoctorCheck {
                name: layer.name().into(),
                health: if layer.active { CheckHealth::Good } else { CheckHealth::Note },
                found: if layer.detail.is_empty() {
                    layer.what().to_owned()
                } else {
                    format!("{}: {}", layer.what(), layer.detail)
                },
                hint: layer.how_to_get().into(),
            })
            .collect(),
    }
}

/// How the CPU time of bots is measured here, and what is weaker without a cgroup.
fn meter() -> Option<DoctorCheck> {
    use agon_host::sandbox::LayerKind;
    let layers = agon_host::sandbox::probe().ok()?;
    let cgroup = layers.iter().find(|layer| layer.kind == LayerKind::Cgroup)?;
    let found = if cgroup.active {
        "cgroup: all CPU time of all processes of a bot is charged"
    } else {
        "process clock: all CPU time of a bot's process and its threads is charged; bots can start no processes"
    };
    Some(DoctorCheck {
        name: "meter".into(),
        health: if cgroup.active { CheckHealth::Good } else { CheckHealth::Note },
        found: found.to_owned(),
        hint: cgroup.how_to_get().into(),
    })
}

/// Checks of the NATS server: everything that coordinator and workers need.
fn nats(args: &Doctor) -> Result<Vec<DoctorCheck>, Diagnostic> {
    let Some(options) = args.nats.options("coordinator")? else { return Ok(Vec::new()) };
    grid::with_runtime(|runtime| Ok(runtime.block_on(probe::probe_server(&options))))
}

/// Checks of the database.
fn database(args: &Doctor) -> Result<Vec<DoctorCheck>, Diagnostic> {
    let Some(url) = &args.database else { return Ok(Vec::new()) };
    grid::with_runtime(|runtime| {
        Ok(match runtime.block_on(agon_store::postgres::probe(url)) {
            Ok(checks) => {
                let named = |check: DoctorCheck| DoctorCheck {
                    name: format!("database: {}", check.name).into(),
                    ..check
                };
                checks.into_iter().map(named).collect()
            }
            Err(error) => vec![DoctorCheck::bad("database", &error.into())],
        })
    })
}

/// Checks the machine, and the servers that the user named.
pub fn run(args: &Doctor) -> Result<(), Diagnostic> {
    let mut checks = vec![
        version(),
        cores(),
        clocks(),
        temporary_folder(),
        terminal(),
        colour(),
        games(),
        python(),
        numpy(),
    ];
    checks.extend(sandbox());
    checks.extend(meter());
    checks.extend(nats(args)?);
    checks.extend(database(args)?);
    if args.json {
        let list: Vec<_> = checks
            .iter()
            .map(
                |c| json!({"check": c.name, "health": c.health.describe(), "found": c.found, "hint": c.hint}),
            )
            .collect();
        output::print_json("doctor", json!({"checks": list}))?;
    } else {
        let row = |c: &DoctorCheck| {
            let hint = if c.health == CheckHealth::Good { "" } else { &c.hint };
            vec![c.name.to_string(), c.health.describe().to_owned(), c.found.clone(), hint.to_owned()]
        };
        output::print(&output::table(
            &["Check", "", "Found", "What to do"],
            checks.iter().map(row).collect(),
        ))?;
    }
    match checks.iter().find(|c| c.health == CheckHealth::Bad) {
        Some(c) => Err(Diagnostic::rejected(&c.found).about(&c.name).hint(&c.hint)),
        None => Ok(()),
    }
}

fn version() -> DoctorCheck {
    let found =
        format!("agon {} on {} {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    let health = if cfg!(target_os = "linux") { CheckHealth::Good } else { CheckHealth::Note };
    DoctorCheck {
        name: "program".into(),
        health,
        found,
        hint: "use Linux: Agon is built and tested there".into(),
    }
}

fn cores() -> DoctorCheck {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let health = if cores > 1 { CheckHealth::Good } else { CheckHealth::Note };
    DoctorCheck {
        name: "cores".into(),
        health,
        found: format!("{cores}, so {cores} parallel games"),
        hint: "more cores allow more parallel games".into(),
    }
}

/// Agon reads the wall clock twice per answer, so a slow clock affects every measured time.
fn clocks() -> DoctorCheck {
    const READS: u32 = 10_000;
    let start = Instant::now();
    for _ in 0..READS {
        std::hint::black_box(Instant::now());
    }
    let each = start.elapsed() / READS;
    let health = if each.as_nanos() < 200 { CheckHealth::Good } else { CheckHealth::Note };
    let hint = "the kernel's clock source is slow; see /sys/devices/system/clocksource/clocksource0/available_clocksource";
    DoctorCheck {
        name: "clock".into(),
        health,
        found: format!("{} a reading", output::time(each)),
        hint: hint.into(),
    }
}

fn temporary_folder() -> DoctorCheck {
    let path = std::env::temp_dir().join(format!("agon-doctor-{}", std::process::id()));
    let written = std::fs::write(&path, b"agon").and_then(|()| std::fs::remove_file(&path));
    let place = std::env::temp_dir().display().to_string();
    let hint = "set TMPDIR to a folder with write permission";
    match written {
        Ok(()) => DoctorCheck {
            name: "scratch".into(),
            health: CheckHealth::Good,
            found: format!("{place} is writable"),
            hint: hint.into(),
        },
        Err(error) => DoctorCheck {
            name: "scratch".into(),
            health: CheckHealth::Bad,
            found: format!("{place}: {error}"),
            hint: hint.into(),
        },
    }
}

fn terminal() -> DoctorCheck {
    let both = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    let (health, found) = if both {
        (CheckHealth::Good, "available for --watch and human")
    } else {
        (CheckHealth::Note, "none: --watch prints text")
    };
    DoctorCheck {
        name: "terminal".into(),
        health,
        found: found.to_owned(),
        hint: "run agon in a terminal to watch games live".into(),
    }
}

fn colour() -> DoctorCheck {
    let found = if output::colour() { "on" } else { "off" };
    let hint = "unset NO_COLOR and run in a terminal for colour";
    DoctorCheck {
        name: "colour".into(),
        health: CheckHealth::Good,
        found: found.to_owned(),
        hint: hint.into(),
    }
}

fn games() -> DoctorCheck {
    let infos = agon_games::infos();
    let bots: usize = infos
        .iter()
        .filter_map(|info| agon_engine::any_game(info.id).ok())
        .map(|t| t.house_bots().len())
        .sum();
    let found = format!("{} games, {bots} house bots", infos.len());
    DoctorCheck { name: "games".into(), health: CheckHealth::Good, found, hint: String::new() }
}

/// Python is only needed for bots that are written in Python.
fn python() -> DoctorCheck {
    let hint =
        "only needed for bots written in Python: install python3, or set AGON_PYTHON to an interpreter";
    let version =
        ask_python("import platform, sys; print('Python', platform.python_version(), 'at', sys.executable)");
    let health = if version.is_some() { CheckHealth::Good } else { CheckHealth::Note };
    let found = version.unwrap_or_else(|| "not found".to_owned());
    DoctorCheck { name: "python".into(), health, found, hint: hint.into() }
}

/// Two games pass `NumPy` arrays to Python bots, and many bots of the others import it.
fn numpy() -> DoctorCheck {
    let version = ask_python("import numpy; print('NumPy', numpy.__version__)");
    let health = if version.is_some() { CheckHealth::Good } else { CheckHealth::Note };
    let python = agon_host::python::interpreter().map_or("python3".into(), |path| path.display().to_string());
    DoctorCheck {
        name: "numpy".into(),
        health,
        found: version.unwrap_or_else(|| "not installed for the Python that runs bots".to_owned()),
        hint: format!(
            "needed by most Python bots: {python} -m pip install numpy, or set AGON_PYTHON to a Python that has it"
        ),
    }
}

/// What the Python that runs bots prints for a program. `None` if there is no Python, or if the program fails.
fn ask_python(program: &str) -> Option<String> {
    let python = agon_host::python::interpreter().ok()?;
    let output =
        Command::new(python).args(["-c", program]).output().ok().filter(|out| out.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
