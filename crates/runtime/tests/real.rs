use std::io::ErrorKind;
use std::path::PathBuf;

use runstate_runtime::files::{Disk, Open, RealDisk, SimDisk, append, move_to, replace};

/// A folder of its own for a test, gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("runstate-files-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// The same on both: what the simulated disk allows, the machine's does.
fn behaves(disk: &dyn Disk, folder: &std::path::Path) {
    let path = folder.join("a");
    assert_eq!(disk.read(&path, 9).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(disk.open(&path, Open::Read).unwrap_err().kind(), ErrorKind::NotFound);
    disk.open(&path, Open::New).unwrap().write(b"one").unwrap();
    assert_eq!(disk.open(&path, Open::New).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(disk.read(&path, 3).unwrap(), b"one");
    assert_eq!(disk.read(&path, 2).unwrap_err().kind(), ErrorKind::FileTooLarge);

    let (mut first, mut second) =
        (disk.open(&path, Open::Append).unwrap(), disk.open(&path, Open::Append).unwrap());
    append(first.as_mut(), b"+two").unwrap();
    append(second.as_mut(), b"+three").unwrap();
    append(first.as_mut(), b"+four").unwrap();
    assert_eq!(disk.read(&path, 99).unwrap(), b"one+two+three+four");
    assert_eq!((first.len().unwrap(), first.is_empty().unwrap()), (18, false));
    assert_eq!(first.read_from(4, 3).unwrap(), b"two");
    assert_eq!(first.read_from(14, 99).unwrap(), b"four");
    assert_eq!(first.read_from(99, 1).unwrap(), b"");
    first.cut(7).unwrap();
    append(second.as_mut(), b"!").unwrap();
    assert_eq!(disk.read(&path, 99).unwrap(), b"one+two!");

    first.try_lock().unwrap();
    assert_eq!(second.try_lock().unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(first);
    second.lock().unwrap();
    drop(second);

    replace(disk, &path, b"whole").unwrap();
    assert_eq!(disk.read(&path, 99).unwrap(), b"whole");
    let below = folder.join("below");
    disk.create_folder(&below).unwrap();
    assert_eq!(disk.create_folder(&below).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(disk.create_folder(&folder.join("no/such")).unwrap_err().kind(), ErrorKind::NotFound);
    move_to(disk, &path, &below.join("b"), b"moved").unwrap();
    assert_eq!(disk.list(folder).unwrap(), ["below"]);
    assert_eq!(disk.list(&below).unwrap(), ["b"]);
    disk.rename(&below.join("b"), &folder.join("c")).unwrap();
    assert_eq!(disk.list(folder).unwrap(), ["below", "c"]);
    assert!(disk.list(&below).unwrap().is_empty());
    disk.remove(&folder.join("c")).unwrap();
    assert_eq!(disk.remove(&folder.join("c")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(disk.list(&folder.join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(replace(disk, &folder.join("none/a"), b"").is_err());
}

#[test]
fn the_machines_disk_and_the_simulated_one_behave_alike() {
    let scratch = Scratch::new("alike");
    behaves(&RealDisk, &scratch.0);
    behaves(&SimDisk::new(), std::path::Path::new("/"));
}
