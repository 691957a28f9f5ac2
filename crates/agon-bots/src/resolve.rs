//! Resolves a bot spec to a program that can be seated.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::{Assets, BotFile, GameInfo, PythonApi, Settings};
use agon_engine::any_game::{MatchSetup, PlayError};
use agon_engine::{AnyGame, BotLoadError, PlayerSpec, ProgramSpec};
use agon_host::BotRejection;
use agon_host::Program;

use crate::MessageSink;
use crate::error::Diagnostic;
use crate::manifest::Manifest;
use crate::source::source_check::{check_source, only_bot};
use crate::source::{archive, content_hash, overlay_dir, players_yml, submission_root};

/// Whether programs run in the sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum SandboxMode {
    /// In the sandbox, with all available layers; fails if a required layer is missing.
    On,
    /// Without the sandbox, like any other program of yours.
    Off,
}

/// A bot to resolve.
#[derive(Clone, Copy, Debug)]
pub struct BotRequest<'o> {
    /// Id of the game.
    pub game: &'o str,
    /// Bot spec: `house:NAME`, a path, a command, `human`.
    pub bot: &'o str,
    /// Whether the bot runs in the sandbox.
    pub sandbox: SandboxMode,
    /// Whether the bot's data is kept in its folder.
    pub keep: bool,
    /// Additional file in the bot's folder.
    pub beside: Option<ExtraFile<'o>>,
    /// Base folder for relative paths and commands; empty means the current folder.
    pub folder: &'o Path,
}

/// A file that Agon adds to a bot's folder: the published history of the competition.
#[derive(Clone, Copy, Debug)]
pub struct ExtraFile<'b> {
    /// Name in the bot's folder.
    pub name: &'b str,
    /// Path of the file.
    pub path: &'b Path,
}

/// Reason why a bot spec cannot be resolved.
pub enum ResolveError {
    /// The bot is not accepted.
    Refused(BotRejection),
    /// Any other failure.
    Failed(Diagnostic),
}

impl ResolveError {
    /// Converts to a failure of the command that named the bot.
    pub fn of(self, bot: &str) -> Diagnostic {
        match self {
            Self::Refused(refusal) => refusal.of_bot(bot),
            Self::Failed(failure) => failure,
        }
    }
}

impl From<BotRejection> for ResolveError {
    fn from(refusal: BotRejection) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Diagnostic> for ResolveError {
    fn from(failure: Diagnostic) -> Self {
        Self::Failed(failure)
    }
}

impl From<io::Error> for ResolveError {
    fn from(error: io::Error) -> Self {
        Self::Refused(BotRejection::new(
            format!("cannot be read: {error}"),
            "check that the file exists and is readable",
        ))
    }
}

/// Resolves a bot spec.
pub fn resolve_bot(request: &BotRequest<'_>, notify: MessageSink<'_>) -> Result<PlayerSpec, ResolveError> {
    let BotRequest { game, bot, folder, .. } = *request;
    if let Some(name) = bot.strip_prefix("house:") {
        return Ok(PlayerSpec::House(name.to_owned()));
    }
    if bot == "human" {
        return Ok(PlayerSpec::Human);
    }
    if let Some(manifest) = Manifest::of(game, bot, folder)? {
        return request.resolve_manifest(&manifest, notify).map(PlayerSpec::Program);
    }
    let seat = match kind_of(bot, folder)? {
        BotKind::Listed(path, name) => request.resolve_players_yml(path, name)?,
        BotKind::Python(path, class) => request.resolve_python_path(path, class, notify)?,
        BotKind::Packed(path, class) => request.resolve_zip(path, class)?,
        BotKind::Command(command, json_lines) => request.resolve_command(command, json_lines)?,
    };
    Ok(PlayerSpec::Program(seat))
}

/// Kind of a bot spec. Paths are as the user wrote them.
pub(crate) enum BotKind<'b> {
    Listed(&'b Path, Option<&'b str>),
    Python(&'b Path, Option<&'b str>),
    Packed(&'b Path, Option<&'b str>),
    Command(&'b str, bool),
}

pub(crate) fn kind_of<'b>(bot: &'b str, folder: &Path) -> Result<BotKind<'b>, ResolveError> {
    let whole = Path::new(bot);
    let ends =
        |path: &Path, endings: &[&str]| path.extension().is_some_and(|e| endings.iter().any(|x| e == *x));
    if players_yml::is_list(&folder.join(whole)) {
        return Ok(BotKind::Listed(whole, None));
    }
    if let Some((path, name)) = bot.rsplit_once('#')
        && ends(Path::new(path), &["yml", "yaml"])
    {
        return Ok(BotKind::Listed(Path::new(path), Some(name)));
    }
    let (path, class) = match bot.rsplit_once(':') {
        Some((path, class))
            if !folder.join(whole).exists() && is_class_name(class) && folder.join(path).exists() =>
        {
            (Path::new(path), Some(class))
        }
        _ => (whole, None),
    };
    let is_file = folder.join(path).is_file();
    if folder.join(path).is_dir() || (is_file && ends(path, &["py"])) {
        return Ok(BotKind::Python(path, class));
    }
    if is_file && ends(path, &["zip"]) {
        return Ok(BotKind::Packed(path, class));
    }
    let json = bot.strip_prefix("json:");
    let command = json.unwrap_or(bot);
    if json.is_none() && !command.contains(' ') && ends(path, &["py", "zip", "yml", "yaml"]) {
        return Err(BotRejection::new(
            "the file does not exist",
            "write the path relative to the current folder",
        )
        .into());
    }
    // A single word is a command only if it is a path: `random` is probably a house bot without `house:`.
    if json.is_none() && !command.contains([' ', '/']) {
        let hint = if folder.join(command).exists() {
            format!("write ./{command} for a program in the current folder")
        } else {
            format!("write house:{command} for a house bot (see `agon bots GAME`), or human to play yourself")
        };
        return Err(Diagnostic::wrong_use(format!("`{bot}` is not a bot"), hint).into());
    }
    Ok(BotKind::Command(command, json.is_some()))
}

/// Whether the text is a valid class name.
fn is_class_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c == '_' || c.is_alphanumeric())
}

impl BotRequest<'_> {
    fn game_info(&self) -> Result<&'static GameInfo, ResolveError> {
        Ok(agon_games::game_info(self.game).map_err(Diagnostic::from)?)
    }

    /// A folder or a `.py` file, optionally with a class. In a game without a Python API scripts are commands.
    fn resolve_python_path(
        &self,
        path: &Path,
        class: Option<&str>,
        notify: MessageSink<'_>,
    ) -> Result<ProgramSpec, ResolveError> {
        let info = self.game_info()?;
        if info.bots.python.is_none() {
            let hint = format!("name it as a command: \"python3 {}\"", path.display());
            let what = format!("{} has no Python API; its bots read lines", info.title);
            return Err(BotRejection::new(what, hint).into());
        }
        let whole = self.folder.join(path).canonicalize()?;
        let name = class.map_or_else(|| stem(&whole), str::to_owned);
        let hash = content_hash::hash(&whole, &class.map_or(vec![], |class| vec![class]))?;
        let seat = self.python_seat(name, hash);
        // The bot's data and additional files are beside its file.
        let (source, file) = if whole.is_file() {
            (whole.parent().unwrap_or(&whole).to_owned(), whole.file_name())
        } else {
            (submission_root(&whole), None)
        };
        if !info.bots.keeps_data {
            let Some(beside) = self.beside else { return Ok(seat(self.python_program(&whole, class)?)) };
            let home = overlay_dir::of(&source, &[beside.name])?;
            let target = file.map_or_else(|| home.path().to_owned(), |file| home.path().join(file));
            let mut program = self.python_program(&target, class)?;
            program.readable_dirs.push(source);
            program.bot_files = vec![whole.clone()];
            link_extra_file(beside, home.path(), &mut program)?;
            program.private = Some(home.whole().to_owned());
            return Ok(ProgramSpec { scratch_dir: Some(Arc::new(home)), ..seat(program) });
        }
        let own = vec![whole.clone()];
        let (home, learning) = overlay_dir::with_bot_data(&source, self.keep)?;
        if self.keep && !learning.kept {
            notify(&format!("{}: the folder is not writable, so the bot's data will be lost", self.bot));
        }
        let target = file.map_or_else(|| home.path().to_owned(), |file| home.path().join(file));
        let mut program = self.python_program(&target, class)?;
        program.readable_dirs.push(source);
        program.writable.push(learning.data);
        program.bot_files = own;
        program.private = Some(home.whole().to_owned());
        Ok(ProgramSpec { logs_dir: Some(learning.logs), scratch_dir: Some(Arc::new(home)), ..seat(program) })
    }

    /// A Python bot in a `.zip`.
    fn resolve_zip(&self, path: &Path, class: Option<&str>) -> Result<ProgramSpec, ResolveError> {
        let info = self.game_info()?;
        let Some(python) = info.bots.python else {
            let hint = "unpack it and name it in a players.yml (FILE#NAME), or by its command in quotes";
            return Err(
                BotRejection::new(format!("{} does not accept bots as .zip", info.title), hint).into()
            );
        };
        let whole = self.folder.join(path);
        let home = archive::unpack(&whole).map_err(|refusal| {
            // Errors show the path as the user wrote it.
            let own = refusal.file.as_deref().is_some_and(|file| Path::new(file) == whole);
            if own { refusal.in_file(path.display().to_string()) } else { refusal }
        })?;
        let root = submission_root(home.path());
        let mut target = root.clone();
        if class.is_none() && python == PythonApi::Class {
            let survey = check_source(&self.python_program(&root, None)?)?;
            target = only_bot(&root, &survey)?.unwrap_or(root);
        }
        let mut program = self.python_program(&target, class)?;
        let (name, extra) =
            if target.is_file() { (stem(&target), stem(&target)) } else { (stem(path), String::new()) };
        let name = class.map_or(name, str::to_owned);
        let hash = content_hash::hash(home.path(), &[class.unwrap_or_default(), &extra])?;
        let mut logs = None;
        if info.bots.keeps_data {
            let beside = if target.is_file() { target.parent().unwrap_or(&target) } else { &target };
            let learning = overlay_dir::bot_data_in(beside)?;
            program.writable.push(learning.data);
            logs = Some(learning.logs);
        }
        if let Some(beside) = self.beside {
            let folder = if target.is_file() { target.parent().unwrap_or(&target) } else { &target };
            link_extra_file(beside, folder, &mut program)?;
        }
        program.private = Some(home.whole().to_owned());
        Ok(ProgramSpec {
            logs_dir: logs,
            scratch_dir: Some(Arc::new(home)),
            ..self.python_seat(name, hash)(program)
        })
    }

    fn python_program(&self, path: &Path, class: Option<&str>) -> Result<Program, ResolveError> {
        let program = agon_host::python::bot(self.game_info()?, path, class).map_err(BotRejection::from)?;
        self.sandboxed(program)
    }

    fn python_seat(&self, name: String, hash: String) -> impl FnOnce(Program) -> ProgramSpec {
        let spec = self.bot.to_owned();
        move |program| ProgramSpec {
            name,
            spec,
            hash,
            program,
            json_lines: true,
            isolates_calls: true,
            logs_dir: None,
            scratch_dir: None,
        }
    }

    /// A folder with an `agon.toml`.
    fn resolve_manifest(
        &self,
        manifest: &Manifest,
        notify: MessageSink<'_>,
    ) -> Result<ProgramSpec, ResolveError> {
        let program = self.sandboxed(manifest.program(notify).map_err(BotRejection::from)?)?;
        let hash = manifest.content_hash(&program.words)?;
        self.command_seat(manifest.name().to_owned(), hash, program, manifest.json_lines())
    }

    /// An entry of a `players.yml`.
    fn resolve_players_yml(&self, path: &Path, name: Option<&str>) -> Result<ProgramSpec, ResolveError> {
        if !self.game_info()?.bots.players_yml {
            let hint = "name the bot by its path, or by its command in quotes";
            let listed = agon_games::infos().into_iter().filter(|info| info.bots.players_yml);
            let of: Vec<String> = listed.map(|info| info.title.to_owned()).collect();
            return Err(
                BotRejection::new(format!("a players.yml is only for {}", of.join(" and ")), hint).into()
            );
        }
        let player = players_yml::choose_in(self.folder, path, name)?;
        let program = self.sandboxed(player.program(self.sandbox == SandboxMode::On)?)?;
        let hash = content_hash::hash(&program.folder, &[&player.command])?;
        self.command_seat(player.name, hash, program, false)
    }

    /// A command, run in the base folder.
    fn resolve_command(&self, command: &str, json_lines: bool) -> Result<ProgramSpec, ResolveError> {
        let folder = self.folder.join(".").canonicalize()?;
        let program = Program::from_command(command, &folder).map_err(BotRejection::from)?;
        let program = self.sandboxed(program)?;
        players_yml::named_files(&program)?;
        // The bot consists of the files that the command names, and is named after the last of them.
        let files = named_files(&program.words, &folder);
        let name = files
            .last()
            .map(|path| stem(path))
            .or_else(|| program.words.first().map(|word| stem(Path::new(word))));
        let words: Vec<&str> = program.words.iter().map(String::as_str).collect();
        let hash = content_hash::hash_files(&folder, &files.into_iter().collect(), &words)?;
        self.command_seat(name.unwrap_or_default(), hash, program, json_lines)
    }

    /// Gives the bot the file of the game, if there is one, in the folder that it runs in.
    fn command_seat(
        &self,
        name: String,
        hash: String,
        mut program: Program,
        json_lines: bool,
    ) -> Result<ProgramSpec, ResolveError> {
        let mut home = None;
        let file = self.game_info()?.bots.file;
        let added: Vec<&str> =
            file.map(|file| file.name).into_iter().chain(self.beside.map(|beside| beside.name)).collect();
        if !added.is_empty() {
            let view = overlay_dir::of(&program.folder, &added)?;
            if let Some(file) = file {
                write_bot_file(view.path(), file, &(file.content)(None).unwrap_or_default())?;
            }
            if let Some(beside) = self.beside {
                link_extra_file(beside, view.path(), &mut program)?;
            }
            let source = std::mem::replace(&mut program.folder, view.path().to_owned());
            // `../` has a different meaning in the bot's view of the files, so such paths become absolute.
            for word in program.words.iter_mut().filter(|word| word.starts_with("../")) {
                if let Ok(path) = source.join(&*word).canonicalize() {
                    *word = path.display().to_string();
                }
            }
            program.readable_dirs.push(source);
            program.private = Some(view.whole().to_owned());
            home = Some(Arc::new(view));
        }
        let spec = self.bot.to_owned();
        Ok(ProgramSpec {
            name,
            spec,
            hash,
            program,
            json_lines,
            isolates_calls: false,
            logs_dir: None,
            scratch_dir: home,
        })
    }

    /// Puts the program into the sandbox, unless that is off, and checks that it can run there.
    fn sandboxed(&self, program: Program) -> Result<Program, ResolveError> {
        if self.sandbox == SandboxMode::Off {
            return Ok(program);
        }
        let program = program.sandboxed();
        program.locate().map_err(BotRejection::from)?;
        require_layers()?;
        Ok(program)
    }
}

/// Files that a command names.
pub(crate) fn named_files(words: &[String], folder: &Path) -> Vec<PathBuf> {
    words.iter().map(|word| folder.join(word)).filter(|path| path.is_file()).collect()
}

/// Links a file into a bot's folder and makes it readable for the bot.
fn link_extra_file(beside: ExtraFile<'_>, folder: &Path, program: &mut Program) -> io::Result<()> {
    let link = folder.join(beside.name);
    if link.symlink_metadata().is_ok() {
        std::fs::remove_file(&link)?;
    }
    std::os::unix::fs::symlink(beside.path, link)?;
    program.readable_dirs.push(beside.path.to_owned());
    Ok(())
}

fn write_bot_file(folder: &Path, file: BotFile, content: &[u8]) -> io::Result<()> {
    let path = folder.join(file.name);
    std::fs::write(&path, content)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o644))
}

/// Gives the seated programs the file of the game that the settings define. If a bot plays itself, each seat but the first gets
/// a separate, temporary `data/`, because two processes must not write to one folder. `folder` is the base folder of their paths.
pub fn install_game_files(
    game: &str,
    seats: &mut [PlayerSpec],
    settings: &Settings,
    assets: &Assets,
    folder: &Path,
) -> Result<(), Diagnostic> {
    let file = agon_games::game_info(game)?.bots.file;
    let content = file.and_then(|file| {
        let asset = settings.word(file.setting).and_then(|name| assets.get(name))?;
        Some((file, (file.content)(Some(asset))?))
    });
    let mut taken = Vec::new();
    for seat in seats {
        let PlayerSpec::Program(one) = seat else { continue };
        if let (Some((file, content)), Some(home)) = (&content, &one.scratch_dir) {
            write_bot_file(home.path(), *file, content)?;
        }
        let data = one.program.writable.first().map(|folder| folder.path.clone());
        if data.as_ref().is_some_and(|data| taken.contains(data)) {
            let sandbox = if one.program.sandboxed { SandboxMode::On } else { SandboxMode::Off };
            let spec = one.spec.clone();
            let request = BotRequest { game, bot: &spec, sandbox, keep: false, beside: None, folder };
            // Messages were already sent when the bot was resolved first.
            *seat = resolve_bot(&request, &mut |_| {}).map_err(|trouble| trouble.of(&spec))?;
        }
        taken.extend(data);
    }
    Ok(())
}

/// Starts every program once, so that a bot that does not start is rejected before any game.
pub fn try_load(table: &dyn AnyGame, plan: &MatchSetup<'_>) -> Result<(), Diagnostic> {
    table.try_load(plan).map_err(|error| match error {
        PlayError::BotLoad(BotLoadError { seat, rejection: refusal }) => {
            refusal.of_bot(&plan.seats[seat.index()].spec())
        }
        other => other.into(),
    })
}

/// Name of a file or folder without its extension.
fn stem(path: &Path) -> String {
    // The name becomes a bot's name, so control characters are replaced.
    let tame = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().chars().map(tame).collect())
}

/// Checks before any game that this machine has the required sandbox layers.
fn require_layers() -> Result<(), Diagnostic> {
    use agon_host::sandbox::{REQUIRED, probe};
    let hint = "run `agon doctor` for help, or use --sandbox off for programs you trust";
    let broke = |message: String| Diagnostic::internal(message).hint(hint);
    let layers = probe().map_err(|e| broke(format!("the sandbox does not work here: {e}")))?;
    match layers.iter().find(|layer| REQUIRED.contains(&layer.kind) && !layer.active) {
        None => Ok(()),
        Some(layer) => Err(broke(format!("the sandbox lacks {}: {}", layer.kind, layer.detail))),
    }
}
