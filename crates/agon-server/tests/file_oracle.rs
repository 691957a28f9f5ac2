//! An upload must not tell which files the server has.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

use agon_bots::manifest::Manifest;
use agon_server::uploads::SubmissionMeta;
use agon_server::uploads::find_bot::find_bot;

/// The game, and whether the bot comes in a `players.yml`.
const UPLOADS: [(&str, bool); 3] = [("connect-five", false), ("word-racer", false), ("word-racer", true)];

/// What the author of an upload with this command is told.
fn answer(home: &Path, (game, in_list): (&str, bool), command: &str, build: bool) -> Result<String, String> {
    let folder = home.join("bots/1/upload");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("own"), "#!/bin/sh\n").unwrap();
    let quoted = command.replace('\\', "\\\\").replace('"', "\\\"");
    if in_list {
        let list = format!("players:\n  - name: Bot\n    directory: .\n    command: \"{quoted}\"\n");
        fs::write(folder.join("players.yml"), list).unwrap();
    } else {
        let build = if build { "build = \"make\"\n" } else { "" };
        fs::write(folder.join("agon.toml"), format!("command = \"{quoted}\"\n{build}")).unwrap();
    }
    find_bot(game, home, "bots/1/upload", &SubmissionMeta::default())
        .map_err(|rejection| format!("{} / {} / {:?}", rejection.what, rejection.hint, rejection.file))
}

#[test]
fn command_of_an_upload_tells_nothing_about_files_outside_of_it() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    let home = place.join("competitions/cup");
    fs::create_dir_all(&home).unwrap();
    // A file, a program, a folder, and nothing. All names have the same length.
    fs::write(place.join("secret-a"), "").unwrap();
    fs::write(place.join("secret-b"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(place.join("secret-b"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::create_dir(place.join("secret-c")).unwrap();
    let forms = [
        "PLACE/secret-X",
        "../../../../../secret-X",
        "/usr/bin/../..PLACE/secret-X",
        "./../../../../../secret-X bot",
        "java -jar PLACE/secret-X",
        "java -cp own:PLACE/secret-X Bot",
    ];
    for upload in UPLOADS {
        for form in forms {
            for build in [false, true] {
                let told: Vec<String> = ["a", "b", "c", "d"]
                    .map(|letter| {
                        // The letter first: the random name of the place may contain an X.
                        let command = form.replace('X', letter).replace("PLACE", place.to_str().unwrap());
                        let told = answer(&home, upload, &command, build).expect_err(&command);
                        told.replace(&format!("secret-{letter}"), "secret-X")
                    })
                    .to_vec();
                assert!(told.iter().all(|one| *one == told[0]), "{upload:?} {form}: {told:#?}");
                assert!(told[0].starts_with("there is no file "), "{told:?}");
            }
        }
    }
    // Without the defence the answers differ.
    let unprotected = |letter: &str| {
        let _ = answer(&home, UPLOADS[0], &format!("{}/secret-{letter}", place.display()), false);
        let manifest = Manifest::read("connect-five", "bots/1/upload", &home).unwrap();
        manifest.program(&mut |_| {}).map(|_| ()).map_err(|error| error.what)
    };
    assert!(unprotected("a").unwrap_err().ends_with("is not a program"));
    assert!(unprotected("d").unwrap_err().starts_with("there is no file"));
    assert_eq!(unprotected("b"), Ok(()));
}

#[test]
fn command_of_an_upload_can_name_its_own_files_and_the_systems_programs() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().canonicalize().unwrap();
    for upload in UPLOADS {
        for command in ["./own", "own/../own", "python3 bot.py", "/bin/sh own", "java -cp own:lib/x.jar Bot"]
        {
            assert_eq!(answer(&home, upload, command, false), Ok("bots/1/upload".to_owned()), "{command}");
        }
    }
}
