//! Resolves the source of a bot to a program.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::sanitize::replace_controls;
use agon_core::{BotFile, GameInfo, PythonApi};
use agon_engine::{PlayerSpec, ProgramSpec};
use agon_host::{BotRejection, Program, ProgramError, ScratchDir};

use crate::MessageSink;
use crate::error::Diagnostic;
use crate::manifest::{self, Manifest};
use crate::prepare::{ExtraFile, PrepareContext, PrepareError, SandboxMode};
use crate::source::source_check::{check_source, only_bot};
use crate::source::{
    archive, class_name, content_hash, overlay_dir, players_yml, published_name, submission_root,
    submitted_folder,
};

/// Reason why a source cannot be resolved: a [`PrepareError`] before the bot's name is added.
pub(crate) enum ResolveError {
    /// The bot is not accepted.
    Refused(BotRejection),
    /// Any other failure.
    Failed(Diagnostic),
}

impl ResolveError {
    /// Adds the bot's name.
    pub(crate) fn of(self, bot: &str) -> PrepareError {
        match self {
            Self::Refused(rejection) => {
                PrepareError::Refused { bot: bot.to_owned(), rejection: Box::new(rejection) }
            }
            Self::Failed(failure) => PrepareError::Failed(failure),
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

/// A bot on its way from its source to a program.
pub(crate) struct Resolver<'r> {
    /// Bot spec as the user wrote it.
    pub(crate) bot: &'r str,
    pub(crate) context: &'r PrepareContext<'r>,
}

impl Resolver<'_> {
    fn game_info(&self) -> Result<&'static GameInfo, ResolveError> {
        Ok(agon_games::game_info(self.context.game).map_err(Diagnostic::from)?)
    }

    /// A folder or a `.py` file, optionally with a class. In a game without a Python API scripts are commands.
    pub(crate) fn resolve_python_path(
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
        let whole = self.context.folder.join(path).canonicalize()?;
        let own_name = || info.bots.named_class.and_then(|method| class_name::of_bot(&whole, method));
        let name = class.map(str::to_owned).or_else(own_name).unwrap_or_else(|| stem(&whole));
        let hash = content_hash::hash(&whole, &class.map_or(vec![], |class| vec![class]))?;
        let seat = self.python_seat(name, hash);
        // The bot's data and additional files are beside its file.
        let (source, file) = if whole.is_file() {
            (whole.parent().unwrap_or(&whole).to_owned(), whole.file_name())
        } else {
            (submission_root(&whole), None)
        };
        if !info.bots.keeps_data {
            let Some(beside) = self.context.extra_file else {
                return Ok(seat(self.python_program(&whole, class)?));
            };
            let home = overlay_dir::of(&source, &[])?;
            let target = file.map_or_else(|| home.path().to_owned(), |file| home.path().join(file));
            let mut program = self.python_program(&target, class)?;
            program.readable_dirs.push(source);
            program.bot_files = vec![whole.clone()];
            link_extra_file(beside, home.path(), &mut program)?;
            program.private = Some(home.whole().to_owned());
            return Ok(ProgramSpec { scratch_dir: Some(Arc::new(home)), ..seat(program) });
        }
        let own = vec![whole.clone()];
        let (home, learning) = overlay_dir::with_bot_data(&source, self.context.keep_data)?;
        if self.context.keep_data && !learning.kept {
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

    /// A bot in a `.zip`: with an `agon.toml`, or a Python bot. In a game without a Python API, what the server accepts too.
    pub(crate) fn resolve_zip(&self, path: &Path, class: Option<&str>) -> Result<ProgramSpec, ResolveError> {
        let info = self.game_info()?;
        let whole = self.context.folder.join(path);
        let home = archive::unpack(&whole, self.context.archive_limits).map_err(|refusal| {
            // Errors show the path as the user wrote it.
            let own = refusal.file.as_deref().is_some_and(|file| Path::new(file) == whole);
            if own { refusal.in_file(path.display().to_string()) } else { refusal }
        })?;
        if let Some(root) = submitted_folder::manifest_folder(home.path()) {
            return self.resolve_zipped_manifest(home, &root);
        }
        let root = submission_root(home.path());
        let Some(python) = info.bots.python else {
            let root = submitted_folder::command_folder(info, &root)?;
            return self.resolve_zipped_manifest(home, &root);
        };
        let mut target = root.clone();
        if class.is_none() && python == PythonApi::Class {
            let survey = check_source(&self.python_program(&root, None)?, &[])?;
            target = only_bot(&root, &survey)?.unwrap_or(root);
        }
        let mut program = self.python_program(&target, class)?;
        let (name, extra) =
            if target.is_file() { (stem(&target), stem(&target)) } else { (stem(path), String::new()) };
        let own_name = || info.bots.named_class.and_then(|method| class_name::of_bot(&target, method));
        let name = class.map(str::to_owned).or_else(own_name).unwrap_or(name);
        let hash = content_hash::hash(home.path(), &[class.unwrap_or_default(), &extra])?;
        let mut logs = None;
        if info.bots.keeps_data {
            let beside = if target.is_file() { target.parent().unwrap_or(&target) } else { &target };
            let learning = overlay_dir::bot_data_in(beside)?;
            program.writable.push(learning.data);
            logs = Some(learning.logs);
        }
        if let Some(beside) = self.context.extra_file {
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

    /// A folder with an `agon.toml` that was unpacked from a `.zip`. The folder is Agon's own, so files are added to it directly.
    fn resolve_zipped_manifest(&self, home: ScratchDir, root: &Path) -> Result<ProgramSpec, ResolveError> {
        submitted_folder::make_programs_executable(root)?;
        let manifest = Manifest::read(self.context.game, "", root)?;
        let in_manifest = |error: ProgramError| {
            // Paths of the scratch folder mean nothing to the author.
            let hidden = format!("{}/", manifest.folder().display());
            let hint = if error.hint.starts_with("build it first") {
                "build the bot, then pack it with the built program".to_owned()
            } else {
                error.hint
            };
            BotRejection::new(error.what.replace(&hidden, ""), hint).in_file(manifest::FILE)
        };
        manifest.check_own_view().map_err(in_manifest)?;
        let program = self.sandboxed(manifest.program(&mut |_| {}).map_err(in_manifest)?)?;
        let hash = manifest.content_hash(&program.words)?;
        let name = manifest.name().to_owned();
        let (spec, mut program, json_lines) = (self.bot.to_owned(), program, manifest.json_lines());
        if let Some(file) = self.game_info()?.bots.file {
            write_bot_file(root, file, &self.game_file_content(file))?;
        }
        if let Some(beside) = self.context.extra_file {
            link_extra_file(beside, root, &mut program)?;
        }
        program.private = Some(home.whole().to_owned());
        let scratch_dir = Some(Arc::new(home));
        let (isolates_calls, logs_dir) = (false, None);
        Ok(ProgramSpec { name, spec, hash, program, json_lines, isolates_calls, logs_dir, scratch_dir })
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
    pub(crate) fn resolve_manifest(&self, notify: MessageSink<'_>) -> Result<ProgramSpec, ResolveError> {
        let manifest = Manifest::read(self.context.game, self.bot, self.context.folder)?;
        let program = self.sandboxed(manifest.program(notify).map_err(BotRejection::from)?)?;
        let hash = manifest.content_hash(&program.words)?;
        self.command_seat(manifest.name().to_owned(), hash, program, manifest.json_lines())
    }

    /// An entry of a `players.yml`.
    pub(crate) fn resolve_players_yml(
        &self,
        path: &Path,
        name: Option<&str>,
    ) -> Result<PlayerSpec, ResolveError> {
        if !self.game_info()?.bots.players_yml {
            let hint = "name the bot by its path, or by its command in quotes";
            let listed = agon_games::infos().into_iter().filter(|info| info.bots.players_yml);
            let of: Vec<String> = listed.map(|info| info.title.to_owned()).collect();
            return Err(
                BotRejection::new(format!("a players.yml is only for {}", of.join(" and ")), hint).into()
            );
        }
        let player = players_yml::choose_in(self.context.folder, path, name)?;
        if let Some(house) = player.house_bot() {
            return Ok(PlayerSpec::House(house.to_owned()));
        }
        let mut program = self.sandboxed(player.program(self.context.sandbox == SandboxMode::On)?)?;
        let mut files = content_hash::all(&program.folder);
        if let Some(results) = player.results_inside(&program.folder) {
            files.retain(|file| !file.starts_with(&results));
            program.hidden.push(results);
        }
        let hash = content_hash::hash_files(&program.folder, &files, &[&player.command])?;
        self.command_seat(player.name, hash, program, false).map(PlayerSpec::Program)
    }

    /// A command, run in the base folder.
    pub(crate) fn resolve_command(
        &self,
        command: &str,
        json_lines: bool,
    ) -> Result<ProgramSpec, ResolveError> {
        let folder = self.context.folder.join(".").canonicalize()?;
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
        if file.is_some() || self.context.extra_file.is_some() {
            let replaced: Vec<&str> = file.map(|file| file.name).into_iter().collect();
            let view = overlay_dir::of(&program.folder, &replaced)?;
            if let Some(file) = file {
                write_bot_file(view.path(), file, &self.game_file_content(file))?;
            }
            if let Some(beside) = self.context.extra_file {
                link_extra_file(beside, view.path(), &mut program)?;
            }
            let source = std::mem::replace(&mut program.folder, view.path().to_owned());
            // `../` has a different meaning in the bot's view of the files, so such paths become absolute.
            for (number, word) in program.words.iter_mut().enumerate() {
                let path = source.join(&*word);
                let whole = if number == 0 { with_real_folder(&path) } else { path.canonicalize().ok() };
                if let Some(whole) = whole.filter(|_| word.starts_with("../")) {
                    *word = whole.display().to_string();
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

    /// Content of the game's file: what the settings define, or the default.
    fn game_file_content(&self, file: BotFile) -> Vec<u8> {
        let asset = self
            .context
            .settings
            .and_then(|(settings, assets)| settings.word(file.setting).and_then(|name| assets.get(name)));
        let content = asset.and_then(|asset| (file.content)(Some(asset)));
        content.or_else(|| (file.content)(None)).unwrap_or_default()
    }

    /// Puts the program into the sandbox, unless that is off, and checks that it can run there.
    fn sandboxed(&self, program: Program) -> Result<Program, ResolveError> {
        if self.context.sandbox == SandboxMode::Off {
            return Ok(program);
        }
        let mut program = program.sandboxed();
        program.threads_only = !self.game_info()?.bots.may_start_processes;
        program.locate().map_err(BotRejection::from)?;
        require_layers()?;
        Ok(program)
    }
}

/// Files that a command names.
pub(crate) fn named_files(words: &[String], folder: &Path) -> Vec<PathBuf> {
    words.iter().map(|word| folder.join(word)).filter(|path| path.is_file()).collect()
}

/// An absolute path whose last part stays unresolved: the interpreter of a virtual environment is a link, and finds its packages by its own path.
fn with_real_folder(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)).filter(|path| path.exists())
}

/// Links a file into a bot's folder and makes it readable for the bot. An author's own file of that name is never replaced.
fn link_extra_file(beside: ExtraFile<'_>, folder: &Path, program: &mut Program) -> Result<(), ResolveError> {
    if published_name::is_taken(folder, beside.name) {
        return Err(published_name::name_is_taken(beside.name).into());
    }
    std::os::unix::fs::symlink(beside.path, folder.join(beside.name))?;
    program.readable_dirs.push(beside.path.to_owned());
    Ok(())
}

fn write_bot_file(folder: &Path, file: BotFile, content: &[u8]) -> io::Result<()> {
    let path = folder.join(file.name);
    std::fs::write(&path, content)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o644))
}

/// Name of a file or folder without its extension.
fn stem(path: &Path) -> String {
    // The name becomes a bot's name, so control characters are replaced.
    path.file_stem().map_or_else(String::new, |stem| {
        replace_controls(&stem.to_string_lossy(), char::REPLACEMENT_CHARACTER)
    })
}

/// Checks before any game that each bot gets its own cgroup, for competitions that require this meter.
pub fn require_cgroup() -> Result<(), Diagnostic> {
    use agon_host::sandbox::{LayerKind, probe};
    let broke = |message: String| Diagnostic::internal(message);
    let layers = probe().map_err(|e| broke(format!("the sandbox does not work here: {e}")))?;
    match layers.iter().find(|layer| layer.kind == LayerKind::Cgroup && !layer.active) {
        None => Ok(()),
        Some(layer) => {
            let what = format!(
                "the competition requires meter = \"cgroup\", but bots get no cgroup: {}",
                layer.detail
            );
            Err(broke(what).hint(layer.how_to_get()))
        }
    }
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
