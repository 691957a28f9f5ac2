//! Archives: good ones are unpacked; hostile ones are rejected with the entry's name, and nothing outside is touched.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::{Cursor, Write as _};

use agon_bots::source::archive::{
    ArchiveLimits, DEFAULT_PACKED_BYTES, MAX_ENTRIES, unpack, unpack_file, unpack_into,
};
use agon_host::BotRejection;
use tempfile::{TempDir, tempdir};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A zip entry written byte by byte, as no honest program writes it.
#[derive(Clone)]
struct Raw {
    name: Vec<u8>,
    content: Vec<u8>,
    mode: u32,
    method: u16,
    flags: u16,
    checksum: u32,
}

fn raw(name: &str, content: &str) -> Raw {
    let content = content.as_bytes().to_vec();
    let checksum = checksum(&content);
    Raw { name: name.into(), content, mode: 0o100_644, method: 0, flags: 0x800, checksum }
}

fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
    })
}

fn pack(entries: &[Raw]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for one in entries {
        let offset = bytes.len() as u32;
        let size = (one.content.len() as u32).to_le_bytes();
        let mut head = Vec::new();
        for word in [20, one.flags, one.method, 0, 0x21] {
            head.extend(u16::to_le_bytes(word));
        }
        head.extend(one.checksum.to_le_bytes());
        head.extend(size);
        head.extend(size);
        head.extend((one.name.len() as u16).to_le_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&head);
        bytes.extend([0; 2]);
        bytes.extend(&one.name);
        bytes.extend(&one.content);
        // Made by Unix: the mode is in the upper half of the attributes.
        list.extend(b"PK\x01\x02\x14\x03");
        list.extend(&head);
        list.extend([0; 8]);
        list.extend((one.mode << 16).to_le_bytes());
        list.extend(offset.to_le_bytes());
        list.extend(&one.name);
    }
    let (start, size, count) = (bytes.len() as u32, list.len() as u32, entries.len() as u16);
    bytes.extend(list);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    bytes.extend([size.to_le_bytes(), start.to_le_bytes()].concat());
    bytes.extend([0; 2]);
    bytes
}

fn deflated(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in entries {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Unpacks into a folder inside another folder, so that the test sees an escape.
fn try_it(bytes: &[u8]) -> (TempDir, Result<(), BotRejection>) {
    let outer = tempdir().unwrap();
    let inner = outer.path().join("in/bot");
    fs::create_dir_all(&inner).unwrap();
    let result = unpack_into(bytes, &inner, "Ana.zip");
    assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1, "nothing outside");
    assert_eq!(fs::read_dir(outer.path().join("in")).unwrap().count(), 1, "nothing outside");
    (outer, result)
}

fn refused(bytes: &[u8]) -> String {
    let refusal = try_it(bytes).1.unwrap_err();
    assert!(!refusal.hint.is_empty(), "{refusal}");
    format!("{}: {}", refusal.file.unwrap(), refusal.what)
}

#[test]
fn good_archives_are_unpacked_without_junk() {
    let packed = deflated(&[
        ("MyBot/MyBot.py", b"class MyBot: pass\n"),
        ("MyBot/data/weights.bin", &vec![7; 100_000]),
        ("__MACOSX/MyBot/._MyBot.py", b"x"),
        ("MyBot/.DS_Store", b"x"),
    ]);
    let (outer, result) = try_it(&packed);
    result.unwrap();
    let bot = outer.path().join("in/bot");
    assert_eq!(fs::read_to_string(bot.join("MyBot/MyBot.py")).unwrap(), "class MyBot: pass\n");
    assert_eq!(fs::read(bot.join("MyBot/data/weights.bin")).unwrap(), vec![7; 100_000]);
    assert_eq!(fs::read_dir(&bot).unwrap().count(), 1);
    assert_eq!(fs::read_dir(bot.join("MyBot")).unwrap().count(), 2);
    // Check that this test's packer writes valid archives, so that the bad ones are bad for the intended reason.
    let folder = Raw { mode: 0o040_755, ..raw("pack/", "") };
    let (outer, result) = try_it(&pack(&[folder, raw("pack/a.py", "x = 1\n"), raw("b\u{e9}.py", "")]));
    result.unwrap();
    assert_eq!(fs::read_to_string(outer.path().join("in/bot/pack/a.py")).unwrap(), "x = 1\n");
}

#[test]
fn names_outside_the_archive_are_rejected() {
    for (name, what) in [
        ("../evil.py", "the path leaves the archive by `..`"),
        ("a/../../evil.py", "the path leaves the archive by `..`"),
        ("/evil.py", "an absolute path"),
        ("C:/evil.py", "an absolute path"),
        ("..\\evil.py", "the name holds a backslash"),
        ("./evil.py", "a path with an empty part or `.`"),
    ] {
        assert_eq!(refused(&pack(&[raw("Good.py", ""), raw(name, "x")])), format!("{name}: {what}"));
    }
    assert_eq!(refused(&pack(&[raw("a\0.py", "")])), "a\\u{0}.py: the name holds a control character");
    assert_eq!(
        refused(&pack(&[raw("a\u{1b}[2J.py", "")])),
        "a\\u{1b}[2J.py: the name holds a control character"
    );
    let deep = "d/".repeat(12) + "a.py";
    assert_eq!(refused(&pack(&[raw(&deep, "")])), format!("{deep}: more than 12 folders deep"));
}

#[test]
fn names_that_collide_are_rejected() {
    assert_eq!(refused(&pack(&[raw("Bot.py", "1"), raw("Bot.py", "2")])), "Bot.py: is listed twice");
    assert_eq!(
        refused(&pack(&[raw("Bot.py", ""), raw("bot.PY", "")])),
        "bot.PY: the same name as Bot.py except for case or Unicode form"
    );
    assert!(refused(&pack(&[raw("caf\u{e9}.py", ""), raw("cafe\u{301}.py", "")])).contains("Unicode form"));
    assert_eq!(refused(&pack(&[raw("a", ""), raw("a/b.py", "")])), "a: is both a file and a folder");
}

#[test]
fn links_and_special_files_are_rejected() {
    let of = |mode| refused(&pack(&[Raw { mode, ..raw("thing", "/etc/passwd") }]));
    assert_eq!(of(0o120_777), "thing: is a link");
    for special in [0o010_644, 0o020_644, 0o060_644, 0o140_644, 0o040_755] {
        assert_eq!(of(special), "thing: is neither a file nor a folder", "{special:o}");
    }
}

#[test]
fn encrypted_and_unsupported_entries_are_rejected() {
    assert_eq!(refused(&pack(&[Raw { flags: 0x801, ..raw("a.py", "x") }])), "a.py: is encrypted");
    for method in [1, 9, 12, 14, 93, 99] {
        let said = refused(&pack(&[Raw { method, ..raw("a.py", "x") }]));
        assert!(said.starts_with("a.py: uses an unsupported compression method"), "{method}: {said}");
    }
}

#[test]
fn broken_archives_are_rejected() {
    for bytes in [&b""[..], b"PK", b"not an archive at all", &[0; 4096]] {
        assert!(refused(bytes).starts_with("Ana.zip: the archive is broken"), "{bytes:?}");
    }
    assert_eq!(refused(&pack(&[])), "Ana.zip: the archive is empty");
    assert_eq!(refused(&pack(&[raw("__MACOSX/x", "")])), "Ana.zip: the archive is empty");
    let damaged = pack(&[Raw { checksum: 7, ..raw("a.py", "x") }]);
    assert!(refused(&damaged).starts_with("a.py: is damaged: "));
    // One entry with two names: one in its local header, another in the central directory.
    let mut cloaked = pack(&[raw("good.py", "x")]);
    let at = cloaked.windows(7).rposition(|seven| seven == b"good.py").unwrap();
    cloaked[at..at + 7].copy_from_slice(b"evil.py");
    assert!(refused(&cloaked).starts_with("evil.py: is damaged: "), "{}", refused(&cloaked));
    // An archive cut at any byte is rejected: it is never unpacked in part.
    let whole = deflated(&[("a.py", b"x = 1\n"), ("b.py", b"y = 2\n")]);
    for end in 0..whole.len() {
        assert!(try_it(&whole[..end]).1.is_err(), "cut at {end}");
    }
}

#[test]
fn zip_bombs_are_rejected_before_they_are_unpacked() {
    let big = vec![0; ArchiveLimits::default().unpacked() as usize + 1];
    let bomb = deflated(&[("a.py", b"x"), ("bomb.bin", &big)]);
    assert!(bomb.len() < 1_000_000);
    let said = "bomb.bin: with it, the archive unpacks to more than 256 MiB";
    assert_eq!(refused(&bomb), said);
    // The same in parts.
    let part = vec![0; 70 << 20];
    let parts = deflated(&[("1", &part), ("2", &part), ("3", &part), ("4", &part)]);
    assert_eq!(refused(&parts), "4: with it, the archive unpacks to more than 256 MiB");
    // An archive that declares a small size: both size fields are changed.
    let mut liar = bomb;
    let size = (big.len() as u32).to_le_bytes();
    let places: Vec<usize> = (0..liar.len() - 4).filter(|&at| liar[at..at + 4] == size).collect();
    assert!(places.len() >= 2, "{places:?}");
    for at in places {
        liar[at..at + 4].copy_from_slice(&100_u32.to_le_bytes());
    }
    let said = refused(&liar);
    assert!(said.starts_with("bomb.bin: is damaged: "), "{said}");
}

#[test]
fn too_many_entries_and_too_large_files_are_rejected() {
    let names: Vec<Raw> = (0..=MAX_ENTRIES).map(|n| raw(&format!("{n}.py"), "")).collect();
    assert_eq!(refused(&pack(&names)), "Ana.zip: the archive has more than 1000 entries");
    assert!(try_it(&pack(&names[..MAX_ENTRIES])).1.is_ok());
    let folder = tempdir().unwrap();
    let path = folder.path().join("Ana.zip");
    fs::File::create(&path).unwrap().set_len(DEFAULT_PACKED_BYTES + 1).unwrap();
    let refused = |limits| unpack(&path, limits).unwrap_err().what;
    assert_eq!(refused(ArchiveLimits::default()), "the archive is larger than 64 MiB");
    assert_eq!(refused(ArchiveLimits::of_packed_bytes(5 << 20)), "the archive is larger than 5 MiB");
    let more = ArchiveLimits::of_packed_bytes(DEFAULT_PACKED_BYTES + 1);
    assert!(refused(more).starts_with("the archive is broken"), "{}", refused(more));
}

#[test]
fn unpacked_archive_has_its_name_and_is_removed_with_its_owner() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("Ana.zip");
    fs::write(&path, pack(&[raw("MyBot.py", "x")])).unwrap();
    let home = unpack(&path, ArchiveLimits::default()).unwrap();
    let place = home.path().to_owned();
    assert!(place.ends_with("Ana") && place.join("MyBot.py").is_file());
    drop(home);
    assert!(!place.exists());
}

#[test]
fn archive_with_large_weights_is_unpacked_from_its_file() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("Ana Perez.zip");
    // Larger than the old limits, and not compressible.
    let mut state = 1_u64;
    let mut weights = vec![0; 40 << 20];
    for chunk in weights.chunks_exact_mut(8) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        chunk.copy_from_slice(&state.to_le_bytes());
    }
    fs::write(
        &path,
        deflated(&[("Learner.py", b"class Learner: pass\n"), ("data/model_weights.h5", &weights)]),
    )
    .unwrap();
    let home = unpack(&path, ArchiveLimits::default()).unwrap();
    assert!(fs::read(home.path().join("data/model_weights.h5")).unwrap() == weights);
    let small = tempdir().unwrap();
    let refusal = unpack_file(
        fs::File::open(&path).unwrap(),
        small.path(),
        "Ana",
        ArchiveLimits::of_packed_bytes(9 << 20),
    );
    assert_eq!(refusal.unwrap_err().what, "with it, the archive unpacks to more than 36 MiB");
}
