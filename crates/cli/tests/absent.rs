//! Commands of a feature that the program was built without.

use super::session::Session;

/// The commands that this program lacks, with their features.
fn absent() -> Vec<(&'static str, &'static str)> {
    let serve = [("serve", "serve"), ("token", "serve")];
    let (mut all, agents) = (Vec::new(), ("chat", "agents"));
    if !cfg!(feature = "serve") {
        all.extend(serve);
    }
    if !cfg!(feature = "agents") {
        all.push(agents);
    }
    all
}

#[test]
fn command_of_another_feature_is_refused_with_the_build() {
    let session = Session::new();
    for (name, feature) in absent() {
        for more in [&[][..], &["--listen", "127.0.0.1:0"], &["list"]] {
            let said = session.run(&[&[name][..], more].concat());
            assert_eq!(said.code, Some(2), "{name} {more:?}");
            assert!(said.stderr.contains(&format!("built without the command `{name}`")), "{}", said.stderr);
            assert!(said.stderr.contains(&format!("--features {feature}")), "{}", said.stderr);
        }
    }
}

#[cfg(not(feature = "agents"))]
#[test]
fn agent_file_is_refused_with_the_build() {
    let session = Session::new();
    session.write("a.yaml", "name: a\nmodel: {base_url: \"http://127.0.0.1:9/v1\", name: m}\n");
    let said = session.run(&["run", "a.yaml", "hello"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("--features agents"), "{}", said.stderr);
    let said = session.run(&["run", "none.yaml", "hello"]);
    assert!(said.stderr.contains("cannot read none.yaml"), "{}", said.stderr);
}
