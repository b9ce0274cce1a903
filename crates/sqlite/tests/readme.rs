//! What the page shows works.

use std::sync::Arc;

use runstate_sqlite::SqliteStore;
use runstate_store::RunStore;
use rusqlite::{Connection, OpenFlags};

use crate::drive::{Plot, create, drive};

const README: &str = include_str!("../README.md");

#[tokio::test]
async fn the_queries_of_the_page_find_something() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open(&path).unwrap());
    create(&store, "r1").await;
    drive(&store, "r1", Plot::asking(1, 2)).await;
    let queries: Vec<_> =
        README.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(queries.len(), 5);
    let reader = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut found = Vec::new();
    for query in queries {
        let mut query = reader.prepare(query).unwrap();
        let columns = query.column_count();
        let rows = query.query_map([], |row| {
            let cells = (0..columns).map(|column| row.get::<_, rusqlite::types::Value>(column));
            Ok(cells.map(|cell| format!("{:?}", cell.unwrap())).collect::<Vec<_>>().join(" "))
        });
        found.push(rows.unwrap().collect::<Result<Vec<_>, _>>().unwrap());
    }
    assert_eq!(found[0].len(), 2);
    assert!(
        found[0][0].contains("is it fine?") && found[0][0].contains("remember the milk"),
        "{:?}",
        found[0]
    );
    assert!(found[1].is_empty(), "no service run: {:?}", found[1]);
    assert_eq!(found[2], [r#"Text("note") Text("Suspended") Integer(2)"#]);
    // Both calls are asked about at their gates: no tool executed.
    assert!(found[3].is_empty(), "{:?}", found[3]);
    assert!(found[4].len() > 10 && found[4][0].contains(r#"Text("run")"#), "{:?}", found[4]);
}

#[test]
fn the_page_names_each_table() {
    let schemas = [include_str!("../src/schema.sql"), include_str!("../src/services.sql")];
    let tables = schemas.map(|schema| {
        let tables = schema.split("CREATE TABLE ").skip(1).map(|rest| rest.split(' ').next().unwrap());
        tables.collect::<Vec<_>>()
    });
    assert_eq!(tables.each_ref().map(Vec::len), [8, 10]);
    for table in tables.concat() {
        assert!(README.contains(&format!("| `{table}` |")), "{table}");
    }
}
