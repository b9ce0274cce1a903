use crate::session::{Session, assert_shown};

/// Every command that the help lists.
fn commands(help: &str) -> Vec<String> {
    let listed = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    listed
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_shows_an_example_and_its_exit_codes() {
    let session = Session::new();
    let help = session.run(&["--help"]);
    assert_eq!(help.code, Some(0));
    let mut shown = help.shown();
    for command in commands(&help.stdout) {
        let said = session.run(&[&command, "--help"]);
        assert_eq!(said.code, Some(0));
        assert!(said.stdout.contains("Example"), "{}", said.stdout);
        assert!(said.stdout.contains("Exit codes:\n"), "{}", said.stdout);
        assert!(said.stdout.contains(&format!("\n  runstate {command}")), "{}", said.stdout);
        shown.push('\n');
        shown.push_str(&said.shown());
    }
    assert_shown("help", &shown);
}

#[test]
fn wrong_arguments_exit_with_2() {
    let session = Session::new();
    let mut shown = String::new();
    for args in [&["lisst"] as &[&str], &["list", "extra"], &["list", "--format", "yaml"], &["seal"]] {
        let said = session.run(args);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{args:?}");
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    assert_shown("wrong_arguments", &shown);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let session = Session::new();
    let mut child = session.command(&["list", "--format", "json"]).spawn().unwrap();
    drop(child.stdout.take());
    let said = session.said(&["list"], &child.wait_with_output().unwrap());
    assert_eq!((said.code, &*said.stderr), (Some(0), ""));
}
