-- A file of version 8 of the tables, as a program of that version left it: four runs of one scenario. pay-1 has an approval of two, pay-2 both
-- decisions, pay-3 none, and pay-4 has not begun.
PRAGMA application_id = 1383420788;
PRAGMA user_version = 8;
PRAGMA journal_mode = wal;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
INSERT INTO runs VALUES('pay-1','pay the bills','Waiting','suspended',4,1,2,1,NULL,'pay-1',NULL,NULL,1,1,NULL,NULL,1795868977746,1795868977978,'{"lifecycle":"runstate/run","version":1,"fingerprint":"769d7d8dd8a19a30","status":"Waiting","record":{"activations":1,"id":"pay-1"},"state":{"calls":["p","q"]},"digest":"sha256:52c56c8ddf1872438c9177135411c376ddc9117ad09284dfc35776632f0beac8"}','{"thread":"pay-1","base":0,"steps":1,"flows":1,"events":18,"counters":{"started_at_ms":1795868977948,"rounds":1,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}',0,0,10);
INSERT INTO runs VALUES('pay-2','pay the bills','Waiting','suspended',4,1,2,2,NULL,'pay-2',NULL,NULL,1,1,NULL,NULL,1795868977798,1795868977976,'{"lifecycle":"runstate/run","version":1,"fingerprint":"769d7d8dd8a19a30","status":"Waiting","record":{"activations":1,"id":"pay-2"},"state":{"calls":["p","q"]},"digest":"sha256:1311e162b2883e101702e4b0571cbee4e8a88637595a0912ef7386f9dc2f7c96"}','{"thread":"pay-2","base":0,"steps":1,"flows":1,"events":18,"counters":{"started_at_ms":1795868977939,"rounds":1,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}',0,0,9);
INSERT INTO runs VALUES('pay-3','pay the bills','Waiting','suspended',4,1,2,0,NULL,'pay-3',NULL,NULL,1,1,NULL,NULL,1795868977869,1795868977982,'{"lifecycle":"runstate/run","version":1,"fingerprint":"769d7d8dd8a19a30","status":"Waiting","record":{"activations":1,"id":"pay-3"},"state":{"calls":["p","q"]},"digest":"sha256:ddd8ffc0a765610a92eacf4e9ae33a793041f42e0c6d2b711399cc07c91a3f96"}','{"thread":"pay-3","base":0,"steps":1,"flows":1,"events":18,"counters":{"started_at_ms":1795868977964,"rounds":1,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}',0,0,12);
INSERT INTO runs VALUES('pay-4','pay the bills','Running',NULL,0,0,0,0,NULL,NULL,NULL,NULL,0,0,NULL,NULL,1795868978182,1795868978182,NULL,NULL,0,0,0);
CREATE TABLE specs (
    run  TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    json TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO specs VALUES('pay-1','{"kind":"scenario","scenario":"name: pay\nabout: pay the bills\nmessage: pay the bills\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}, {id: q, tool: pay}]\n  - text: paid\n","token":"49222404ac3810b6991685602ed953da"}');
INSERT INTO specs VALUES('pay-2','{"kind":"scenario","scenario":"name: pay\nabout: pay the bills\nmessage: pay the bills\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}, {id: q, tool: pay}]\n  - text: paid\n","token":"269760c35843517b3c6a1ae9f336156d"}');
INSERT INTO specs VALUES('pay-3','{"kind":"scenario","scenario":"name: pay\nabout: pay the bills\nmessage: pay the bills\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}, {id: q, tool: pay}]\n  - text: paid\n","token":"5816ca52cfab1b291d7a53fbb229bf2a"}');
INSERT INTO specs VALUES('pay-4','{"kind":"scenario","scenario":"name: pay\nabout: pay the bills\nmessage: pay the bills\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}, {id: q, tool: pay}]\n  - text: paid\n","token":"c221109528c33740b8af2ac7afc7d3ef"}');
CREATE TABLE messages (
    run  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    role TEXT    NOT NULL,                          -- user, assistant or result
    json TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO messages VALUES('pay-1',1,'user','{"user":"pay the bills"}');
INSERT INTO messages VALUES('pay-1',2,'assistant','{"assistant":{"text":"","calls":[{"id":"p","tool":"pay","arguments":{}},{"id":"q","tool":"pay","arguments":{}}]}}');
INSERT INTO messages VALUES('pay-2',1,'user','{"user":"pay the bills"}');
INSERT INTO messages VALUES('pay-2',2,'assistant','{"assistant":{"text":"","calls":[{"id":"p","tool":"pay","arguments":{}},{"id":"q","tool":"pay","arguments":{}}]}}');
INSERT INTO messages VALUES('pay-3',1,'user','{"user":"pay the bills"}');
INSERT INTO messages VALUES('pay-3',2,'assistant','{"assistant":{"text":"","calls":[{"id":"p","tool":"pay","arguments":{}},{"id":"q","tool":"pay","arguments":{}}]}}');
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
INSERT INTO calls VALUES('pay-2','p','p',1,0,'pay','Suspended',1,0,'pay-2/p/1','approve','may pay execute?',NULL,'{}','{"id":"pay-2/p/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}','{"lifecycle":"runstate/tool_call","version":1,"fingerprint":"1c4f1cc3032ce17c","status":"Suspended","record":{"arguments":{},"attempts":0,"id":"p","key":{"ordinal":0,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"approve","id":"pay-2/p/1","message":"may pay execute?","resume_mode":"replay_tool_call"}},"digest":"sha256:40097d29244f76ed645ef822243db1b9e3aff595faabb55b3a558d442bf08c48"}',NULL);
INSERT INTO calls VALUES('pay-2','q','q',1,1,'pay','Suspended',1,0,'pay-2/q/1','approve','may pay execute?',NULL,'{}','{"id":"pay-2/q/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}','{"lifecycle":"runstate/tool_call","version":1,"fingerprint":"1c4f1cc3032ce17c","status":"Suspended","record":{"arguments":{},"attempts":0,"id":"q","key":{"ordinal":1,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"approve","id":"pay-2/q/1","message":"may pay execute?","resume_mode":"replay_tool_call"}},"digest":"sha256:99b8d45f757bcce7e3f79c4aed4fe6146f1656e7ca5ff744f724c9f810f2fdeb"}',NULL);
INSERT INTO calls VALUES('pay-1','p','p',1,0,'pay','Suspended',1,0,'pay-1/p/1','approve','may pay execute?',NULL,'{}','{"id":"pay-1/p/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}','{"lifecycle":"runstate/tool_call","version":1,"fingerprint":"1c4f1cc3032ce17c","status":"Suspended","record":{"arguments":{},"attempts":0,"id":"p","key":{"ordinal":0,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"approve","id":"pay-1/p/1","message":"may pay execute?","resume_mode":"replay_tool_call"}},"digest":"sha256:522b608439987b3ad5ebb7ef87179813252475c35d901599d20a85874ef34f77"}',NULL);
INSERT INTO calls VALUES('pay-1','q','q',1,1,'pay','Suspended',1,1,'pay-1/q/1','approve','may pay execute?',NULL,'{}','{"id":"pay-1/q/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}','{"lifecycle":"runstate/tool_call","version":1,"fingerprint":"1c4f1cc3032ce17c","status":"Suspended","record":{"arguments":{},"attempts":0,"id":"q","key":{"ordinal":1,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"approve","id":"pay-1/q/1","message":"may pay execute?","resume_mode":"replay_tool_call"}},"digest":"sha256:e52de7799224fb2158b9d1a81d9f46e0add27aac4ebe998e65748dec214666de"}',NULL);
INSERT INTO calls VALUES('pay-3','p','p',1,0,'pay','Suspended',1,1,'pay-3/p/1','approve','may pay execute?',NULL,'{}','{"id":"pay-3/p/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}','{"lifecycle":"runstate/tool_call","version":1,"fingerprint":"1c4f1cc3032ce17c","status":"Suspended","record":{"arguments":{},"attempts":0,"id":"p","key":{"ordinal":0,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"approve","id":"pay-3/p/1","message":"may pay execute?","resume_mode":"replay_tool_call"}},"digest":"sha256:517fe13bf6b7e317785655d9c59a6fdf2ac1488c977d824aadee3fc31cbd5fa8"}',NULL);
INSERT INTO calls VALUES('pay-3','q','q',1,1,'pay','Suspended',1,1,'pay-3/q/1','approve','may pay execute?',NULL,'{}','{"id":"pay-3/q/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}','{"lifecycle":"runstate/tool_call","version":1,"fingerprint":"1c4f1cc3032ce17c","status":"Suspended","record":{"arguments":{},"attempts":0,"id":"q","key":{"ordinal":1,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"approve","id":"pay-3/q/1","message":"may pay execute?","resume_mode":"replay_tool_call"}},"digest":"sha256:3271070821f17cf125a853abc65782eee7345ade89842cacae28590beb8756ff"}',NULL);
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
INSERT INTO decisions VALUES(1,'pay-1','pay-1/p/1','pay-1/p/1/c3480617ccff6add','p','resume','ada',NULL,1795868978036,0,'{"decision_id":"pay-1/p/1/c3480617ccff6add","run_id":"pay-1","call":"p","suspension_id":"pay-1/p/1","action":"resume","actor":"ada","digest":"sha256:5a26bb5054773c10b09737be023eac7fcf2ea0ffceb2c7a51f5fc8062f86999a","decided_at_ms":1795868978036}');
INSERT INTO decisions VALUES(2,'pay-2','pay-2/p/1','pay-2/p/1/1d0a5692e10c09de','p','resume','ada',NULL,1795868978079,0,'{"decision_id":"pay-2/p/1/1d0a5692e10c09de","run_id":"pay-2","call":"p","suspension_id":"pay-2/p/1","action":"resume","actor":"ada","digest":"sha256:08a42eec011070b0e0b4174be1693bb67534cfb18613f528486ec4694b5ae434","decided_at_ms":1795868978079}');
INSERT INTO decisions VALUES(3,'pay-2','pay-2/q/1','pay-2/q/1/ad73481aa26754c5','q','resume','ada',NULL,1795868978119,0,'{"decision_id":"pay-2/q/1/ad73481aa26754c5","run_id":"pay-2","call":"q","suspension_id":"pay-2/q/1","action":"resume","actor":"ada","digest":"sha256:1bd0bc76951b5ace0b9e7e8f63b568652f9f04bc067f2d43fbe949d066a9e83b","decided_at_ms":1795868978119}');
CREATE TABLE run_values (
    run   TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,                            -- run or thread
    key   TEXT NOT NULL,
    json  TEXT NOT NULL,
    PRIMARY KEY (run, scope, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE trace (
    run  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    json TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;
INSERT INTO trace VALUES('pay-2',1,'{"seq":1,"at_ms":1795868977937,"run":"pay-2","lifecycle":"run","instance":"pay-2","event":"create","from":null,"to":"Running"}');
INSERT INTO trace VALUES('pay-2',2,'{"seq":2,"at_ms":1795868977939,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO trace VALUES('pay-2',3,'{"seq":3,"at_ms":1795868977940,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO trace VALUES('pay-1',1,'{"seq":1,"at_ms":1795868977948,"run":"pay-1","lifecycle":"run","instance":"pay-1","event":"create","from":null,"to":"Running"}');
INSERT INTO trace VALUES('pay-1',2,'{"seq":2,"at_ms":1795868977949,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO trace VALUES('pay-1',3,'{"seq":3,"at_ms":1795868977949,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO trace VALUES('pay-2',4,'{"seq":4,"at_ms":1795868977951,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO trace VALUES('pay-2',5,'{"seq":5,"at_ms":1795868977953,"run":"pay-2","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('pay-2',6,'{"seq":6,"at_ms":1795868977953,"run":"pay-2","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('pay-2',7,'{"seq":7,"at_ms":1795868977953,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO trace VALUES('pay-2',8,'{"seq":8,"at_ms":1795868977953,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO trace VALUES('pay-2',9,'{"seq":9,"at_ms":1795868977953,"run":"pay-2","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('pay-2',10,'{"seq":10,"at_ms":1795868977953,"run":"pay-2","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('pay-2',11,'{"seq":11,"at_ms":1795868977953,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO trace VALUES('pay-2',12,'{"seq":12,"at_ms":1795868977953,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO trace VALUES('pay-2',13,'{"seq":13,"at_ms":1795868977954,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO trace VALUES('pay-2',14,'{"seq":14,"at_ms":1795868977954,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO trace VALUES('pay-2',15,'{"seq":15,"at_ms":1795868977955,"run":"pay-2","lifecycle":"tool_call","instance":"p","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('pay-2',16,'{"seq":16,"at_ms":1795868977955,"run":"pay-2","lifecycle":"tool_call","instance":"q","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('pay-1',4,'{"seq":4,"at_ms":1795868977959,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO trace VALUES('pay-1',5,'{"seq":5,"at_ms":1795868977959,"run":"pay-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('pay-1',6,'{"seq":6,"at_ms":1795868977959,"run":"pay-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('pay-1',7,'{"seq":7,"at_ms":1795868977959,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO trace VALUES('pay-1',8,'{"seq":8,"at_ms":1795868977959,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO trace VALUES('pay-1',9,'{"seq":9,"at_ms":1795868977959,"run":"pay-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('pay-1',10,'{"seq":10,"at_ms":1795868977959,"run":"pay-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('pay-1',11,'{"seq":11,"at_ms":1795868977959,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO trace VALUES('pay-1',12,'{"seq":12,"at_ms":1795868977959,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO trace VALUES('pay-1',13,'{"seq":13,"at_ms":1795868977959,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO trace VALUES('pay-1',14,'{"seq":14,"at_ms":1795868977959,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO trace VALUES('pay-1',15,'{"seq":15,"at_ms":1795868977959,"run":"pay-1","lifecycle":"tool_call","instance":"p","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('pay-1',16,'{"seq":16,"at_ms":1795868977959,"run":"pay-1","lifecycle":"tool_call","instance":"q","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('pay-3',1,'{"seq":1,"at_ms":1795868977964,"run":"pay-3","lifecycle":"run","instance":"pay-3","event":"create","from":null,"to":"Running"}');
INSERT INTO trace VALUES('pay-3',2,'{"seq":2,"at_ms":1795868977964,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO trace VALUES('pay-3',3,'{"seq":3,"at_ms":1795868977964,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO trace VALUES('pay-2',17,'{"seq":17,"at_ms":1795868977966,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO trace VALUES('pay-2',18,'{"seq":18,"at_ms":1795868977967,"run":"pay-2","lifecycle":"tool_execution","instance":"p.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('pay-2',19,'{"seq":19,"at_ms":1795868977967,"run":"pay-2","lifecycle":"tool_execution","instance":"p.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO trace VALUES('pay-2',20,'{"seq":20,"at_ms":1795868977967,"run":"pay-2","lifecycle":"tool_execution","instance":"p.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('pay-2',21,'{"seq":21,"at_ms":1795868977967,"run":"pay-2","lifecycle":"tool_call","instance":"p","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO trace VALUES('pay-2',22,'{"seq":22,"at_ms":1795868977967,"run":"pay-2","lifecycle":"tool_execution","instance":"q.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('pay-2',23,'{"seq":23,"at_ms":1795868977967,"run":"pay-2","lifecycle":"tool_execution","instance":"q.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO trace VALUES('pay-2',24,'{"seq":24,"at_ms":1795868977967,"run":"pay-2","lifecycle":"tool_execution","instance":"q.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('pay-2',25,'{"seq":25,"at_ms":1795868977967,"run":"pay-2","lifecycle":"tool_call","instance":"q","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO trace VALUES('pay-2',26,'{"seq":26,"at_ms":1795868977967,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"complete","from":"ToolRound","to":"CommitTool"}');
INSERT INTO trace VALUES('pay-1',17,'{"seq":17,"at_ms":1795868977968,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO trace VALUES('pay-1',18,'{"seq":18,"at_ms":1795868977969,"run":"pay-1","lifecycle":"tool_execution","instance":"p.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('pay-1',19,'{"seq":19,"at_ms":1795868977969,"run":"pay-1","lifecycle":"tool_execution","instance":"p.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO trace VALUES('pay-1',20,'{"seq":20,"at_ms":1795868977969,"run":"pay-1","lifecycle":"tool_execution","instance":"p.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('pay-1',21,'{"seq":21,"at_ms":1795868977969,"run":"pay-1","lifecycle":"tool_call","instance":"p","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO trace VALUES('pay-1',22,'{"seq":22,"at_ms":1795868977970,"run":"pay-1","lifecycle":"tool_execution","instance":"q.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('pay-1',23,'{"seq":23,"at_ms":1795868977970,"run":"pay-1","lifecycle":"tool_execution","instance":"q.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO trace VALUES('pay-1',24,'{"seq":24,"at_ms":1795868977970,"run":"pay-1","lifecycle":"tool_execution","instance":"q.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('pay-1',25,'{"seq":25,"at_ms":1795868977970,"run":"pay-1","lifecycle":"tool_call","instance":"q","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO trace VALUES('pay-1',26,'{"seq":26,"at_ms":1795868977970,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"complete","from":"ToolRound","to":"CommitTool"}');
INSERT INTO trace VALUES('pay-3',4,'{"seq":4,"at_ms":1795868977973,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO trace VALUES('pay-3',5,'{"seq":5,"at_ms":1795868977973,"run":"pay-3","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('pay-3',6,'{"seq":6,"at_ms":1795868977973,"run":"pay-3","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('pay-3',7,'{"seq":7,"at_ms":1795868977973,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO trace VALUES('pay-3',8,'{"seq":8,"at_ms":1795868977973,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO trace VALUES('pay-3',9,'{"seq":9,"at_ms":1795868977973,"run":"pay-3","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('pay-3',10,'{"seq":10,"at_ms":1795868977973,"run":"pay-3","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('pay-3',11,'{"seq":11,"at_ms":1795868977973,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO trace VALUES('pay-3',12,'{"seq":12,"at_ms":1795868977973,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO trace VALUES('pay-3',13,'{"seq":13,"at_ms":1795868977973,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO trace VALUES('pay-3',14,'{"seq":14,"at_ms":1795868977973,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO trace VALUES('pay-3',15,'{"seq":15,"at_ms":1795868977973,"run":"pay-3","lifecycle":"tool_call","instance":"p","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('pay-3',16,'{"seq":16,"at_ms":1795868977973,"run":"pay-3","lifecycle":"tool_call","instance":"q","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('pay-2',27,'{"seq":27,"at_ms":1795868977975,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitTool","to":"ResumeAfterTool"}');
INSERT INTO trace VALUES('pay-2',28,'{"seq":28,"at_ms":1795868977975,"run":"pay-2","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('pay-2',29,'{"seq":29,"at_ms":1795868977975,"run":"pay-2","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('pay-2',30,'{"seq":30,"at_ms":1795868977976,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"park","from":"ResumeAfterTool","to":"Suspended"}');
INSERT INTO trace VALUES('pay-2',31,'{"seq":31,"at_ms":1795868977976,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"wind_up","from":"Suspended","to":"RunEnd"}');
INSERT INTO trace VALUES('pay-2',32,'{"seq":32,"at_ms":1795868977976,"run":"pay-2","lifecycle":"run","instance":"pay-2","event":"wait","from":"Running","to":"Waiting"}');
INSERT INTO trace VALUES('pay-2',33,'{"seq":33,"at_ms":1795868977976,"run":"pay-2","lifecycle":"run_flow","instance":"activation_1","event":"close","from":"RunEnd","to":"CommitFinished"}');
INSERT INTO trace VALUES('pay-1',27,'{"seq":27,"at_ms":1795868977978,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitTool","to":"ResumeAfterTool"}');
INSERT INTO trace VALUES('pay-1',28,'{"seq":28,"at_ms":1795868977978,"run":"pay-1","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('pay-1',29,'{"seq":29,"at_ms":1795868977978,"run":"pay-1","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('pay-1',30,'{"seq":30,"at_ms":1795868977978,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"park","from":"ResumeAfterTool","to":"Suspended"}');
INSERT INTO trace VALUES('pay-1',31,'{"seq":31,"at_ms":1795868977978,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"wind_up","from":"Suspended","to":"RunEnd"}');
INSERT INTO trace VALUES('pay-1',32,'{"seq":32,"at_ms":1795868977978,"run":"pay-1","lifecycle":"run","instance":"pay-1","event":"wait","from":"Running","to":"Waiting"}');
INSERT INTO trace VALUES('pay-1',33,'{"seq":33,"at_ms":1795868977978,"run":"pay-1","lifecycle":"run_flow","instance":"activation_1","event":"close","from":"RunEnd","to":"CommitFinished"}');
INSERT INTO trace VALUES('pay-3',17,'{"seq":17,"at_ms":1795868977978,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO trace VALUES('pay-3',18,'{"seq":18,"at_ms":1795868977978,"run":"pay-3","lifecycle":"tool_execution","instance":"p.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('pay-3',19,'{"seq":19,"at_ms":1795868977978,"run":"pay-3","lifecycle":"tool_execution","instance":"p.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO trace VALUES('pay-3',20,'{"seq":20,"at_ms":1795868977978,"run":"pay-3","lifecycle":"tool_execution","instance":"p.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('pay-3',21,'{"seq":21,"at_ms":1795868977978,"run":"pay-3","lifecycle":"tool_call","instance":"p","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO trace VALUES('pay-3',22,'{"seq":22,"at_ms":1795868977979,"run":"pay-3","lifecycle":"tool_execution","instance":"q.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('pay-3',23,'{"seq":23,"at_ms":1795868977979,"run":"pay-3","lifecycle":"tool_execution","instance":"q.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO trace VALUES('pay-3',24,'{"seq":24,"at_ms":1795868977979,"run":"pay-3","lifecycle":"tool_execution","instance":"q.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('pay-3',25,'{"seq":25,"at_ms":1795868977979,"run":"pay-3","lifecycle":"tool_call","instance":"q","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO trace VALUES('pay-3',26,'{"seq":26,"at_ms":1795868977979,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"complete","from":"ToolRound","to":"CommitTool"}');
INSERT INTO trace VALUES('pay-3',27,'{"seq":27,"at_ms":1795868977982,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitTool","to":"ResumeAfterTool"}');
INSERT INTO trace VALUES('pay-3',28,'{"seq":28,"at_ms":1795868977982,"run":"pay-3","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('pay-3',29,'{"seq":29,"at_ms":1795868977982,"run":"pay-3","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('pay-3',30,'{"seq":30,"at_ms":1795868977982,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"park","from":"ResumeAfterTool","to":"Suspended"}');
INSERT INTO trace VALUES('pay-3',31,'{"seq":31,"at_ms":1795868977982,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"wind_up","from":"Suspended","to":"RunEnd"}');
INSERT INTO trace VALUES('pay-3',32,'{"seq":32,"at_ms":1795868977982,"run":"pay-3","lifecycle":"run","instance":"pay-3","event":"wait","from":"Running","to":"Waiting"}');
INSERT INTO trace VALUES('pay-3',33,'{"seq":33,"at_ms":1795868977982,"run":"pay-3","lifecycle":"run_flow","instance":"activation_1","event":"close","from":"RunEnd","to":"CommitFinished"}');
CREATE TABLE news (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    count INTEGER NOT NULL
, commits INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO news VALUES(1,10,12);
CREATE TABLE removed (
    run TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE boots (
    no   INTEGER PRIMARY KEY,
    name TEXT    NOT NULL
) STRICT;
INSERT INTO boots VALUES(1,'00000000-0000-4000-8000-000000000000');
CREATE TABLE events (
    run  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    last INTEGER NOT NULL,
    json TEXT    NOT NULL,
    PRIMARY KEY (run, last)
) STRICT, WITHOUT ROWID;
INSERT INTO events VALUES('pay-1',1,1,'{"seq":1,"at_ms":1795868977949,"run":"pay-1","thread":"pay-1","activation":1,"type":"run_started","steps":0}');
INSERT INTO events VALUES('pay-1',2,2,'{"seq":2,"at_ms":1795868977949,"run":"pay-1","thread":"pay-1","activation":1,"type":"checkpoint","trigger":"UserMessage","commit":1}');
INSERT INTO events VALUES('pay-1',3,3,'{"seq":3,"at_ms":1795868977959,"run":"pay-1","thread":"pay-1","activation":1,"type":"step_started","step":1}');
INSERT INTO events VALUES('pay-1',4,4,'{"seq":4,"at_ms":1795868977959,"run":"pay-1","thread":"pay-1","activation":1,"type":"inference_started","step":1}');
INSERT INTO events VALUES('pay-1',5,8,'{"seq":5,"at_ms":1795868977959,"run":"pay-1","thread":"pay-1","activation":1,"type":"answer_pieces","step":1,"last":8}');
INSERT INTO events VALUES('pay-1',9,9,'{"seq":9,"at_ms":1795868977959,"run":"pay-1","thread":"pay-1","activation":1,"type":"inference_finished","step":1,"usage":{"input_tokens":0,"output_tokens":0},"finish":"tool_calls"}');
INSERT INTO events VALUES('pay-1',10,10,'{"seq":10,"at_ms":1795868977959,"run":"pay-1","thread":"pay-1","activation":1,"type":"tool_call_ready","call":"p","tool":"pay","arguments":{}}');
INSERT INTO events VALUES('pay-1',11,11,'{"seq":11,"at_ms":1795868977959,"run":"pay-1","thread":"pay-1","activation":1,"type":"tool_call_ready","call":"q","tool":"pay","arguments":{}}');
INSERT INTO events VALUES('pay-1',12,12,'{"seq":12,"at_ms":1795868977959,"run":"pay-1","thread":"pay-1","activation":1,"type":"checkpoint","trigger":"AssistantTurnCommitted","commit":2}');
INSERT INTO events VALUES('pay-1',13,13,'{"seq":13,"at_ms":1795868977970,"run":"pay-1","thread":"pay-1","activation":1,"type":"tool_call_suspended","interrupt":{"call":"p","tool":"pay","digest":"sha256:5a26bb5054773c10b09737be023eac7fcf2ea0ffceb2c7a51f5fc8062f86999a","suspension":{"id":"pay-1/p/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}}}');
INSERT INTO events VALUES('pay-1',14,14,'{"seq":14,"at_ms":1795868977970,"run":"pay-1","thread":"pay-1","activation":1,"type":"tool_call_suspended","interrupt":{"call":"q","tool":"pay","digest":"sha256:81ad6c7708c1fffcb66dacf93c56f013701eadc2f13d24ae32d208f14fdd049e","suspension":{"id":"pay-1/q/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}}}');
INSERT INTO events VALUES('pay-1',15,15,'{"seq":15,"at_ms":1795868977970,"run":"pay-1","thread":"pay-1","activation":1,"type":"checkpoint","trigger":"ToolResultsCommitted","commit":3}');
INSERT INTO events VALUES('pay-1',16,16,'{"seq":16,"at_ms":1795868977978,"run":"pay-1","thread":"pay-1","activation":1,"type":"step_finished","step":1}');
INSERT INTO events VALUES('pay-1',17,17,'{"seq":17,"at_ms":1795868977978,"run":"pay-1","thread":"pay-1","activation":1,"type":"checkpoint","trigger":"RunFinished","commit":4}');
INSERT INTO events VALUES('pay-1',18,18,'{"seq":18,"at_ms":1795868977978,"run":"pay-1","thread":"pay-1","activation":1,"type":"run_finished","reason":"suspended","status":"Waiting","waiting":[{"call":"p","tool":"pay","digest":"sha256:5a26bb5054773c10b09737be023eac7fcf2ea0ffceb2c7a51f5fc8062f86999a","suspension":{"id":"pay-1/p/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}},{"call":"q","tool":"pay","digest":"sha256:81ad6c7708c1fffcb66dacf93c56f013701eadc2f13d24ae32d208f14fdd049e","suspension":{"id":"pay-1/q/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}}],"usage":{"input_tokens":0,"output_tokens":0},"used":{"input_tokens":0,"output_tokens":0}}');
INSERT INTO events VALUES('pay-2',1,1,'{"seq":1,"at_ms":1795868977939,"run":"pay-2","thread":"pay-2","activation":1,"type":"run_started","steps":0}');
INSERT INTO events VALUES('pay-2',2,2,'{"seq":2,"at_ms":1795868977941,"run":"pay-2","thread":"pay-2","activation":1,"type":"checkpoint","trigger":"UserMessage","commit":1}');
INSERT INTO events VALUES('pay-2',3,3,'{"seq":3,"at_ms":1795868977953,"run":"pay-2","thread":"pay-2","activation":1,"type":"step_started","step":1}');
INSERT INTO events VALUES('pay-2',4,4,'{"seq":4,"at_ms":1795868977954,"run":"pay-2","thread":"pay-2","activation":1,"type":"inference_started","step":1}');
INSERT INTO events VALUES('pay-2',5,8,'{"seq":5,"at_ms":1795868977954,"run":"pay-2","thread":"pay-2","activation":1,"type":"answer_pieces","step":1,"last":8}');
INSERT INTO events VALUES('pay-2',9,9,'{"seq":9,"at_ms":1795868977954,"run":"pay-2","thread":"pay-2","activation":1,"type":"inference_finished","step":1,"usage":{"input_tokens":0,"output_tokens":0},"finish":"tool_calls"}');
INSERT INTO events VALUES('pay-2',10,10,'{"seq":10,"at_ms":1795868977955,"run":"pay-2","thread":"pay-2","activation":1,"type":"tool_call_ready","call":"p","tool":"pay","arguments":{}}');
INSERT INTO events VALUES('pay-2',11,11,'{"seq":11,"at_ms":1795868977955,"run":"pay-2","thread":"pay-2","activation":1,"type":"tool_call_ready","call":"q","tool":"pay","arguments":{}}');
INSERT INTO events VALUES('pay-2',12,12,'{"seq":12,"at_ms":1795868977955,"run":"pay-2","thread":"pay-2","activation":1,"type":"checkpoint","trigger":"AssistantTurnCommitted","commit":2}');
INSERT INTO events VALUES('pay-2',13,13,'{"seq":13,"at_ms":1795868977967,"run":"pay-2","thread":"pay-2","activation":1,"type":"tool_call_suspended","interrupt":{"call":"p","tool":"pay","digest":"sha256:08a42eec011070b0e0b4174be1693bb67534cfb18613f528486ec4694b5ae434","suspension":{"id":"pay-2/p/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}}}');
INSERT INTO events VALUES('pay-2',14,14,'{"seq":14,"at_ms":1795868977967,"run":"pay-2","thread":"pay-2","activation":1,"type":"tool_call_suspended","interrupt":{"call":"q","tool":"pay","digest":"sha256:1bd0bc76951b5ace0b9e7e8f63b568652f9f04bc067f2d43fbe949d066a9e83b","suspension":{"id":"pay-2/q/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}}}');
INSERT INTO events VALUES('pay-2',15,15,'{"seq":15,"at_ms":1795868977967,"run":"pay-2","thread":"pay-2","activation":1,"type":"checkpoint","trigger":"ToolResultsCommitted","commit":3}');
INSERT INTO events VALUES('pay-2',16,16,'{"seq":16,"at_ms":1795868977975,"run":"pay-2","thread":"pay-2","activation":1,"type":"step_finished","step":1}');
INSERT INTO events VALUES('pay-2',17,17,'{"seq":17,"at_ms":1795868977976,"run":"pay-2","thread":"pay-2","activation":1,"type":"checkpoint","trigger":"RunFinished","commit":4}');
INSERT INTO events VALUES('pay-2',18,18,'{"seq":18,"at_ms":1795868977976,"run":"pay-2","thread":"pay-2","activation":1,"type":"run_finished","reason":"suspended","status":"Waiting","waiting":[{"call":"p","tool":"pay","digest":"sha256:08a42eec011070b0e0b4174be1693bb67534cfb18613f528486ec4694b5ae434","suspension":{"id":"pay-2/p/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}},{"call":"q","tool":"pay","digest":"sha256:1bd0bc76951b5ace0b9e7e8f63b568652f9f04bc067f2d43fbe949d066a9e83b","suspension":{"id":"pay-2/q/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}}],"usage":{"input_tokens":0,"output_tokens":0},"used":{"input_tokens":0,"output_tokens":0}}');
INSERT INTO events VALUES('pay-3',1,1,'{"seq":1,"at_ms":1795868977964,"run":"pay-3","thread":"pay-3","activation":1,"type":"run_started","steps":0}');
INSERT INTO events VALUES('pay-3',2,2,'{"seq":2,"at_ms":1795868977964,"run":"pay-3","thread":"pay-3","activation":1,"type":"checkpoint","trigger":"UserMessage","commit":1}');
INSERT INTO events VALUES('pay-3',3,3,'{"seq":3,"at_ms":1795868977973,"run":"pay-3","thread":"pay-3","activation":1,"type":"step_started","step":1}');
INSERT INTO events VALUES('pay-3',4,4,'{"seq":4,"at_ms":1795868977973,"run":"pay-3","thread":"pay-3","activation":1,"type":"inference_started","step":1}');
INSERT INTO events VALUES('pay-3',5,8,'{"seq":5,"at_ms":1795868977973,"run":"pay-3","thread":"pay-3","activation":1,"type":"answer_pieces","step":1,"last":8}');
INSERT INTO events VALUES('pay-3',9,9,'{"seq":9,"at_ms":1795868977973,"run":"pay-3","thread":"pay-3","activation":1,"type":"inference_finished","step":1,"usage":{"input_tokens":0,"output_tokens":0},"finish":"tool_calls"}');
INSERT INTO events VALUES('pay-3',10,10,'{"seq":10,"at_ms":1795868977973,"run":"pay-3","thread":"pay-3","activation":1,"type":"tool_call_ready","call":"p","tool":"pay","arguments":{}}');
INSERT INTO events VALUES('pay-3',11,11,'{"seq":11,"at_ms":1795868977973,"run":"pay-3","thread":"pay-3","activation":1,"type":"tool_call_ready","call":"q","tool":"pay","arguments":{}}');
INSERT INTO events VALUES('pay-3',12,12,'{"seq":12,"at_ms":1795868977973,"run":"pay-3","thread":"pay-3","activation":1,"type":"checkpoint","trigger":"AssistantTurnCommitted","commit":2}');
INSERT INTO events VALUES('pay-3',13,13,'{"seq":13,"at_ms":1795868977978,"run":"pay-3","thread":"pay-3","activation":1,"type":"tool_call_suspended","interrupt":{"call":"p","tool":"pay","digest":"sha256:de424fe7a42b7a28bf09e4a44a632b4b63af606ff8a4c1fc0000893102de06f5","suspension":{"id":"pay-3/p/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}}}');
INSERT INTO events VALUES('pay-3',14,14,'{"seq":14,"at_ms":1795868977979,"run":"pay-3","thread":"pay-3","activation":1,"type":"tool_call_suspended","interrupt":{"call":"q","tool":"pay","digest":"sha256:0bea5b91ff48615fe99ad3108987cb61ff10bdc8c0a1737fbf23bc90ea6d6879","suspension":{"id":"pay-3/q/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}}}');
INSERT INTO events VALUES('pay-3',15,15,'{"seq":15,"at_ms":1795868977979,"run":"pay-3","thread":"pay-3","activation":1,"type":"checkpoint","trigger":"ToolResultsCommitted","commit":3}');
INSERT INTO events VALUES('pay-3',16,16,'{"seq":16,"at_ms":1795868977982,"run":"pay-3","thread":"pay-3","activation":1,"type":"step_finished","step":1}');
INSERT INTO events VALUES('pay-3',17,17,'{"seq":17,"at_ms":1795868977982,"run":"pay-3","thread":"pay-3","activation":1,"type":"checkpoint","trigger":"RunFinished","commit":4}');
INSERT INTO events VALUES('pay-3',18,18,'{"seq":18,"at_ms":1795868977982,"run":"pay-3","thread":"pay-3","activation":1,"type":"run_finished","reason":"suspended","status":"Waiting","waiting":[{"call":"p","tool":"pay","digest":"sha256:de424fe7a42b7a28bf09e4a44a632b4b63af606ff8a4c1fc0000893102de06f5","suspension":{"id":"pay-3/p/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}},{"call":"q","tool":"pay","digest":"sha256:0bea5b91ff48615fe99ad3108987cb61ff10bdc8c0a1737fbf23bc90ea6d6879","suspension":{"id":"pay-3/q/1","action":"approve","message":"may pay execute?","resume_mode":"replay_tool_call"}}],"usage":{"input_tokens":0,"output_tokens":0},"used":{"input_tokens":0,"output_tokens":0}}');
CREATE TABLE threads (
    run     TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    thread  TEXT NOT NULL,
    follows TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE posts (
    run     TEXT    NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    json    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE UNIQUE INDEX threads_in_order ON threads (follows) WHERE follows IS NOT NULL;
CREATE UNIQUE INDEX threads_begun ON threads (thread) WHERE follows IS NULL;
CREATE INDEX threads_by_name ON threads (thread, run);
COMMIT;
