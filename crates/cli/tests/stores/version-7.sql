-- A file of version 7 of the tables, as a program of that version left it: four runs of one scenario. pay-1 has an approval of two, pay-2 both
-- decisions, pay-3 none, and pay-4 has not begun.
PRAGMA foreign_keys = off;
PRAGMA application_id = 1383420788;
PRAGMA user_version = 7;
PRAGMA journal_mode = wal;
BEGIN TRANSACTION;
CREATE TABLE boots (
    no   INTEGER PRIMARY KEY,
    name TEXT    NOT NULL
) STRICT;
INSERT INTO "boots" VALUES(1,'00000000-0000-4000-8000-000000000000');
CREATE TABLE calls (
    run           TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    name          TEXT    NOT NULL,
    id            TEXT    NOT NULL,                 -- the id that the model gave it
    step          INTEGER NOT NULL,
    ordinal       INTEGER NOT NULL,
    tool          TEXT    NOT NULL,
    status        TEXT    NOT NULL,
    passes    INTEGER NOT NULL,
    open          INTEGER NOT NULL,                 -- 1: it waits, and nobody has decided
    suspension    TEXT,                             -- the id of what it waits for
    action        TEXT,                             -- what is asked, for programs
    question      TEXT,                             -- what is asked, for people
    expires_at_ms INTEGER,
    arguments     TEXT,                             -- JSON: those that are asked about
    asked         TEXT,                             -- JSON: all of the suspension
    snapshot      TEXT    NOT NULL, lapses_at_ms INTEGER,                 -- JSON: its machine, sealed
    PRIMARY KEY (run, name)
) STRICT;
INSERT INTO "calls" VALUES('pay-2','p','p',1,0,'pay','Suspended',1,0,'pay-2/p/1','approve','may it be paid?',NULL,'{"amount":9}','{"id":"pay-2/p/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}','{"lifecycle":"runstate/tool_call","version":1,"fingerprint":"1c4f1cc3032ce17c","status":"Suspended","record":{"arguments":{"amount":9},"attempts":0,"id":"p","key":{"ordinal":0,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"approve","id":"pay-2/p/1","message":"may it be paid?","resume_mode":"replay_tool_call"}},"digest":"sha256:b1c9348b466378bf27cf6246b05af69a5301591012f8cdd66e1e2a8b9d4fc544"}',NULL);
INSERT INTO "calls" VALUES('pay-2','q','q',1,1,'pay','Suspended',1,0,'pay-2/q/1','approve','may it be paid?',NULL,'{"amount":10}','{"id":"pay-2/q/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}','{"lifecycle":"runstate/tool_call","version":1,"fingerprint":"1c4f1cc3032ce17c","status":"Suspended","record":{"arguments":{"amount":10},"attempts":0,"id":"q","key":{"ordinal":1,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"approve","id":"pay-2/q/1","message":"may it be paid?","resume_mode":"replay_tool_call"}},"digest":"sha256:a0b5488a860e2856d81fd762548332fd9e5b6f3c1a63fa79a513400e275086e7"}',NULL);
INSERT INTO "calls" VALUES('pay-1','p','p',1,0,'pay','Suspended',1,0,'pay-1/p/1','approve','may it be paid?',NULL,'{"amount":9}','{"id":"pay-1/p/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}','{"lifecycle":"runstate/tool_call","version":1,"fingerprint":"1c4f1cc3032ce17c","status":"Suspended","record":{"arguments":{"amount":9},"attempts":0,"id":"p","key":{"ordinal":0,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"approve","id":"pay-1/p/1","message":"may it be paid?","resume_mode":"replay_tool_call"}},"digest":"sha256:5c823ef4cfa5f5313fde249a24c92e762c74564f523132c11a5ea1129fab4059"}',NULL);
INSERT INTO "calls" VALUES('pay-1','q','q',1,1,'pay','Suspended',1,1,'pay-1/q/1','approve','may it be paid?',NULL,'{"amount":10}','{"id":"pay-1/q/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}','{"lifecycle":"runstate/tool_call","version":1,"fingerprint":"1c4f1cc3032ce17c","status":"Suspended","record":{"arguments":{"amount":10},"attempts":0,"id":"q","key":{"ordinal":1,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"approve","id":"pay-1/q/1","message":"may it be paid?","resume_mode":"replay_tool_call"}},"digest":"sha256:ba0243f6becaa4b3a7a061638b75833edc28902e013e49cb1ad6f31154987043"}',NULL);
INSERT INTO "calls" VALUES('pay-3','p','p',1,0,'pay','Suspended',1,1,'pay-3/p/1','approve','may it be paid?',NULL,'{"amount":9}','{"id":"pay-3/p/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}','{"lifecycle":"runstate/tool_call","version":1,"fingerprint":"1c4f1cc3032ce17c","status":"Suspended","record":{"arguments":{"amount":9},"attempts":0,"id":"p","key":{"ordinal":0,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"approve","id":"pay-3/p/1","message":"may it be paid?","resume_mode":"replay_tool_call"}},"digest":"sha256:d4aa2772373ca986a1fa0e98664a25f4a9500fbdb2101d12080b1be2b51e5aeb"}',NULL);
INSERT INTO "calls" VALUES('pay-3','q','q',1,1,'pay','Suspended',1,1,'pay-3/q/1','approve','may it be paid?',NULL,'{"amount":10}','{"id":"pay-3/q/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}','{"lifecycle":"runstate/tool_call","version":1,"fingerprint":"1c4f1cc3032ce17c","status":"Suspended","record":{"arguments":{"amount":10},"attempts":0,"id":"q","key":{"ordinal":1,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"approve","id":"pay-3/q/1","message":"may it be paid?","resume_mode":"replay_tool_call"}},"digest":"sha256:acf90eb4ce84f4feb8b5d25d9cbdf416c017ddd4b310f0501ee5d299cfd699b9"}',NULL);
CREATE TABLE decisions (
    no            INTEGER PRIMARY KEY,
    run           TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    suspension    TEXT    NOT NULL,
    decision      TEXT    NOT NULL,
    call          TEXT    NOT NULL,
    action        TEXT    NOT NULL,                 -- resume or cancel
    actor         TEXT,
    reason        TEXT,
    decided_at_ms INTEGER NOT NULL,
    taken         INTEGER NOT NULL,                 -- 1: a commit holds it
    json          TEXT    NOT NULL,                 -- all of it
    UNIQUE (run, suspension),
    UNIQUE (run, decision)
) STRICT;
INSERT INTO "decisions" VALUES(1,'pay-1','pay-1/p/1','pay-1/p/1/e3c3d885ae5a6e73','p','resume','ada',NULL,1795712086614,0,'{"decision_id":"pay-1/p/1/e3c3d885ae5a6e73","run_id":"pay-1","call":"p","suspension_id":"pay-1/p/1","action":"resume","actor":"ada","digest":"sha256:31af16e7f55d8c090c3937acdca439b3d86e62b3b323f04a7259e4dd12601139","decided_at_ms":1795712086614}');
INSERT INTO "decisions" VALUES(2,'pay-2','pay-2/p/1','pay-2/p/1/fde08d7d280b1b90','p','cancel','ada',NULL,1795712086674,0,'{"decision_id":"pay-2/p/1/fde08d7d280b1b90","run_id":"pay-2","call":"p","suspension_id":"pay-2/p/1","action":"cancel","actor":"ada","digest":"sha256:fb102e742c211e1a9e5a30e67b0c9978b7180b3eb8d0228a470a6a423a67eedf","decided_at_ms":1795712086674}');
INSERT INTO "decisions" VALUES(3,'pay-2','pay-2/q/1','pay-2/q/1/97d5d5d7c08b7e97','q','resume','ada',NULL,1795712086761,0,'{"decision_id":"pay-2/q/1/97d5d5d7c08b7e97","run_id":"pay-2","call":"q","suspension_id":"pay-2/q/1","action":"resume","actor":"ada","digest":"sha256:b8900d15a11757180f180bcc295a97877f4c606b8541efd7fd3b1560f649d521","decided_at_ms":1795712086761}');
CREATE TABLE events (
    run  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    last INTEGER NOT NULL,
    json TEXT    NOT NULL,
    PRIMARY KEY (run, last)
) STRICT, WITHOUT ROWID;
INSERT INTO "events" VALUES('pay-1',1,1,'{"seq":1,"at_ms":1795712086534,"run":"pay-1","thread":"pay-1","activation":1,"type":"run_started","steps":0}');
INSERT INTO "events" VALUES('pay-1',2,2,'{"seq":2,"at_ms":1795712086534,"run":"pay-1","thread":"pay-1","activation":1,"type":"checkpoint","trigger":"UserMessage","commit":1}');
INSERT INTO "events" VALUES('pay-1',3,3,'{"seq":3,"at_ms":1795712086542,"run":"pay-1","thread":"pay-1","activation":1,"type":"step_started","step":1}');
INSERT INTO "events" VALUES('pay-1',4,4,'{"seq":4,"at_ms":1795712086542,"run":"pay-1","thread":"pay-1","activation":1,"type":"inference_started","step":1}');
INSERT INTO "events" VALUES('pay-1',5,8,'{"seq":5,"at_ms":1795712086542,"run":"pay-1","thread":"pay-1","activation":1,"type":"answer_pieces","step":1,"last":8}');
INSERT INTO "events" VALUES('pay-1',9,9,'{"seq":9,"at_ms":1795712086542,"run":"pay-1","thread":"pay-1","activation":1,"type":"inference_finished","step":1,"usage":{"input_tokens":0,"output_tokens":0},"finish":"tool_calls"}');
INSERT INTO "events" VALUES('pay-1',10,10,'{"seq":10,"at_ms":1795712086542,"run":"pay-1","thread":"pay-1","activation":1,"type":"tool_call_ready","call":"p","tool":"pay","arguments":{"amount":9}}');
INSERT INTO "events" VALUES('pay-1',11,11,'{"seq":11,"at_ms":1795712086542,"run":"pay-1","thread":"pay-1","activation":1,"type":"tool_call_ready","call":"q","tool":"pay","arguments":{"amount":10}}');
INSERT INTO "events" VALUES('pay-1',12,12,'{"seq":12,"at_ms":1795712086542,"run":"pay-1","thread":"pay-1","activation":1,"type":"checkpoint","trigger":"AssistantTurnCommitted","commit":2}');
INSERT INTO "events" VALUES('pay-1',13,13,'{"seq":13,"at_ms":1795712086550,"run":"pay-1","thread":"pay-1","activation":1,"type":"tool_call_suspended","interrupt":{"call":"p","tool":"pay","digest":"sha256:31af16e7f55d8c090c3937acdca439b3d86e62b3b323f04a7259e4dd12601139","suspension":{"id":"pay-1/p/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}}}');
INSERT INTO "events" VALUES('pay-1',14,14,'{"seq":14,"at_ms":1795712086550,"run":"pay-1","thread":"pay-1","activation":1,"type":"tool_call_suspended","interrupt":{"call":"q","tool":"pay","digest":"sha256:54e559729a83e8d1f6447366c09de6baea94b2cbd6846b42c7981869755e71bb","suspension":{"id":"pay-1/q/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}}}');
INSERT INTO "events" VALUES('pay-1',15,15,'{"seq":15,"at_ms":1795712086550,"run":"pay-1","thread":"pay-1","activation":1,"type":"checkpoint","trigger":"ToolResultsCommitted","commit":3}');
INSERT INTO "events" VALUES('pay-1',16,16,'{"seq":16,"at_ms":1795712086558,"run":"pay-1","thread":"pay-1","activation":1,"type":"step_finished","step":1}');
INSERT INTO "events" VALUES('pay-1',17,17,'{"seq":17,"at_ms":1795712086558,"run":"pay-1","thread":"pay-1","activation":1,"type":"checkpoint","trigger":"RunFinished","commit":4}');
INSERT INTO "events" VALUES('pay-1',18,18,'{"seq":18,"at_ms":1795712086558,"run":"pay-1","thread":"pay-1","activation":1,"type":"run_finished","reason":"suspended","status":"Waiting","waiting":[{"call":"p","tool":"pay","digest":"sha256:31af16e7f55d8c090c3937acdca439b3d86e62b3b323f04a7259e4dd12601139","suspension":{"id":"pay-1/p/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}},{"call":"q","tool":"pay","digest":"sha256:54e559729a83e8d1f6447366c09de6baea94b2cbd6846b42c7981869755e71bb","suspension":{"id":"pay-1/q/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}}],"usage":{"input_tokens":0,"output_tokens":0},"used":{"input_tokens":0,"output_tokens":0}}');
INSERT INTO "events" VALUES('pay-2',1,1,'{"seq":1,"at_ms":1795712086533,"run":"pay-2","thread":"pay-2","activation":1,"type":"run_started","steps":0}');
INSERT INTO "events" VALUES('pay-2',2,2,'{"seq":2,"at_ms":1795712086533,"run":"pay-2","thread":"pay-2","activation":1,"type":"checkpoint","trigger":"UserMessage","commit":1}');
INSERT INTO "events" VALUES('pay-2',3,3,'{"seq":3,"at_ms":1795712086536,"run":"pay-2","thread":"pay-2","activation":1,"type":"step_started","step":1}');
INSERT INTO "events" VALUES('pay-2',4,4,'{"seq":4,"at_ms":1795712086536,"run":"pay-2","thread":"pay-2","activation":1,"type":"inference_started","step":1}');
INSERT INTO "events" VALUES('pay-2',5,8,'{"seq":5,"at_ms":1795712086536,"run":"pay-2","thread":"pay-2","activation":1,"type":"answer_pieces","step":1,"last":8}');
INSERT INTO "events" VALUES('pay-2',9,9,'{"seq":9,"at_ms":1795712086536,"run":"pay-2","thread":"pay-2","activation":1,"type":"inference_finished","step":1,"usage":{"input_tokens":0,"output_tokens":0},"finish":"tool_calls"}');
INSERT INTO "events" VALUES('pay-2',10,10,'{"seq":10,"at_ms":1795712086536,"run":"pay-2","thread":"pay-2","activation":1,"type":"tool_call_ready","call":"p","tool":"pay","arguments":{"amount":9}}');
INSERT INTO "events" VALUES('pay-2',11,11,'{"seq":11,"at_ms":1795712086536,"run":"pay-2","thread":"pay-2","activation":1,"type":"tool_call_ready","call":"q","tool":"pay","arguments":{"amount":10}}');
INSERT INTO "events" VALUES('pay-2',12,12,'{"seq":12,"at_ms":1795712086536,"run":"pay-2","thread":"pay-2","activation":1,"type":"checkpoint","trigger":"AssistantTurnCommitted","commit":2}');
INSERT INTO "events" VALUES('pay-2',13,13,'{"seq":13,"at_ms":1795712086546,"run":"pay-2","thread":"pay-2","activation":1,"type":"tool_call_suspended","interrupt":{"call":"p","tool":"pay","digest":"sha256:fb102e742c211e1a9e5a30e67b0c9978b7180b3eb8d0228a470a6a423a67eedf","suspension":{"id":"pay-2/p/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}}}');
INSERT INTO "events" VALUES('pay-2',14,14,'{"seq":14,"at_ms":1795712086546,"run":"pay-2","thread":"pay-2","activation":1,"type":"tool_call_suspended","interrupt":{"call":"q","tool":"pay","digest":"sha256:b8900d15a11757180f180bcc295a97877f4c606b8541efd7fd3b1560f649d521","suspension":{"id":"pay-2/q/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}}}');
INSERT INTO "events" VALUES('pay-2',15,15,'{"seq":15,"at_ms":1795712086546,"run":"pay-2","thread":"pay-2","activation":1,"type":"checkpoint","trigger":"ToolResultsCommitted","commit":3}');
INSERT INTO "events" VALUES('pay-2',16,16,'{"seq":16,"at_ms":1795712086554,"run":"pay-2","thread":"pay-2","activation":1,"type":"step_finished","step":1}');
INSERT INTO "events" VALUES('pay-2',17,17,'{"seq":17,"at_ms":1795712086555,"run":"pay-2","thread":"pay-2","activation":1,"type":"checkpoint","trigger":"RunFinished","commit":4}');
INSERT INTO "events" VALUES('pay-2',18,18,'{"seq":18,"at_ms":1795712086555,"run":"pay-2","thread":"pay-2","activation":1,"type":"run_finished","reason":"suspended","status":"Waiting","waiting":[{"call":"p","tool":"pay","digest":"sha256:fb102e742c211e1a9e5a30e67b0c9978b7180b3eb8d0228a470a6a423a67eedf","suspension":{"id":"pay-2/p/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}},{"call":"q","tool":"pay","digest":"sha256:b8900d15a11757180f180bcc295a97877f4c606b8541efd7fd3b1560f649d521","suspension":{"id":"pay-2/q/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}}],"usage":{"input_tokens":0,"output_tokens":0},"used":{"input_tokens":0,"output_tokens":0}}');
INSERT INTO "events" VALUES('pay-3',1,1,'{"seq":1,"at_ms":1795712086546,"run":"pay-3","thread":"pay-3","activation":1,"type":"run_started","steps":0}');
INSERT INTO "events" VALUES('pay-3',2,2,'{"seq":2,"at_ms":1795712086546,"run":"pay-3","thread":"pay-3","activation":1,"type":"checkpoint","trigger":"UserMessage","commit":1}');
INSERT INTO "events" VALUES('pay-3',3,3,'{"seq":3,"at_ms":1795712086554,"run":"pay-3","thread":"pay-3","activation":1,"type":"step_started","step":1}');
INSERT INTO "events" VALUES('pay-3',4,4,'{"seq":4,"at_ms":1795712086554,"run":"pay-3","thread":"pay-3","activation":1,"type":"inference_started","step":1}');
INSERT INTO "events" VALUES('pay-3',5,8,'{"seq":5,"at_ms":1795712086554,"run":"pay-3","thread":"pay-3","activation":1,"type":"answer_pieces","step":1,"last":8}');
INSERT INTO "events" VALUES('pay-3',9,9,'{"seq":9,"at_ms":1795712086554,"run":"pay-3","thread":"pay-3","activation":1,"type":"inference_finished","step":1,"usage":{"input_tokens":0,"output_tokens":0},"finish":"tool_calls"}');
INSERT INTO "events" VALUES('pay-3',10,10,'{"seq":10,"at_ms":1795712086554,"run":"pay-3","thread":"pay-3","activation":1,"type":"tool_call_ready","call":"p","tool":"pay","arguments":{"amount":9}}');
INSERT INTO "events" VALUES('pay-3',11,11,'{"seq":11,"at_ms":1795712086554,"run":"pay-3","thread":"pay-3","activation":1,"type":"tool_call_ready","call":"q","tool":"pay","arguments":{"amount":10}}');
INSERT INTO "events" VALUES('pay-3',12,12,'{"seq":12,"at_ms":1795712086554,"run":"pay-3","thread":"pay-3","activation":1,"type":"checkpoint","trigger":"AssistantTurnCommitted","commit":2}');
INSERT INTO "events" VALUES('pay-3',13,13,'{"seq":13,"at_ms":1795712086562,"run":"pay-3","thread":"pay-3","activation":1,"type":"tool_call_suspended","interrupt":{"call":"p","tool":"pay","digest":"sha256:265cc43b8077db64cc8e752c0541aa8e3d98a615efccf16d13e68fce68914e80","suspension":{"id":"pay-3/p/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}}}');
INSERT INTO "events" VALUES('pay-3',14,14,'{"seq":14,"at_ms":1795712086562,"run":"pay-3","thread":"pay-3","activation":1,"type":"tool_call_suspended","interrupt":{"call":"q","tool":"pay","digest":"sha256:b80ee666fb41ef961341a32cb1ce1528145b41986a7cd2df1a78a64b267f5f9e","suspension":{"id":"pay-3/q/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}}}');
INSERT INTO "events" VALUES('pay-3',15,15,'{"seq":15,"at_ms":1795712086562,"run":"pay-3","thread":"pay-3","activation":1,"type":"checkpoint","trigger":"ToolResultsCommitted","commit":3}');
INSERT INTO "events" VALUES('pay-3',16,16,'{"seq":16,"at_ms":1795712086569,"run":"pay-3","thread":"pay-3","activation":1,"type":"step_finished","step":1}');
INSERT INTO "events" VALUES('pay-3',17,17,'{"seq":17,"at_ms":1795712086570,"run":"pay-3","thread":"pay-3","activation":1,"type":"checkpoint","trigger":"RunFinished","commit":4}');
INSERT INTO "events" VALUES('pay-3',18,18,'{"seq":18,"at_ms":1795712086570,"run":"pay-3","thread":"pay-3","activation":1,"type":"run_finished","reason":"suspended","status":"Waiting","waiting":[{"call":"p","tool":"pay","digest":"sha256:265cc43b8077db64cc8e752c0541aa8e3d98a615efccf16d13e68fce68914e80","suspension":{"id":"pay-3/p/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}},{"call":"q","tool":"pay","digest":"sha256:b80ee666fb41ef961341a32cb1ce1528145b41986a7cd2df1a78a64b267f5f9e","suspension":{"id":"pay-3/q/1","action":"approve","message":"may it be paid?","resume_mode":"replay_tool_call"}}],"usage":{"input_tokens":0,"output_tokens":0},"used":{"input_tokens":0,"output_tokens":0}}');
CREATE TABLE messages (
    run  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    role TEXT    NOT NULL,                          -- user, assistant or result
    json TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO "messages" VALUES('pay-1',1,'user','{"user":"pay the bills"}');
INSERT INTO "messages" VALUES('pay-1',2,'assistant','{"assistant":{"text":"","calls":[{"id":"p","tool":"pay","arguments":{"amount":9}},{"id":"q","tool":"pay","arguments":{"amount":10}}]}}');
INSERT INTO "messages" VALUES('pay-2',1,'user','{"user":"pay the bills"}');
INSERT INTO "messages" VALUES('pay-2',2,'assistant','{"assistant":{"text":"","calls":[{"id":"p","tool":"pay","arguments":{"amount":9}},{"id":"q","tool":"pay","arguments":{"amount":10}}]}}');
INSERT INTO "messages" VALUES('pay-3',1,'user','{"user":"pay the bills"}');
INSERT INTO "messages" VALUES('pay-3',2,'assistant','{"assistant":{"text":"","calls":[{"id":"p","tool":"pay","arguments":{"amount":9}},{"id":"q","tool":"pay","arguments":{"amount":10}}]}}');
CREATE TABLE news (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    count INTEGER NOT NULL
, commits INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "news" VALUES(1,10,12);
CREATE TABLE removed (
    run TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE run_values (
    run   TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,                            -- run or thread
    key   TEXT NOT NULL,
    json  TEXT NOT NULL,
    PRIMARY KEY (run, scope, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
    id              TEXT    NOT NULL PRIMARY KEY,
    title           TEXT    NOT NULL,
    status          TEXT    NOT NULL,               -- Running, Waiting or Done
    reason          TEXT,                           -- why its last activation ended
    version         INTEGER NOT NULL DEFAULT 0,     -- commits made
    steps           INTEGER NOT NULL DEFAULT 0,
    waiting         INTEGER NOT NULL DEFAULT 0,     -- calls that wait
    mail            INTEGER NOT NULL DEFAULT 0,     -- decisions that were accepted and not taken
    cancel          TEXT,                           -- somebody wants it cancelled, and says why
    thread          TEXT,
    holder          TEXT,
    held_until_ms   INTEGER,
    fence           INTEGER NOT NULL DEFAULT 0,     -- of the last lease
    committed_under INTEGER NOT NULL DEFAULT 0,     -- the fence of the last commit
    not_before_ms   INTEGER,                        -- it is not claimed before
    problem         TEXT,                           -- why it did not go on
    created_at_ms   INTEGER NOT NULL,
    changed_at_ms   INTEGER NOT NULL,               -- created or last committed
    ready           INTEGER NOT NULL GENERATED ALWAYS AS (
        status = 'Running' OR (status = 'Waiting' AND (mail > 0 OR cancel IS NOT NULL))
    ) VIRTUAL,
    snapshot        TEXT,                           -- JSON: its machine, sealed
    core            TEXT                            -- JSON: what else there is
, lost INTEGER NOT NULL DEFAULT 0, claimed_steps INTEGER NOT NULL DEFAULT 0, changed INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "runs" VALUES('pay-1','pay the bills','Waiting','suspended',4,1,2,1,NULL,'pay-1',NULL,NULL,1,1,NULL,NULL,1795712086273,1795712086558,'{"lifecycle":"runstate/run","version":1,"fingerprint":"769d7d8dd8a19a30","status":"Waiting","record":{"activations":1,"id":"pay-1"},"state":{"calls":["p","q"]},"digest":"sha256:52c56c8ddf1872438c9177135411c376ddc9117ad09284dfc35776632f0beac8"}','{"thread":"pay-1","base":0,"steps":1,"flows":1,"events":18,"counters":{"started_at_ms":1795712086534,"rounds":1,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}',0,0,10);
INSERT INTO "runs" VALUES('pay-2','pay the bills','Waiting','suspended',4,1,2,2,NULL,'pay-2',NULL,NULL,1,1,NULL,NULL,1795712086361,1795712086555,'{"lifecycle":"runstate/run","version":1,"fingerprint":"769d7d8dd8a19a30","status":"Waiting","record":{"activations":1,"id":"pay-2"},"state":{"calls":["p","q"]},"digest":"sha256:1311e162b2883e101702e4b0571cbee4e8a88637595a0912ef7386f9dc2f7c96"}','{"thread":"pay-2","base":0,"steps":1,"flows":1,"events":18,"counters":{"started_at_ms":1795712086533,"rounds":1,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}',0,0,9);
INSERT INTO "runs" VALUES('pay-3','pay the bills','Waiting','suspended',4,1,2,0,NULL,'pay-3',NULL,NULL,1,1,NULL,NULL,1795712086437,1795712086570,'{"lifecycle":"runstate/run","version":1,"fingerprint":"769d7d8dd8a19a30","status":"Waiting","record":{"activations":1,"id":"pay-3"},"state":{"calls":["p","q"]},"digest":"sha256:ddd8ffc0a765610a92eacf4e9ae33a793041f42e0c6d2b711399cc07c91a3f96"}','{"thread":"pay-3","base":0,"steps":1,"flows":1,"events":18,"counters":{"started_at_ms":1795712086546,"rounds":1,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}',0,0,12);
INSERT INTO "runs" VALUES('pay-4','pay the bills','Running',NULL,0,0,0,0,NULL,NULL,NULL,NULL,0,0,NULL,NULL,1795712086893,1795712086893,NULL,NULL,0,0,0);
CREATE TABLE specs (
    run  TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    json TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "specs" VALUES('pay-1','{"kind":"scenario","scenario":"name: pay\nmessage: pay the bills\nplugins:\n  - ask: {tool: pay, ticket: {message: ''may it be paid?''}}\ntools: {pay: {}, ship: {}}\nmodel:\n  - calls: [{id: p, tool: pay, arguments: {amount: 9}}, {id: q, tool: pay, arguments: {amount: 10}}]\n  - text: done\n","token":"fc89070e8598f1c7c3fff9d92f0ea42f"}');
INSERT INTO "specs" VALUES('pay-2','{"kind":"scenario","scenario":"name: pay\nmessage: pay the bills\nplugins:\n  - ask: {tool: pay, ticket: {message: ''may it be paid?''}}\ntools: {pay: {}, ship: {}}\nmodel:\n  - calls: [{id: p, tool: pay, arguments: {amount: 9}}, {id: q, tool: pay, arguments: {amount: 10}}]\n  - text: done\n","token":"01c6aced39178cdd2fd2075cac495ef3"}');
INSERT INTO "specs" VALUES('pay-3','{"kind":"scenario","scenario":"name: pay\nmessage: pay the bills\nplugins:\n  - ask: {tool: pay, ticket: {message: ''may it be paid?''}}\ntools: {pay: {}, ship: {}}\nmodel:\n  - calls: [{id: p, tool: pay, arguments: {amount: 9}}, {id: q, tool: pay, arguments: {amount: 10}}]\n  - text: done\n","token":"a588437c7b1c90a5e2ad43b138b9cd13"}');
INSERT INTO "specs" VALUES('pay-4','{"kind":"scenario","scenario":"name: pay\nmessage: pay the bills\nplugins:\n  - ask: {tool: pay, ticket: {message: ''may it be paid?''}}\ntools: {pay: {}, ship: {}}\nmodel:\n  - calls: [{id: p, tool: pay, arguments: {amount: 9}}, {id: q, tool: pay, arguments: {amount: 10}}]\n  - text: done\n","token":"53b0d3d0e2cdf79a2eb46b2b35284a28"}');
CREATE TABLE trace (
    run  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    json TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;
INSERT INTO "trace" VALUES('pay-2',1,'{"seq":1,"at_ms":1795712086532,"run":"pay-2","lifecycle":"run","instance":"pay-2","event":"create","from":null,"to":"Running"}');
INSERT INTO "trace" VALUES('pay-2',2,'{"seq":2,"at_ms":1795712086533,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO "trace" VALUES('pay-2',3,'{"seq":3,"at_ms":1795712086533,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO "trace" VALUES('pay-1',1,'{"seq":1,"at_ms":1795712086534,"run":"pay-1","lifecycle":"run","instance":"pay-1","event":"create","from":null,"to":"Running"}');
INSERT INTO "trace" VALUES('pay-1',2,'{"seq":2,"at_ms":1795712086534,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO "trace" VALUES('pay-1',3,'{"seq":3,"at_ms":1795712086534,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO "trace" VALUES('pay-2',4,'{"seq":4,"at_ms":1795712086536,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO "trace" VALUES('pay-2',5,'{"seq":5,"at_ms":1795712086536,"run":"pay-2","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO "trace" VALUES('pay-2',6,'{"seq":6,"at_ms":1795712086536,"run":"pay-2","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO "trace" VALUES('pay-2',7,'{"seq":7,"at_ms":1795712086536,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO "trace" VALUES('pay-2',8,'{"seq":8,"at_ms":1795712086536,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO "trace" VALUES('pay-2',9,'{"seq":9,"at_ms":1795712086536,"run":"pay-2","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO "trace" VALUES('pay-2',10,'{"seq":10,"at_ms":1795712086536,"run":"pay-2","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO "trace" VALUES('pay-2',11,'{"seq":11,"at_ms":1795712086536,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO "trace" VALUES('pay-2',12,'{"seq":12,"at_ms":1795712086536,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO "trace" VALUES('pay-2',13,'{"seq":13,"at_ms":1795712086536,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO "trace" VALUES('pay-2',14,'{"seq":14,"at_ms":1795712086536,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO "trace" VALUES('pay-2',15,'{"seq":15,"at_ms":1795712086536,"run":"pay-2","lifecycle":"tool_call","instance":"p","event":"create","from":null,"to":"New"}');
INSERT INTO "trace" VALUES('pay-2',16,'{"seq":16,"at_ms":1795712086536,"run":"pay-2","lifecycle":"tool_call","instance":"q","event":"create","from":null,"to":"New"}');
INSERT INTO "trace" VALUES('pay-1',4,'{"seq":4,"at_ms":1795712086542,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO "trace" VALUES('pay-1',5,'{"seq":5,"at_ms":1795712086542,"run":"pay-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO "trace" VALUES('pay-1',6,'{"seq":6,"at_ms":1795712086542,"run":"pay-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO "trace" VALUES('pay-1',7,'{"seq":7,"at_ms":1795712086542,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO "trace" VALUES('pay-1',8,'{"seq":8,"at_ms":1795712086542,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO "trace" VALUES('pay-1',9,'{"seq":9,"at_ms":1795712086542,"run":"pay-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO "trace" VALUES('pay-1',10,'{"seq":10,"at_ms":1795712086542,"run":"pay-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO "trace" VALUES('pay-1',11,'{"seq":11,"at_ms":1795712086542,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO "trace" VALUES('pay-1',12,'{"seq":12,"at_ms":1795712086542,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO "trace" VALUES('pay-1',13,'{"seq":13,"at_ms":1795712086542,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO "trace" VALUES('pay-1',14,'{"seq":14,"at_ms":1795712086542,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO "trace" VALUES('pay-1',15,'{"seq":15,"at_ms":1795712086542,"run":"pay-1","lifecycle":"tool_call","instance":"p","event":"create","from":null,"to":"New"}');
INSERT INTO "trace" VALUES('pay-1',16,'{"seq":16,"at_ms":1795712086542,"run":"pay-1","lifecycle":"tool_call","instance":"q","event":"create","from":null,"to":"New"}');
INSERT INTO "trace" VALUES('pay-3',1,'{"seq":1,"at_ms":1795712086537,"run":"pay-3","lifecycle":"run","instance":"pay-3","event":"create","from":null,"to":"Running"}');
INSERT INTO "trace" VALUES('pay-3',2,'{"seq":2,"at_ms":1795712086546,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO "trace" VALUES('pay-3',3,'{"seq":3,"at_ms":1795712086546,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO "trace" VALUES('pay-2',17,'{"seq":17,"at_ms":1795712086546,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO "trace" VALUES('pay-2',18,'{"seq":18,"at_ms":1795712086546,"run":"pay-2","lifecycle":"tool_execution","instance":"p.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO "trace" VALUES('pay-2',19,'{"seq":19,"at_ms":1795712086546,"run":"pay-2","lifecycle":"tool_execution","instance":"p.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-2',20,'{"seq":20,"at_ms":1795712086546,"run":"pay-2","lifecycle":"tool_execution","instance":"p.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO "trace" VALUES('pay-2',21,'{"seq":21,"at_ms":1795712086546,"run":"pay-2","lifecycle":"tool_call","instance":"p","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-2',22,'{"seq":22,"at_ms":1795712086546,"run":"pay-2","lifecycle":"tool_execution","instance":"q.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO "trace" VALUES('pay-2',23,'{"seq":23,"at_ms":1795712086546,"run":"pay-2","lifecycle":"tool_execution","instance":"q.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-2',24,'{"seq":24,"at_ms":1795712086546,"run":"pay-2","lifecycle":"tool_execution","instance":"q.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO "trace" VALUES('pay-2',25,'{"seq":25,"at_ms":1795712086546,"run":"pay-2","lifecycle":"tool_call","instance":"q","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-2',26,'{"seq":26,"at_ms":1795712086546,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"complete","from":"ToolRound","to":"CommitTool"}');
INSERT INTO "trace" VALUES('pay-1',17,'{"seq":17,"at_ms":1795712086550,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO "trace" VALUES('pay-1',18,'{"seq":18,"at_ms":1795712086550,"run":"pay-1","lifecycle":"tool_execution","instance":"p.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO "trace" VALUES('pay-1',19,'{"seq":19,"at_ms":1795712086550,"run":"pay-1","lifecycle":"tool_execution","instance":"p.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-1',20,'{"seq":20,"at_ms":1795712086550,"run":"pay-1","lifecycle":"tool_execution","instance":"p.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO "trace" VALUES('pay-1',21,'{"seq":21,"at_ms":1795712086550,"run":"pay-1","lifecycle":"tool_call","instance":"p","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-1',22,'{"seq":22,"at_ms":1795712086550,"run":"pay-1","lifecycle":"tool_execution","instance":"q.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO "trace" VALUES('pay-1',23,'{"seq":23,"at_ms":1795712086550,"run":"pay-1","lifecycle":"tool_execution","instance":"q.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-1',24,'{"seq":24,"at_ms":1795712086550,"run":"pay-1","lifecycle":"tool_execution","instance":"q.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO "trace" VALUES('pay-1',25,'{"seq":25,"at_ms":1795712086550,"run":"pay-1","lifecycle":"tool_call","instance":"q","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-1',26,'{"seq":26,"at_ms":1795712086550,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"complete","from":"ToolRound","to":"CommitTool"}');
INSERT INTO "trace" VALUES('pay-3',4,'{"seq":4,"at_ms":1795712086554,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO "trace" VALUES('pay-3',5,'{"seq":5,"at_ms":1795712086554,"run":"pay-3","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO "trace" VALUES('pay-3',6,'{"seq":6,"at_ms":1795712086554,"run":"pay-3","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO "trace" VALUES('pay-3',7,'{"seq":7,"at_ms":1795712086554,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO "trace" VALUES('pay-3',8,'{"seq":8,"at_ms":1795712086554,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO "trace" VALUES('pay-3',9,'{"seq":9,"at_ms":1795712086554,"run":"pay-3","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO "trace" VALUES('pay-3',10,'{"seq":10,"at_ms":1795712086554,"run":"pay-3","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO "trace" VALUES('pay-3',11,'{"seq":11,"at_ms":1795712086554,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO "trace" VALUES('pay-3',12,'{"seq":12,"at_ms":1795712086554,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO "trace" VALUES('pay-3',13,'{"seq":13,"at_ms":1795712086554,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO "trace" VALUES('pay-3',14,'{"seq":14,"at_ms":1795712086554,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO "trace" VALUES('pay-3',15,'{"seq":15,"at_ms":1795712086554,"run":"pay-3","lifecycle":"tool_call","instance":"p","event":"create","from":null,"to":"New"}');
INSERT INTO "trace" VALUES('pay-3',16,'{"seq":16,"at_ms":1795712086554,"run":"pay-3","lifecycle":"tool_call","instance":"q","event":"create","from":null,"to":"New"}');
INSERT INTO "trace" VALUES('pay-2',27,'{"seq":27,"at_ms":1795712086554,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitTool","to":"ResumeAfterTool"}');
INSERT INTO "trace" VALUES('pay-2',28,'{"seq":28,"at_ms":1795712086554,"run":"pay-2","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO "trace" VALUES('pay-2',29,'{"seq":29,"at_ms":1795712086554,"run":"pay-2","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO "trace" VALUES('pay-2',30,'{"seq":30,"at_ms":1795712086554,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"park","from":"ResumeAfterTool","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-2',31,'{"seq":31,"at_ms":1795712086554,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"wind_up","from":"Suspended","to":"RunEnd"}');
INSERT INTO "trace" VALUES('pay-2',32,'{"seq":32,"at_ms":1795712086554,"run":"pay-2","lifecycle":"run","instance":"pay-2","event":"wait","from":"Running","to":"Waiting"}');
INSERT INTO "trace" VALUES('pay-2',33,'{"seq":33,"at_ms":1795712086554,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"close","from":"RunEnd","to":"CommitFinished"}');
INSERT INTO "trace" VALUES('pay-1',27,'{"seq":27,"at_ms":1795712086558,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitTool","to":"ResumeAfterTool"}');
INSERT INTO "trace" VALUES('pay-1',28,'{"seq":28,"at_ms":1795712086558,"run":"pay-1","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO "trace" VALUES('pay-1',29,'{"seq":29,"at_ms":1795712086558,"run":"pay-1","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO "trace" VALUES('pay-1',30,'{"seq":30,"at_ms":1795712086558,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"park","from":"ResumeAfterTool","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-1',31,'{"seq":31,"at_ms":1795712086558,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"wind_up","from":"Suspended","to":"RunEnd"}');
INSERT INTO "trace" VALUES('pay-1',32,'{"seq":32,"at_ms":1795712086558,"run":"pay-1","lifecycle":"run","instance":"pay-1","event":"wait","from":"Running","to":"Waiting"}');
INSERT INTO "trace" VALUES('pay-1',33,'{"seq":33,"at_ms":1795712086558,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"close","from":"RunEnd","to":"CommitFinished"}');
INSERT INTO "trace" VALUES('pay-3',17,'{"seq":17,"at_ms":1795712086561,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO "trace" VALUES('pay-3',18,'{"seq":18,"at_ms":1795712086561,"run":"pay-3","lifecycle":"tool_execution","instance":"p.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO "trace" VALUES('pay-3',19,'{"seq":19,"at_ms":1795712086562,"run":"pay-3","lifecycle":"tool_execution","instance":"p.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-3',20,'{"seq":20,"at_ms":1795712086562,"run":"pay-3","lifecycle":"tool_execution","instance":"p.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO "trace" VALUES('pay-3',21,'{"seq":21,"at_ms":1795712086562,"run":"pay-3","lifecycle":"tool_call","instance":"p","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-3',22,'{"seq":22,"at_ms":1795712086562,"run":"pay-3","lifecycle":"tool_execution","instance":"q.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO "trace" VALUES('pay-3',23,'{"seq":23,"at_ms":1795712086562,"run":"pay-3","lifecycle":"tool_execution","instance":"q.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-3',24,'{"seq":24,"at_ms":1795712086562,"run":"pay-3","lifecycle":"tool_execution","instance":"q.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO "trace" VALUES('pay-3',25,'{"seq":25,"at_ms":1795712086562,"run":"pay-3","lifecycle":"tool_call","instance":"q","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-3',26,'{"seq":26,"at_ms":1795712086562,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"complete","from":"ToolRound","to":"CommitTool"}');
INSERT INTO "trace" VALUES('pay-3',27,'{"seq":27,"at_ms":1795712086569,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitTool","to":"ResumeAfterTool"}');
INSERT INTO "trace" VALUES('pay-3',28,'{"seq":28,"at_ms":1795712086569,"run":"pay-3","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO "trace" VALUES('pay-3',29,'{"seq":29,"at_ms":1795712086569,"run":"pay-3","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO "trace" VALUES('pay-3',30,'{"seq":30,"at_ms":1795712086569,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"park","from":"ResumeAfterTool","to":"Suspended"}');
INSERT INTO "trace" VALUES('pay-3',31,'{"seq":31,"at_ms":1795712086569,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"wind_up","from":"Suspended","to":"RunEnd"}');
INSERT INTO "trace" VALUES('pay-3',32,'{"seq":32,"at_ms":1795712086570,"run":"pay-3","lifecycle":"run","instance":"pay-3","event":"wait","from":"Running","to":"Waiting"}');
INSERT INTO "trace" VALUES('pay-3',33,'{"seq":33,"at_ms":1795712086570,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"close","from":"RunEnd","to":"CommitFinished"}');
CREATE INDEX runs_newest ON runs (created_at_ms, id);
CREATE INDEX runs_by_status ON runs (status, created_at_ms, id);
CREATE INDEX runs_free ON runs (changed_at_ms, id) WHERE ready = 1 AND holder IS NULL;
CREATE INDEX runs_held ON runs (held_until_ms) WHERE ready = 1 AND holder IS NOT NULL;
CREATE INDEX calls_open ON calls (run, name) WHERE open = 1;
CREATE INDEX calls_open_by_name ON calls (name, run) WHERE open = 1;
CREATE INDEX calls_open_by_id ON calls (id, run, name) WHERE open = 1;
CREATE INDEX calls_open_by_suspension ON calls (suspension, run, name) WHERE open = 1;
CREATE INDEX decisions_untaken ON decisions (run, no) WHERE taken = 0;
CREATE INDEX calls_due ON calls (lapses_at_ms, run, name) WHERE open = 1 AND lapses_at_ms IS NOT NULL;
CREATE INDEX calls_due_by_date ON calls (expires_at_ms, run, name)
    WHERE open = 1 AND lapses_at_ms IS NULL AND expires_at_ms IS NOT NULL;
CREATE INDEX runs_changed ON runs (changed) WHERE changed > 0;
COMMIT;
