//! The owners of the functions that a store executes.

use runstate_postgres::{PostgresOptions, PostgresStore};
use runstate_store::{RunLists, RunQuery, StoreError};
use tokio_postgres::NoTls;

use crate::cluster::{self, Place};

/// A store for that role in that place.
async fn store_of(place: &Place, role: &str) -> Result<PostgresStore, StoreError> {
    let url = as_role(place, role);
    PostgresStore::connect(PostgresOptions::new(&url).unwrap().schema(&place.schema).unwrap()).await
}

fn as_role(place: &Place, role: &str) -> String {
    let separator = if place.url.contains('?') { '&' } else { '?' };
    format!("{}{separator}user={role}", place.url.replace("user=postgres", ""))
}

async fn executed_as(place: &Place, role: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(&as_role(place, role), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&sql.replace("{schema}", &format!("\"{}\"", place.schema))).await.unwrap();
}

fn refused(store: Result<PostgresStore, StoreError>, what: &str) {
    let Err(StoreError::Unusable { what: told, help }) = store else { panic!("{store:?}") };
    assert!(told.contains(what), "{told}");
    assert!(help.contains("connect as that role"), "{help}");
}

#[tokio::test]
async fn a_store_executes_nothing_of_a_role_that_is_not_trusted() {
    let Some(server) = cluster::own(&[]) else { return };
    let place = Place::on(&server);
    let admin = place.client().await;
    let roles = "CREATE ROLE keeper LOGIN; CREATE ROLE worker LOGIN; CREATE ROLE other LOGIN; CREATE ROLE member LOGIN;
        GRANT keeper TO member; GRANT CREATE ON DATABASE postgres TO keeper, other;";
    admin.batch_execute(roles).await.unwrap();
    // A schema of another role is no place for a store, whatever it lets others do.
    store_of(&place, "keeper").await.unwrap();
    let grant =
        "GRANT USAGE ON SCHEMA {schema} TO PUBLIC; GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO PUBLIC";
    executed_as(&place, "keeper", grant).await;
    store_of(&place, "keeper").await.unwrap();
    store_of(&place, "member").await.unwrap();
    refused(store_of(&place, "worker").await, "belongs to the role \"keeper\"");
    refused(PostgresStore::connect(place.options()).await, "belongs to the role \"keeper\"");
    // The owner of the database may do all of it anyway.
    admin.batch_execute("ALTER DATABASE postgres OWNER TO keeper").await.unwrap();
    assert_eq!(store_of(&place, "worker").await.unwrap().runs(&RunQuery::all(9)).await.unwrap(), []);

    // A right on a table is one to a trigger, whose function is executed by the next that writes.
    let trigger = "CREATE SCHEMA mine;
        CREATE FUNCTION mine.act() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
        CREATE TRIGGER act BEFORE UPDATE ON {schema}.runs FOR EACH ROW EXECUTE FUNCTION mine.act()";
    executed_as(&place, "other", trigger).await;
    for role in ["keeper", "worker", "member"] {
        refused(store_of(&place, role).await, "the function of the trigger act on the table runs");
    }
    executed_as(&place, "keeper", "DROP TRIGGER act ON {schema}.runs").await;
    store_of(&place, "keeper").await.unwrap();

    // Its condition is executed as well, and may be anyone's where the function is a superuser's.
    let condition = "CREATE FUNCTION mine.look(name text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
        CREATE TRIGGER look BEFORE UPDATE ON {schema}.runs FOR EACH ROW WHEN (mine.look(new.title))
            EXECUTE FUNCTION suppress_redundant_updates_trigger()";
    executed_as(&place, "other", condition).await;
    match store_of(&place, "keeper").await {
        Err(StoreError::Unusable { what, help }) => {
            assert!(what.contains("the condition of the trigger look on the table runs"), "{what}");
            assert!(help.contains("drop that trigger"), "{help}");
        }
        other => panic!("{other:?}"),
    }
    executed_as(&place, "keeper", "DROP TRIGGER look ON {schema}.runs").await;

    // The schema `public` belongs to a role whose one member is the owner of the database.
    admin.batch_execute("GRANT CREATE ON SCHEMA public TO worker").await.unwrap();
    let public = Place { schema: "public".to_owned(), ..place.clone() };
    for _ in 0..2 {
        store_of(&public, "worker").await.unwrap();
    }

    // A function of the same name, for arguments that fit better.
    executed_as(&place, "keeper", "GRANT CREATE ON SCHEMA {schema} TO PUBLIC").await;
    let function = "CREATE FUNCTION {schema}.claim_run(text) RETURNS text LANGUAGE sql AS 'SELECT $1'";
    executed_as(&place, "other", function).await;
    refused(store_of(&place, "keeper").await, "the function claim_run belongs to the role \"other\"");
}
