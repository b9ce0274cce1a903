//! Who else may look into a store.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use runstate_store::FileStore;

use super::folder::Folder;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn new_folder_is_private_and_an_existing_one_keeps_its_mode() {
    let above = Folder::new();
    let root = above.join("runs");
    FileStore::open(&root).unwrap();
    assert_eq!((mode(&above), mode(&root)), (0o700, 0o700));

    for modes in [0o755, 0o770] {
        let theirs = Folder::new();
        fs::create_dir(&*theirs).unwrap();
        fs::set_permissions(&*theirs, fs::Permissions::from_mode(modes)).unwrap();
        FileStore::open(&*theirs).unwrap();
        FileStore::open(&*theirs).unwrap();
        assert_eq!(mode(&theirs), modes);
    }
}
