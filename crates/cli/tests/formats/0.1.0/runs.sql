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
) STRICT;
INSERT INTO runs VALUES('parked-1','two calls that wait, one of them decided','Waiting','suspended',5,1,2,1,NULL,'parked-1',NULL,NULL,1,1,NULL,NULL,1795326955466,1795326955516,'{"lifecycle":"run","version":1,"fingerprint":"345d88c2b544d155","status":"Waiting","record":{"activations":1,"id":"parked-1"},"state":{"calls":["rm_a","rm_b"]},"digest":"sha256:d2c296fdae2461069c91d163f1ea1ae2914e90dbad089c2b12598367ec15b45d"}','{"thread":"parked-1","base":0,"steps":1,"flows":1,"events":23,"counters":{"started_at_ms":1795326955472,"rounds":1,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}');
INSERT INTO runs VALUES('doubt-1','a call that may have executed when its process was killed','Running',NULL,3,1,0,0,NULL,'doubt-1',NULL,NULL,1,1,NULL,NULL,1795326955686,1795326955737,'{"lifecycle":"run","version":1,"fingerprint":"345d88c2b544d155","status":"Running","record":{"activations":1,"id":"doubt-1"},"state":{"cause":"created"},"digest":"sha256:b89861d2135429e03f3096de9b759e41c7c30f7892824ae0e486153d0aa7c09b"}','{"thread":"doubt-1","base":0,"steps":1,"flows":1,"events":10,"counters":{"started_at_ms":1795326955693,"rounds":1,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}');
INSERT INTO runs VALUES('keys-1','a run and a thread that keep values, a call that lapses','Waiting','suspended',4,1,1,0,NULL,'keys-1',NULL,NULL,1,1,NULL,NULL,1795327010674,1795327010716,'{"lifecycle":"run","version":1,"fingerprint":"345d88c2b544d155","status":"Waiting","record":{"activations":1,"id":"keys-1"},"state":{"calls":["p"]},"digest":"sha256:bb3f8d37168dfda6cec3a651ed132862dea62da51e64db67247b879c441ce730"}','{"thread":"keys-1","base":0,"steps":1,"flows":1,"events":15,"counters":{"started_at_ms":1795327010708,"rounds":1,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}');
INSERT INTO runs VALUES('parked-2','two calls that wait, one of them decided','Running',NULL,0,0,0,0,NULL,NULL,NULL,NULL,0,0,NULL,NULL,1795327010790,1795327010790,NULL,NULL);
INSERT INTO runs VALUES('parked-3','two calls that wait, one of them decided','Done','natural_end',11,2,0,0,NULL,'parked-3',NULL,NULL,1,1,NULL,NULL,1795327010846,1795327011016,'{"lifecycle":"run","version":1,"fingerprint":"345d88c2b544d155","status":"Done","record":{"activations":2,"id":"parked-3"},"state":{"reason":"natural_end"},"digest":"sha256:f1de33323f5d7c5420c18e8f3b08db23a4405185c89dfb7142cb75e942aedacd"}','{"thread":"parked-3","base":0,"steps":2,"flows":2,"events":40,"counters":{"started_at_ms":1795327010889,"rounds":2,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}');
CREATE TABLE specs (
    run  TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    json TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO specs VALUES('doubt-1','{"folder":"STATE_DIR/doubt-1/work","kind":"scenario","scenario":"name: doubt\nabout: a call that may have executed when its process was killed\nmessage: pay\ntools: {pay: {does: [{gives: {success: paid}}]}}\nmodel:\n  - calls: [{id: p, tool: pay, arguments: {amount: 9}}]\n  - text: done\noutside:\n  - {when: {after_commit: 3}, do: crash}\n"}');
INSERT INTO specs VALUES('keys-1','{"folder":"STATE_DIR/keys-1/work","kind":"scenario","scenario":"name: keys\nabout: a run and a thread that keep values, a call that lapses\nmessage: go\nplugins:\n  - set: {at: {phase: run_start}, patch: {key: budget, value: 7}}\n  - ask: {tool: pay, ticket: {expires_after_ms: 4000000000000, action: price, response_schema: {type: number}}}\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay, arguments: {amount: 9}}]\n  - text: done\n"}');
INSERT INTO specs VALUES('parked-1','{"folder":"STATE_DIR/parked-1/work","kind":"scenario","scenario":"name: parked\nabout: two calls that wait, one of them decided\nmessage: tidy up\napprove: [delete_file]\nmodel:\n  - calls:\n      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}\n      - {id: rm_a, tool: delete_file, arguments: {path: a.txt}}\n      - {id: rm_b, tool: delete_file, arguments: {path: b.txt}}\n  - text: done\n"}');
INSERT INTO specs VALUES('parked-2','{"folder":"STATE_DIR/parked-2/work","kind":"scenario","scenario":"name: parked\nabout: two calls that wait, one of them decided\nmessage: tidy up\napprove: [delete_file]\nmodel:\n  - calls:\n      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}\n      - {id: rm_a, tool: delete_file, arguments: {path: a.txt}}\n      - {id: rm_b, tool: delete_file, arguments: {path: b.txt}}\n  - text: done\n"}');
INSERT INTO specs VALUES('parked-3','{"folder":"STATE_DIR/parked-3/work","kind":"scenario","scenario":"name: parked\nabout: two calls that wait, one of them decided\nmessage: tidy up\napprove: [delete_file]\nmodel:\n  - calls:\n      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}\n      - {id: rm_a, tool: delete_file, arguments: {path: a.txt}}\n      - {id: rm_b, tool: delete_file, arguments: {path: b.txt}}\n  - text: done\n"}');
CREATE TABLE messages (
    run  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    role TEXT    NOT NULL,                          -- user, assistant or result
    json TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO messages VALUES('doubt-1',1,'user','{"user":"pay"}');
INSERT INTO messages VALUES('doubt-1',2,'assistant','{"assistant":{"text":"","calls":[{"id":"p","tool":"pay","arguments":{"amount":9}}]}}');
INSERT INTO messages VALUES('keys-1',1,'user','{"user":"go"}');
INSERT INTO messages VALUES('keys-1',2,'assistant','{"assistant":{"text":"","calls":[{"id":"p","tool":"pay","arguments":{"amount":9}}]}}');
INSERT INTO messages VALUES('parked-1',1,'user','{"user":"tidy up"}');
INSERT INTO messages VALUES('parked-1',2,'assistant','{"assistant":{"text":"","calls":[{"id":"make","tool":"write_file","arguments":{"content":"one","path":"a.txt"}},{"id":"rm_a","tool":"delete_file","arguments":{"path":"a.txt"}},{"id":"rm_b","tool":"delete_file","arguments":{"path":"b.txt"}}]}}');
INSERT INTO messages VALUES('parked-1',3,'result','{"result":{"key":{"step":1,"ordinal":0},"id":"make","content":{"output":{"value":{"bytes":3,"path":"a.txt"}}}}}');
INSERT INTO messages VALUES('parked-3',1,'user','{"user":"tidy up"}');
INSERT INTO messages VALUES('parked-3',2,'assistant','{"assistant":{"text":"","calls":[{"id":"make","tool":"write_file","arguments":{"content":"one","path":"a.txt"}},{"id":"rm_a","tool":"delete_file","arguments":{"path":"a.txt"}},{"id":"rm_b","tool":"delete_file","arguments":{"path":"b.txt"}}]}}');
INSERT INTO messages VALUES('parked-3',3,'result','{"result":{"key":{"step":1,"ordinal":0},"id":"make","content":{"output":{"value":{"bytes":3,"path":"a.txt"}}}}}');
INSERT INTO messages VALUES('parked-3',4,'result','{"result":{"key":{"step":1,"ordinal":1},"id":"rm_a","content":{"output":{"value":{"path":"a.txt"}}}}}');
INSERT INTO messages VALUES('parked-3',5,'result','{"result":{"key":{"step":1,"ordinal":2},"id":"rm_b","content":{"error":"denied"}}}');
INSERT INTO messages VALUES('parked-3',6,'assistant','{"assistant":{"text":"done","calls":[]}}');
CREATE TABLE calls (
    run           TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    name          TEXT    NOT NULL,
    id            TEXT    NOT NULL,                 -- the id that the model gave it
    step          INTEGER NOT NULL,
    ordinal       INTEGER NOT NULL,
    tool          TEXT    NOT NULL,
    status        TEXT    NOT NULL,
    executions    INTEGER NOT NULL,
    open          INTEGER NOT NULL,                 -- 1: it waits, and nobody has decided
    suspension    TEXT,                             -- the id of what it waits for
    action        TEXT,                             -- what is asked, for programs
    question      TEXT,                             -- what is asked, for people
    expires_at_ms INTEGER,
    arguments     TEXT,                             -- JSON: those that are asked about
    asked         TEXT,                             -- JSON: all of the suspension
    snapshot      TEXT    NOT NULL,                 -- JSON: its machine, sealed
    PRIMARY KEY (run, name)
) STRICT;
INSERT INTO calls VALUES('parked-1','make','make',1,0,'write_file','Succeeded',1,0,NULL,NULL,NULL,NULL,NULL,NULL,'{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Succeeded","record":{"arguments":{"content":"one","path":"a.txt"},"attempts":1,"id":"make","key":{"ordinal":0,"step":1},"suspensions":0,"tool":"write_file"},"state":{"output":{"bytes":3,"path":"a.txt"}},"digest":"sha256:feff73ff0be8870468d4883b8c4e0096d27630ffc219eb8884d569dc3e9f7f38"}');
INSERT INTO calls VALUES('parked-1','rm_a','rm_a',1,1,'delete_file','Suspended',1,0,'parked-1/rm_a/1','approve','may delete_file execute?',NULL,'{"path":"a.txt"}','{"id":"parked-1/rm_a/1","action":"approve","message":"may delete_file execute?","resume_mode":"replay_tool_call"}','{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Suspended","record":{"arguments":{"path":"a.txt"},"attempts":0,"id":"rm_a","key":{"ordinal":1,"step":1},"suspensions":1,"tool":"delete_file"},"state":{"suspension":{"action":"approve","id":"parked-1/rm_a/1","message":"may delete_file execute?","resume_mode":"replay_tool_call"}},"digest":"sha256:ffe6152668c4d47af26b1ac424787d33eb8b6257cabd5541eda419bd806de4d9"}');
INSERT INTO calls VALUES('parked-1','rm_b','rm_b',1,2,'delete_file','Suspended',1,1,'parked-1/rm_b/1','approve','may delete_file execute?',NULL,'{"path":"b.txt"}','{"id":"parked-1/rm_b/1","action":"approve","message":"may delete_file execute?","resume_mode":"replay_tool_call"}','{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Suspended","record":{"arguments":{"path":"b.txt"},"attempts":0,"id":"rm_b","key":{"ordinal":2,"step":1},"suspensions":1,"tool":"delete_file"},"state":{"suspension":{"action":"approve","id":"parked-1/rm_b/1","message":"may delete_file execute?","resume_mode":"replay_tool_call"}},"digest":"sha256:e6442a54384688404690e7b8fd66c5f80bed5dac39ea394587f3d5e6eab68f84"}');
INSERT INTO calls VALUES('doubt-1','p','p',1,0,'pay','Running',1,0,NULL,NULL,NULL,NULL,NULL,NULL,'{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Running","record":{"arguments":{"amount":9},"attempts":1,"id":"p","key":{"ordinal":0,"step":1},"suspensions":0,"tool":"pay"},"state":{},"digest":"sha256:5b4bc4ee1b6a23c21768c12228cd3bf278833a1fbb2b4fa2a852f3d02e1f9f9d"}');
INSERT INTO calls VALUES('keys-1','p','p',1,0,'pay','Suspended',1,1,'keys-1/p/1','price','may pay execute?',5795327010708,'{"amount":9}','{"id":"keys-1/p/1","action":"price","message":"may pay execute?","response_schema":{"type":"number"},"resume_mode":"replay_tool_call","expires_at_ms":5795327010708}','{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Suspended","record":{"arguments":{"amount":9},"attempts":0,"id":"p","key":{"ordinal":0,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"price","expires_at_ms":5795327010708,"id":"keys-1/p/1","message":"may pay execute?","response_schema":{"type":"number"},"resume_mode":"replay_tool_call"}},"digest":"sha256:13b672e8ceaaee692f0bf1ce55a8b5c22a945793f4ea1bd5e34ab58d63cb88d3"}');
INSERT INTO calls VALUES('parked-3','make','make',1,0,'write_file','Succeeded',1,0,NULL,NULL,NULL,NULL,NULL,NULL,'{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Succeeded","record":{"arguments":{"content":"one","path":"a.txt"},"attempts":1,"id":"make","key":{"ordinal":0,"step":1},"suspensions":0,"tool":"write_file"},"state":{"output":{"bytes":3,"path":"a.txt"}},"digest":"sha256:feff73ff0be8870468d4883b8c4e0096d27630ffc219eb8884d569dc3e9f7f38"}');
INSERT INTO calls VALUES('parked-3','rm_a','rm_a',1,1,'delete_file','Succeeded',2,0,NULL,NULL,NULL,NULL,NULL,NULL,'{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Succeeded","record":{"arguments":{"path":"a.txt"},"attempts":1,"id":"rm_a","key":{"ordinal":1,"step":1},"suspensions":1,"tool":"delete_file"},"state":{"output":{"path":"a.txt"}},"digest":"sha256:d6287fbfbb6e2e28382c4f8cd27de27da1c490498a5bc49f879853cd61459edd"}');
INSERT INTO calls VALUES('parked-3','rm_b','rm_b',1,2,'delete_file','Cancelled',1,0,NULL,NULL,NULL,NULL,NULL,NULL,'{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Cancelled","record":{"arguments":{"path":"b.txt"},"attempts":0,"id":"rm_b","key":{"ordinal":2,"step":1},"suspensions":1,"tool":"delete_file"},"state":{"reason":"denied"},"digest":"sha256:d444984d1c1f26fbcc6daf00208e8b667bd5093298d6fa354d1ecad386abfe08"}');
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
INSERT INTO decisions VALUES(1,'parked-1','parked-1/rm_a/1','parked-1/rm_a/1/3b05570fbb45e393','rm_a','resume','ada','it is a copy',1795326955630,0,'{"decision_id":"parked-1/rm_a/1/3b05570fbb45e393","run_id":"parked-1","call":"rm_a","suspension_id":"parked-1/rm_a/1","action":"resume","reason":"it is a copy","actor":"ada","args_digest":"sha256:da9ca55d44b50ed40d4fe2ad4536a57996925da47c2df4824fc7aae077076400","decided_at_ms":1795326955630}');
INSERT INTO decisions VALUES(2,'parked-3','parked-3/rm_a/1','parked-3/rm_a/1/decision','rm_a','resume','command line',NULL,1795327010889,1,'{"decision_id":"parked-3/rm_a/1/decision","run_id":"parked-3","call":"rm_a","suspension_id":"parked-3/rm_a/1","action":"resume","actor":"command line","args_digest":"sha256:da9ca55d44b50ed40d4fe2ad4536a57996925da47c2df4824fc7aae077076400","decided_at_ms":1795327010889}');
INSERT INTO decisions VALUES(3,'parked-3','parked-3/rm_b/1','parked-3/rm_b/1/decision','rm_b','cancel','command line',NULL,1795327010889,1,'{"decision_id":"parked-3/rm_b/1/decision","run_id":"parked-3","call":"rm_b","suspension_id":"parked-3/rm_b/1","action":"cancel","actor":"command line","args_digest":"sha256:f073853debf32b5d617e52685fe433237a8afdddad8aacf3e7119d0bc4101c52","decided_at_ms":1795327010889}');
CREATE TABLE run_values (
    run   TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,                            -- run or thread
    key   TEXT NOT NULL,
    json  TEXT NOT NULL,
    PRIMARY KEY (run, scope, key)
) STRICT, WITHOUT ROWID;
INSERT INTO run_values VALUES('keys-1','run','budget','7');
CREATE TABLE trace (
    run  TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    json TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;
INSERT INTO trace VALUES('doubt-1',1,'{"seq":1,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"run","instance":"doubt-1","event":"create","from":null,"to":"Running"}');
INSERT INTO trace VALUES('doubt-1',2,'{"seq":2,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO trace VALUES('doubt-1',3,'{"seq":3,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO trace VALUES('doubt-1',4,'{"seq":4,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO trace VALUES('doubt-1',5,'{"seq":5,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('doubt-1',6,'{"seq":6,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('doubt-1',7,'{"seq":7,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO trace VALUES('doubt-1',8,'{"seq":8,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO trace VALUES('doubt-1',9,'{"seq":9,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('doubt-1',10,'{"seq":10,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('doubt-1',11,'{"seq":11,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO trace VALUES('doubt-1',12,'{"seq":12,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO trace VALUES('doubt-1',13,'{"seq":13,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO trace VALUES('doubt-1',14,'{"seq":14,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO trace VALUES('doubt-1',15,'{"seq":15,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"tool_call","instance":"p","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('doubt-1',16,'{"seq":16,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO trace VALUES('doubt-1',17,'{"seq":17,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"tool_execution","instance":"p.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('doubt-1',18,'{"seq":18,"at_ms":1795326955693,"run":"doubt-1","lifecycle":"tool_call","instance":"p","event":"start","from":"New","to":"Running"}');
INSERT INTO trace VALUES('keys-1',1,'{"seq":1,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run","instance":"keys-1","event":"create","from":null,"to":"Running"}');
INSERT INTO trace VALUES('keys-1',2,'{"seq":2,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO trace VALUES('keys-1',3,'{"seq":3,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO trace VALUES('keys-1',4,'{"seq":4,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO trace VALUES('keys-1',5,'{"seq":5,"at_ms":1795327010708,"run":"keys-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('keys-1',6,'{"seq":6,"at_ms":1795327010708,"run":"keys-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('keys-1',7,'{"seq":7,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO trace VALUES('keys-1',8,'{"seq":8,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO trace VALUES('keys-1',9,'{"seq":9,"at_ms":1795327010708,"run":"keys-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('keys-1',10,'{"seq":10,"at_ms":1795327010708,"run":"keys-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('keys-1',11,'{"seq":11,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO trace VALUES('keys-1',12,'{"seq":12,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO trace VALUES('keys-1',13,'{"seq":13,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO trace VALUES('keys-1',14,'{"seq":14,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO trace VALUES('keys-1',15,'{"seq":15,"at_ms":1795327010708,"run":"keys-1","lifecycle":"tool_call","instance":"p","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('keys-1',16,'{"seq":16,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO trace VALUES('keys-1',17,'{"seq":17,"at_ms":1795327010708,"run":"keys-1","lifecycle":"tool_execution","instance":"p.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('keys-1',18,'{"seq":18,"at_ms":1795327010708,"run":"keys-1","lifecycle":"tool_execution","instance":"p.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO trace VALUES('keys-1',19,'{"seq":19,"at_ms":1795327010708,"run":"keys-1","lifecycle":"tool_execution","instance":"p.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('keys-1',20,'{"seq":20,"at_ms":1795327010708,"run":"keys-1","lifecycle":"tool_call","instance":"p","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO trace VALUES('keys-1',21,'{"seq":21,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"complete","from":"ToolRound","to":"CommitTool"}');
INSERT INTO trace VALUES('keys-1',22,'{"seq":22,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitTool","to":"ResumeAfterTool"}');
INSERT INTO trace VALUES('keys-1',23,'{"seq":23,"at_ms":1795327010708,"run":"keys-1","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('keys-1',24,'{"seq":24,"at_ms":1795327010708,"run":"keys-1","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('keys-1',25,'{"seq":25,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"park","from":"ResumeAfterTool","to":"Suspended"}');
INSERT INTO trace VALUES('keys-1',26,'{"seq":26,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"wind_up","from":"Suspended","to":"RunEnd"}');
INSERT INTO trace VALUES('keys-1',27,'{"seq":27,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run","instance":"keys-1","event":"wait","from":"Running","to":"Waiting"}');
INSERT INTO trace VALUES('keys-1',28,'{"seq":28,"at_ms":1795327010708,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"close","from":"RunEnd","to":"CommitFinished"}');
INSERT INTO trace VALUES('parked-1',1,'{"seq":1,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run","instance":"parked-1","event":"create","from":null,"to":"Running"}');
INSERT INTO trace VALUES('parked-1',2,'{"seq":2,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO trace VALUES('parked-1',3,'{"seq":3,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO trace VALUES('parked-1',4,'{"seq":4,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO trace VALUES('parked-1',5,'{"seq":5,"at_ms":1795326955472,"run":"parked-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('parked-1',6,'{"seq":6,"at_ms":1795326955472,"run":"parked-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('parked-1',7,'{"seq":7,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO trace VALUES('parked-1',8,'{"seq":8,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO trace VALUES('parked-1',9,'{"seq":9,"at_ms":1795326955472,"run":"parked-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('parked-1',10,'{"seq":10,"at_ms":1795326955472,"run":"parked-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('parked-1',11,'{"seq":11,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO trace VALUES('parked-1',12,'{"seq":12,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO trace VALUES('parked-1',13,'{"seq":13,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO trace VALUES('parked-1',14,'{"seq":14,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO trace VALUES('parked-1',15,'{"seq":15,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_call","instance":"make","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('parked-1',16,'{"seq":16,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_call","instance":"rm_a","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('parked-1',17,'{"seq":17,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_call","instance":"rm_b","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('parked-1',18,'{"seq":18,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO trace VALUES('parked-1',19,'{"seq":19,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_execution","instance":"make.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('parked-1',20,'{"seq":20,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_execution","instance":"rm_a.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('parked-1',21,'{"seq":21,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_execution","instance":"rm_a.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO trace VALUES('parked-1',22,'{"seq":22,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_execution","instance":"rm_a.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('parked-1',23,'{"seq":23,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_call","instance":"rm_a","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO trace VALUES('parked-1',24,'{"seq":24,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_execution","instance":"rm_b.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('parked-1',25,'{"seq":25,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_execution","instance":"rm_b.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO trace VALUES('parked-1',26,'{"seq":26,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_execution","instance":"rm_b.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('parked-1',27,'{"seq":27,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_call","instance":"rm_b","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO trace VALUES('parked-1',28,'{"seq":28,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_call","instance":"make","event":"start","from":"New","to":"Running"}');
INSERT INTO trace VALUES('parked-1',29,'{"seq":29,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_execution","instance":"make.1","event":"allow","from":"BeforeToolExecute","to":"ExecuteTool"}');
INSERT INTO trace VALUES('parked-1',30,'{"seq":30,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_execution","instance":"make.1","event":"succeed","from":"ExecuteTool","to":"Succeeded"}');
INSERT INTO trace VALUES('parked-1',31,'{"seq":31,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_execution","instance":"make.1","event":"conclude","from":"Succeeded","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('parked-1',32,'{"seq":32,"at_ms":1795326955472,"run":"parked-1","lifecycle":"tool_call","instance":"make","event":"succeed","from":"Running","to":"Succeeded"}');
INSERT INTO trace VALUES('parked-1',33,'{"seq":33,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"complete","from":"ToolRound","to":"CommitTool"}');
INSERT INTO trace VALUES('parked-1',34,'{"seq":34,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitTool","to":"ResumeAfterTool"}');
INSERT INTO trace VALUES('parked-1',35,'{"seq":35,"at_ms":1795326955472,"run":"parked-1","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('parked-1',36,'{"seq":36,"at_ms":1795326955472,"run":"parked-1","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('parked-1',37,'{"seq":37,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"park","from":"ResumeAfterTool","to":"Suspended"}');
INSERT INTO trace VALUES('parked-1',38,'{"seq":38,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"wind_up","from":"Suspended","to":"RunEnd"}');
INSERT INTO trace VALUES('parked-1',39,'{"seq":39,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run","instance":"parked-1","event":"wait","from":"Running","to":"Waiting"}');
INSERT INTO trace VALUES('parked-1',40,'{"seq":40,"at_ms":1795326955472,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"close","from":"RunEnd","to":"CommitFinished"}');
INSERT INTO trace VALUES('parked-3',1,'{"seq":1,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run","instance":"parked-3","event":"create","from":null,"to":"Running"}');
INSERT INTO trace VALUES('parked-3',2,'{"seq":2,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO trace VALUES('parked-3',3,'{"seq":3,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO trace VALUES('parked-3',4,'{"seq":4,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO trace VALUES('parked-3',5,'{"seq":5,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('parked-3',6,'{"seq":6,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('parked-3',7,'{"seq":7,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO trace VALUES('parked-3',8,'{"seq":8,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO trace VALUES('parked-3',9,'{"seq":9,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('parked-3',10,'{"seq":10,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('parked-3',11,'{"seq":11,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO trace VALUES('parked-3',12,'{"seq":12,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO trace VALUES('parked-3',13,'{"seq":13,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO trace VALUES('parked-3',14,'{"seq":14,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO trace VALUES('parked-3',15,'{"seq":15,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_call","instance":"make","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('parked-3',16,'{"seq":16,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_call","instance":"rm_a","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('parked-3',17,'{"seq":17,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_call","instance":"rm_b","event":"create","from":null,"to":"New"}');
INSERT INTO trace VALUES('parked-3',18,'{"seq":18,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO trace VALUES('parked-3',19,'{"seq":19,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"make.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('parked-3',20,'{"seq":20,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('parked-3',21,'{"seq":21,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO trace VALUES('parked-3',22,'{"seq":22,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('parked-3',23,'{"seq":23,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_call","instance":"rm_a","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO trace VALUES('parked-3',24,'{"seq":24,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_b.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('parked-3',25,'{"seq":25,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_b.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO trace VALUES('parked-3',26,'{"seq":26,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_b.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('parked-3',27,'{"seq":27,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_call","instance":"rm_b","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO trace VALUES('parked-3',28,'{"seq":28,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_call","instance":"make","event":"start","from":"New","to":"Running"}');
INSERT INTO trace VALUES('parked-3',29,'{"seq":29,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"make.1","event":"allow","from":"BeforeToolExecute","to":"ExecuteTool"}');
INSERT INTO trace VALUES('parked-3',30,'{"seq":30,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"make.1","event":"succeed","from":"ExecuteTool","to":"Succeeded"}');
INSERT INTO trace VALUES('parked-3',31,'{"seq":31,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"make.1","event":"conclude","from":"Succeeded","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('parked-3',32,'{"seq":32,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_call","instance":"make","event":"succeed","from":"Running","to":"Succeeded"}');
INSERT INTO trace VALUES('parked-3',33,'{"seq":33,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"complete","from":"ToolRound","to":"CommitTool"}');
INSERT INTO trace VALUES('parked-3',34,'{"seq":34,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitTool","to":"ResumeAfterTool"}');
INSERT INTO trace VALUES('parked-3',35,'{"seq":35,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('parked-3',36,'{"seq":36,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('parked-3',37,'{"seq":37,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"park","from":"ResumeAfterTool","to":"Suspended"}');
INSERT INTO trace VALUES('parked-3',38,'{"seq":38,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"wind_up","from":"Suspended","to":"RunEnd"}');
INSERT INTO trace VALUES('parked-3',39,'{"seq":39,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run","instance":"parked-3","event":"wait","from":"Running","to":"Waiting"}');
INSERT INTO trace VALUES('parked-3',40,'{"seq":40,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"close","from":"RunEnd","to":"CommitFinished"}');
INSERT INTO trace VALUES('parked-3',41,'{"seq":41,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run","instance":"parked-3","event":"resume","from":"Waiting","to":"Running"}');
INSERT INTO trace VALUES('parked-3',42,'{"seq":42,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"create","from":null,"to":"RunStart"}');
INSERT INTO trace VALUES('parked-3',43,'{"seq":43,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO trace VALUES('parked-3',44,'{"seq":44,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO trace VALUES('parked-3',45,'{"seq":45,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('parked-3',46,'{"seq":46,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"match_call","from":"DrainDecisionChannel","to":"ResolveDecision"}');
INSERT INTO trace VALUES('parked-3',47,'{"seq":47,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_call","instance":"rm_a","event":"resume","from":"Suspended","to":"Resuming"}');
INSERT INTO trace VALUES('parked-3',48,'{"seq":48,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"resolve","from":"ResolveDecision","to":"PersistResumeDecision"}');
INSERT INTO trace VALUES('parked-3',49,'{"seq":49,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"persist","from":"PersistResumeDecision","to":"Replay"}');
INSERT INTO trace VALUES('parked-3',50,'{"seq":50,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"approve","from":"Replay","to":"ReplayResume"}');
INSERT INTO trace VALUES('parked-3',51,'{"seq":51,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"execute","from":"ReplayResume","to":"ExecuteReplayedTool"}');
INSERT INTO trace VALUES('parked-3',52,'{"seq":52,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.2","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO trace VALUES('parked-3',53,'{"seq":53,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.2","event":"allow","from":"BeforeToolExecute","to":"ExecuteTool"}');
INSERT INTO trace VALUES('parked-3',54,'{"seq":54,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_call","instance":"rm_a","event":"start","from":"Resuming","to":"Running"}');
INSERT INTO trace VALUES('parked-3',55,'{"seq":55,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.2","event":"succeed","from":"ExecuteTool","to":"Succeeded"}');
INSERT INTO trace VALUES('parked-3',56,'{"seq":56,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.2","event":"conclude","from":"Succeeded","to":"AfterToolExecute"}');
INSERT INTO trace VALUES('parked-3',57,'{"seq":57,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_call","instance":"rm_a","event":"succeed","from":"Running","to":"Succeeded"}');
INSERT INTO trace VALUES('parked-3',58,'{"seq":58,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"settle","from":"ExecuteReplayedTool","to":"ClearResolved"}');
INSERT INTO trace VALUES('parked-3',59,'{"seq":59,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"compare","from":"ClearResolved","to":"SnapshotIfStateChanged"}');
INSERT INTO trace VALUES('parked-3',60,'{"seq":60,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"close","from":"SnapshotIfStateChanged","to":"CommitReplay"}');
INSERT INTO trace VALUES('parked-3',61,'{"seq":61,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('parked-3',62,'{"seq":62,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"match_call","from":"DrainDecisionChannel","to":"ResolveDecision"}');
INSERT INTO trace VALUES('parked-3',63,'{"seq":63,"at_ms":1795327010889,"run":"parked-3","lifecycle":"tool_call","instance":"rm_b","event":"cancel","from":"Suspended","to":"Cancelled"}');
INSERT INTO trace VALUES('parked-3',64,'{"seq":64,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"resolve","from":"ResolveDecision","to":"PersistResumeDecision"}');
INSERT INTO trace VALUES('parked-3',65,'{"seq":65,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"persist","from":"PersistResumeDecision","to":"Replay"}');
INSERT INTO trace VALUES('parked-3',66,'{"seq":66,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"deny","from":"Replay","to":"ReplayCancel"}');
INSERT INTO trace VALUES('parked-3',67,'{"seq":67,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"clear","from":"ReplayCancel","to":"ClearResolved"}');
INSERT INTO trace VALUES('parked-3',68,'{"seq":68,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"compare","from":"ClearResolved","to":"SnapshotIfStateChanged"}');
INSERT INTO trace VALUES('parked-3',69,'{"seq":69,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"close","from":"SnapshotIfStateChanged","to":"CommitReplay"}');
INSERT INTO trace VALUES('parked-3',70,'{"seq":70,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.3","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('parked-3',71,'{"seq":71,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.3","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('parked-3',72,'{"seq":72,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"replay","from":"ResumeReplay0","to":"CommitReplay0"}');
INSERT INTO trace VALUES('parked-3',73,'{"seq":73,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"commit","from":"CommitReplay0","to":"LoopTop"}');
INSERT INTO trace VALUES('parked-3',74,'{"seq":74,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO trace VALUES('parked-3',75,'{"seq":75,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO trace VALUES('parked-3',76,'{"seq":76,"at_ms":1795327010889,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO trace VALUES('parked-3',77,'{"seq":77,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO trace VALUES('parked-3',78,'{"seq":78,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO trace VALUES('parked-3',79,'{"seq":79,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO trace VALUES('parked-3',80,'{"seq":80,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO trace VALUES('parked-3',81,'{"seq":81,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"finish","from":"CommitAssistant","to":"NaturalEnd"}');
INSERT INTO trace VALUES('parked-3',82,'{"seq":82,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"wind_up","from":"NaturalEnd","to":"RunEnd"}');
INSERT INTO trace VALUES('parked-3',83,'{"seq":83,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run","instance":"parked-3","event":"finish","from":"Running","to":"Done"}');
INSERT INTO trace VALUES('parked-3',84,'{"seq":84,"at_ms":1795327010889,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"close","from":"RunEnd","to":"CommitFinished"}');
CREATE TABLE news (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    count INTEGER NOT NULL
) STRICT;
INSERT INTO news VALUES(1,10);
CREATE INDEX runs_newest ON runs (created_at_ms, id);
CREATE INDEX runs_by_status ON runs (status, created_at_ms, id);
CREATE INDEX runs_free ON runs (changed_at_ms, id) WHERE ready = 1 AND holder IS NULL;
CREATE INDEX runs_held ON runs (held_until_ms) WHERE ready = 1 AND holder IS NOT NULL;
CREATE INDEX calls_open ON calls (run, name) WHERE open = 1;
CREATE INDEX calls_open_by_name ON calls (name, run) WHERE open = 1;
CREATE INDEX calls_open_by_id ON calls (id, run, name) WHERE open = 1;
CREATE INDEX calls_open_by_suspension ON calls (suspension, run, name) WHERE open = 1;
CREATE INDEX calls_due ON calls (expires_at_ms, run, name) WHERE open = 1 AND expires_at_ms IS NOT NULL;
CREATE INDEX decisions_untaken ON decisions (run, no) WHERE taken = 0;
COMMIT;
PRAGMA application_id = 1383420788;
PRAGMA user_version = 1;
