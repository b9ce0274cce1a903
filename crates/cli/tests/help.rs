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

/// The list of exit codes has lines of at most 80 columns, which no terminal of that width breaks.
#[test]
fn exit_codes_fit_80_columns_and_are_documented() {
    let session = Session::new();
    let help = session.run(&["--help"]);
    let documented = std::fs::read_to_string(format!("{}/docs/exit-codes.md", crate::session::ROOT)).unwrap();
    let commands = commands(&help.stdout);
    let of_commands = commands.iter().map(|command| session.run(&[command, "--help"]));
    for said in std::iter::once(help).chain(of_commands) {
        let usage = said.stdout.lines().find(|line| line.starts_with("Usage: ")).unwrap();
        let codes = said.stdout.split("Exit codes:\n").nth(1).unwrap();
        let codes: Vec<&str> = codes.lines().take_while(|line| !line.is_empty()).collect();
        for line in codes {
            assert!(line.chars().count() <= 80, "{}: {line}", usage);
            let code = line.strip_prefix("  ").unwrap_or_else(|| panic!("{}: {line}", usage));
            let digits = code.split("  ").next().unwrap();
            let is_code = digits.parse::<u8>().is_ok();
            assert!(is_code || code.starts_with("   "), "{}: {line}", usage);
            assert!(!is_code || documented.contains(&format!("\n| {digits} |")), "{}: {line}", usage);
        }
    }
    // The table of the codes is part of the help of the whole command.
    for code in ["0", "1", "2", "3", "4"] {
        assert!(session.run(&["--help"]).stdout.contains(&format!("\n  {code}  ")), "{code}");
    }
}

#[test]
fn export_without_its_form_is_told_with_the_command_to_write() {
    let session = Session::new();
    let said = session.run(&["export", "tidy-1", "--state-dir", "runs"]);
    assert_eq!((said.code, &*said.stdout), (Some(2), ""), "{}", said.shown());
    let told = "error: expected --scenario, the only form of an export\n  \
                = help: write: runstate export tidy-1 --scenario --state-dir runs\n";
    assert_eq!(said.stderr, told);
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
