//! What a person sees who looks into the folder of a run.

use runstate::files::SimDisk;

use super::on;
use super::story::{Known, Story};

#[tokio::test]
async fn the_files_of_a_run_can_be_read() {
    let (story, disk) = (Story::new().await, SimDisk::new());
    let store = on(&disk);
    story.live(&store, &mut Known::default(), false).await.unwrap();
    let mut seen = String::new();
    for (path, content) in disk.files() {
        if !path.ends_with(".lock") && !path.ends_with("trace.jsonl") {
            seen += &format!("== {path}\n{}", String::from_utf8(content).unwrap());
        }
    }
    insta::assert_snapshot!(seen);
}
