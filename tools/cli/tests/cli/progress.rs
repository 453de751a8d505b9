//! Commands that take long show how far they are: on a terminal, and nowhere else.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::program::{command, run_in};
use crate::worlds::make_world;

/// Runs `voxtick` in a folder with a terminal for its error stream; returns what that shows.
fn on_a_terminal(folder: &Path, arguments: &[&str]) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("it is ours");
    let name = ptsname(&terminal, Vec::new()).expect("it has a name").into_string().expect("UTF-8");
    let no_controlling = OFlags::NOCTTY.bits().cast_signed();
    let end = OpenOptions::new().read(true).write(true).custom_flags(no_controlling).open(name);
    let mut voxtick = command(arguments);
    voxtick.current_dir(folder).stdout(Stdio::null()).stderr(end.expect("its other end"));
    let mut child = voxtick.spawn().expect("voxtick starts");
    // Its copy of the end, so that reading ends with the program.
    drop(voxtick);
    let (mut terminal, mut shown) = (File::from(terminal), Vec::new());
    // Where the other end is closed, some systems tell an end and others an error.
    let _ = terminal.read_to_end(&mut shown);
    assert!(child.wait().expect("it ends").success(), "{arguments:?}");
    String::from_utf8(shown).expect("UTF-8")
}

#[test]
fn long_commands_draw_a_bar_on_a_terminal_and_none_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    make_world(folder.path());
    let commands: [&[&str]; 8] = [
        &["world", "info", "."],
        &["world", "verify", "."],
        &["world", "map", ".", "map.png"],
        &["world", "relight", ".", "--dry-run"],
        &["world", "repair", ".", "--dry-run"],
        &["world", "compact", ".", "--dry-run"],
        &["world", "convert", ".", "OUT", "--to", "linear"],
        &["world", "copy", ".", "OUT", "--from", "-3,-3", "--to", "3,3"],
    ];
    for arguments in commands {
        let into = |out: &'static str| -> Vec<&str> {
            arguments.iter().map(|argument| if *argument == "OUT" { out } else { *argument }).collect()
        };
        let shown = on_a_terminal(folder.path(), &into("shown"));
        assert!(shown.contains("/4 regions"), "{arguments:?}: {shown:?}");
        let piped = run_in(folder.path(), &into("piped"));
        assert_eq!(piped.code, 0, "{arguments:?}: {}", piped.errors);
        let written = piped.output + &piped.errors;
        assert!(!written.contains("/4 regions") && !written.contains('\u{1b}'), "{arguments:?}: {written:?}");
        for out in ["shown", "piped"] {
            let _ = std::fs::remove_dir_all(folder.path().join(out));
        }
    }
}
