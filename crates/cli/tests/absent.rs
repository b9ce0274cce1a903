//! Commands of a feature that the program was built without.

use super::session::Session;

#[test]
fn command_of_another_feature_is_refused_with_the_build() {
    let session = Session::new();
    for name in ["serve", "token"] {
        for more in [&[][..], &["--listen", "127.0.0.1:0"], &["list"]] {
            let said = session.run(&[&[name][..], more].concat());
            assert_eq!(said.code, Some(2), "{name} {more:?}");
            assert!(said.stderr.contains(&format!("built without the command `{name}`")), "{}", said.stderr);
            assert!(said.stderr.contains("--features serve"), "{}", said.stderr);
        }
    }
}
