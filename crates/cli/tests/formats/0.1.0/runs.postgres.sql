
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA runstate;

CREATE FUNCTION runstate.claim_run(in_run text, in_holder text, in_now bigint, in_until bigint, OUT outcome text, OUT number bigint, OUT detail text) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    r record;
BEGIN
    SELECT runs.no, runs.holder, runs.held_until INTO r FROM "runstate".runs WHERE runs.id = in_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF r.held_until > in_now THEN
        outcome := 'held'; number := r.held_until; detail := r.holder;
    ELSE
        UPDATE "runstate".runs SET fence = fence + 1, holder = in_holder, held_until = in_until WHERE runs.no = r.no
            RETURNING fence INTO number;
        outcome := 'claimed';
    END IF;
END
$$;

CREATE FUNCTION runstate.commit_run(in_run text, in_fence bigint, in_version bigint, in_again boolean, in_at bigint, in_status text, in_reason text, in_thread text, in_steps bigint, in_waiting bigint, in_snapshot text, in_core text, message_seqs bigint[], message_roles text[], message_jsons text[], call_names text[], call_longs text[], call_ids text[], call_tools text[], call_steps bigint[], call_ordinals bigint[], call_statuses text[], call_executions bigint[], call_snapshots text[], wait_calls text[], wait_long_runs text[], wait_long_calls text[], wait_ids text[], wait_tools text[], wait_suspensions text[], wait_jsons text[], wait_arguments text[], wait_digests text[], wait_expiries bigint[], decision_ids text[], decision_suspensions text[], decision_calls text[], decision_actions text[], decision_actors text[], decision_ats bigint[], decision_jsons text[], value_scopes text[], value_keys text[], value_longs text[], value_jsons text[], trace_seqs bigint[], trace_jsons text[], OUT outcome text, OUT number bigint, OUT detail text) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    r record;
BEGIN
    SELECT runs.no, runs.fence, runs.version, runs.committed_under INTO r
        FROM "runstate".runs WHERE runs.id = in_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
        RETURN;
    END IF;
    IF r.fence <> in_fence THEN
        outcome := 'fenced'; number := r.fence;
        RETURN;
    END IF;
    IF in_version <> r.version + 1
        AND NOT (in_again AND in_version = r.version AND r.committed_under = in_fence) THEN
        outcome := 'version'; number := r.version + 1;
        RETURN;
    END IF;

    IF cardinality(decision_ids) > 0 THEN
        SELECT kept.json INTO detail
            FROM unnest(decision_ids, decision_suspensions) AS given (id, suspension)
            JOIN "runstate".decisions kept
                ON kept.run = r.no AND kept.suspension = given.suspension AND kept.id <> given.id
            LIMIT 1;
        IF FOUND THEN
            outcome := 'decided';
            RETURN;
        END IF;
        INSERT INTO "runstate".decisions (run, id, suspension, call, action, actor, decided_at, json, taken)
            SELECT r.no, given.*, true
            FROM unnest(decision_ids, decision_suspensions, decision_calls, decision_actions, decision_actors,
                decision_ats, decision_jsons) AS given
            ON CONFLICT (run, id) DO UPDATE SET taken = true;
        DELETE FROM "runstate".approvals
            WHERE approvals.run_id = in_run AND approvals.suspension = ANY (decision_suspensions);
    END IF;

    UPDATE "runstate".runs SET
        status = in_status, reason = in_reason, thread = in_thread, version = in_version, steps = in_steps,
        waiting = in_waiting, committed_under = in_fence, changed_at = in_at, snapshot = in_snapshot, core = in_core,
        cancel = CASE WHEN in_status = 'Done' THEN NULL ELSE cancel END,
        mail = mail AND (cardinality(decision_ids) = 0
            OR EXISTS (SELECT FROM "runstate".decisions kept WHERE kept.run = r.no AND NOT kept.taken))
        WHERE runs.no = r.no;

    IF cardinality(message_seqs) > 0 THEN
        IF in_again THEN
            INSERT INTO "runstate".messages (run, seq, role, json)
                SELECT r.no, given.* FROM unnest(message_seqs, message_roles, message_jsons) AS given
                ON CONFLICT (run, seq) DO UPDATE SET role = excluded.role, json = excluded.json;
        ELSE
            INSERT INTO "runstate".messages (run, seq, role, json)
                SELECT r.no, given.* FROM unnest(message_seqs, message_roles, message_jsons) AS given;
        END IF;
    END IF;

    IF cardinality(call_names) > 0 THEN
        INSERT INTO "runstate".calls AS kept
            (run, name, long_name, id, tool, step, ordinal, status, executions, snapshot)
            SELECT r.no, given.*
            FROM unnest(call_names, call_longs, call_ids, call_tools, call_steps, call_ordinals, call_statuses,
                call_executions, call_snapshots) AS given
            ON CONFLICT (run, name) DO UPDATE SET
                id = excluded.id, tool = excluded.tool, step = excluded.step, ordinal = excluded.ordinal,
                status = excluded.status, executions = excluded.executions, snapshot = excluded.snapshot;
        DELETE FROM "runstate".approvals WHERE approvals.run_id = in_run AND approvals.call = ANY (call_names);
    END IF;
    IF cardinality(wait_calls) > 0 THEN
        INSERT INTO "runstate".approvals (run_id, call, long_run_id, long_call, call_id, tool, suspension, json,
                arguments, args_digest, expires_at)
            SELECT in_run, given.*
            FROM unnest(wait_calls, wait_long_runs, wait_long_calls, wait_ids, wait_tools, wait_suspensions,
                wait_jsons, wait_arguments, wait_digests, wait_expiries)
                AS given (call, long_run, long_call, id, tool, suspension, json, arguments, digest, expires_at)
            WHERE NOT EXISTS (SELECT FROM "runstate".decisions kept
                WHERE kept.run = r.no AND kept.suspension = given.suspension);
    END IF;

    IF cardinality(value_keys) > 0 THEN
        DELETE FROM "runstate".state kept
            USING unnest(value_scopes, value_keys, value_jsons) AS given (scope, key, json)
            WHERE kept.run = r.no AND kept.scope = given.scope AND kept.key = given.key AND given.json IS NULL;
        INSERT INTO "runstate".state (run, scope, key, long_key, json)
            SELECT r.no, given.*
            FROM unnest(value_scopes, value_keys, value_longs, value_jsons) AS given (scope, key, long_key, json)
            WHERE given.json IS NOT NULL
            ON CONFLICT (run, scope, key) DO UPDATE SET json = excluded.json;
    END IF;

    -- An event may be given with the commit behind as well, when nobody knew whether its own was made.
    IF cardinality(trace_seqs) > 0 THEN
        INSERT INTO "runstate".trace (run, seq, json)
            SELECT r.no, given.* FROM unnest(trace_seqs, trace_jsons) AS given
            ON CONFLICT (run, seq) DO UPDATE SET json = excluded.json;
    END IF;
    outcome := 'made';
END
$$;

CREATE FUNCTION runstate.post_decision(in_run text, in_call text, in_suspension text, in_id text, in_name text, in_action text, in_actor text, in_at bigint, in_json text, OUT outcome text) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    r record;
BEGIN
    SELECT runs.no INTO r FROM "runstate".runs WHERE runs.id = in_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF EXISTS (SELECT FROM "runstate".decisions kept WHERE kept.run = r.no AND kept.id = in_id) THEN
        outcome := 'duplicate';
    ELSIF EXISTS (SELECT FROM "runstate".decisions kept WHERE kept.run = r.no AND kept.suspension = in_suspension) THEN
        outcome := 'conflict';
    ELSE
        DELETE FROM "runstate".approvals kept
            WHERE kept.run_id = in_run AND kept.call = in_call AND kept.suspension = in_suspension;
        IF NOT FOUND THEN
            outcome := 'not waiting';
            RETURN;
        END IF;
        INSERT INTO "runstate".decisions (run, id, suspension, call, action, actor, decided_at, json, taken)
            VALUES (r.no, in_id, in_suspension, in_name, in_action, in_actor, in_at, in_json, false);
        UPDATE "runstate".runs SET mail = true WHERE runs.no = r.no;
        outcome := 'accepted';
    END IF;
END
$$;

CREATE FUNCTION runstate.remove_run(in_run text, in_now bigint, OUT outcome text, OUT number bigint, OUT detail text) RETURNS record
    LANGUAGE plpgsql
    AS $$
DECLARE
    r record;
BEGIN
    SELECT runs.no, runs.holder, runs.held_until INTO r FROM "runstate".runs WHERE runs.id = in_run FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF r.held_until > in_now THEN
        outcome := 'held'; number := r.held_until; detail := r.holder;
    ELSE
        DELETE FROM "runstate".runs WHERE runs.no = r.no;
        outcome := 'removed';
    END IF;
END
$$;

CREATE FUNCTION runstate.renew_run(in_run text, in_fence bigint, in_until bigint, OUT outcome text, OUT number bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
BEGIN
    SELECT runs.fence INTO number FROM "runstate".runs WHERE runs.id = in_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        outcome := 'no run';
    ELSIF number <> in_fence THEN
        outcome := 'fenced';
    ELSE
        UPDATE "runstate".runs SET held_until = in_until WHERE runs.id = in_run AND holder IS NOT NULL;
        outcome := 'renewed';
    END IF;
END
$$;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE runstate.approvals (
    run_id text NOT NULL COLLATE pg_catalog."C",
    call text NOT NULL COLLATE pg_catalog."C",
    long_run_id text,
    long_call text,
    call_id text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL,
    suspension text NOT NULL COLLATE pg_catalog."C",
    json text NOT NULL,
    arguments text NOT NULL,
    args_digest text NOT NULL,
    expires_at bigint
);

CREATE TABLE runstate.calls (
    run bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    long_name text,
    id text NOT NULL,
    tool text NOT NULL,
    step bigint NOT NULL,
    ordinal bigint NOT NULL,
    status text NOT NULL,
    executions bigint NOT NULL,
    snapshot text NOT NULL
);

CREATE TABLE runstate.decisions (
    run bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    suspension text NOT NULL COLLATE pg_catalog."C",
    n bigint NOT NULL,
    call text NOT NULL,
    action text NOT NULL,
    actor text,
    decided_at bigint NOT NULL,
    json text NOT NULL,
    taken boolean NOT NULL
);

ALTER TABLE runstate.decisions ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME runstate.decisions_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE runstate.messages (
    run bigint NOT NULL,
    seq bigint NOT NULL,
    role text NOT NULL,
    json text NOT NULL
);

CREATE TABLE runstate.runs (
    no bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    long_id text,
    title text NOT NULL,
    spec text NOT NULL,
    thread text,
    status text DEFAULT 'Running'::text NOT NULL,
    reason text,
    version bigint DEFAULT 0 NOT NULL,
    steps bigint DEFAULT 0 NOT NULL,
    waiting bigint DEFAULT 0 NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    committed_under bigint DEFAULT 0 NOT NULL,
    holder text,
    held_until bigint,
    not_before bigint,
    problem text,
    cancel text,
    mail boolean DEFAULT false NOT NULL,
    created_at bigint NOT NULL,
    changed_at bigint NOT NULL,
    snapshot text,
    core text,
    CONSTRAINT runs_check CHECK (((holder IS NULL) = (held_until IS NULL))),
    CONSTRAINT runs_check1 CHECK ((((version = 0) = (snapshot IS NULL)) AND ((version = 0) = (core IS NULL)))),
    CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['Running'::text, 'Waiting'::text, 'Done'::text])))
);

ALTER TABLE runstate.runs ALTER COLUMN no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME runstate.runs_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE runstate.runstate_schema (
    version integer NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE runstate.state (
    run bigint NOT NULL,
    scope text NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    long_key text,
    json text NOT NULL,
    CONSTRAINT state_scope_check CHECK ((scope = ANY (ARRAY['run'::text, 'thread'::text])))
);

CREATE TABLE runstate.trace (
    run bigint NOT NULL,
    seq bigint NOT NULL,
    json text NOT NULL
);

INSERT INTO runstate.approvals VALUES ('keys-1', 'p', NULL, NULL, 'p', 'pay', 'keys-1/p/1', '{"id":"keys-1/p/1","action":"price","message":"may pay execute?","response_schema":{"type":"number"},"resume_mode":"replay_tool_call","expires_at_ms":5795351609991}', '{"amount":9}', 'sha256:2cc13b79f24ba2b84685e6e50e7cefb6cc679fedda42fd29de4df8f87e18535a', 5795351609991);
INSERT INTO runstate.approvals VALUES ('parked-1', 'rm_b', NULL, NULL, 'rm_b', 'delete_file', 'parked-1/rm_b/1', '{"id":"parked-1/rm_b/1","action":"approve","message":"may delete_file execute?","resume_mode":"replay_tool_call"}', '{"path":"b.txt"}', 'sha256:f073853debf32b5d617e52685fe433237a8afdddad8aacf3e7119d0bc4101c52', NULL);

INSERT INTO runstate.calls VALUES (5, 'make', NULL, 'make', 'write_file', 1, 0, 'Succeeded', 1, '{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Succeeded","record":{"arguments":{"content":"one","path":"a.txt"},"attempts":1,"id":"make","key":{"ordinal":0,"step":1},"suspensions":0,"tool":"write_file"},"state":{"output":{"bytes":3,"path":"a.txt"}},"digest":"sha256:feff73ff0be8870468d4883b8c4e0096d27630ffc219eb8884d569dc3e9f7f38"}');
INSERT INTO runstate.calls VALUES (1, 'rm_a', NULL, 'rm_a', 'delete_file', 1, 1, 'Suspended', 1, '{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Suspended","record":{"arguments":{"path":"a.txt"},"attempts":0,"id":"rm_a","key":{"ordinal":1,"step":1},"suspensions":1,"tool":"delete_file"},"state":{"suspension":{"action":"approve","id":"parked-1/rm_a/1","message":"may delete_file execute?","resume_mode":"replay_tool_call"}},"digest":"sha256:ffe6152668c4d47af26b1ac424787d33eb8b6257cabd5541eda419bd806de4d9"}');
INSERT INTO runstate.calls VALUES (1, 'rm_b', NULL, 'rm_b', 'delete_file', 1, 2, 'Suspended', 1, '{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Suspended","record":{"arguments":{"path":"b.txt"},"attempts":0,"id":"rm_b","key":{"ordinal":2,"step":1},"suspensions":1,"tool":"delete_file"},"state":{"suspension":{"action":"approve","id":"parked-1/rm_b/1","message":"may delete_file execute?","resume_mode":"replay_tool_call"}},"digest":"sha256:e6442a54384688404690e7b8fd66c5f80bed5dac39ea394587f3d5e6eab68f84"}');
INSERT INTO runstate.calls VALUES (2, 'p', NULL, 'p', 'pay', 1, 0, 'Suspended', 1, '{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Suspended","record":{"arguments":{"amount":9},"attempts":0,"id":"p","key":{"ordinal":0,"step":1},"suspensions":1,"tool":"pay"},"state":{"suspension":{"action":"price","expires_at_ms":5795351609991,"id":"keys-1/p/1","message":"may pay execute?","response_schema":{"type":"number"},"resume_mode":"replay_tool_call"}},"digest":"sha256:af81b5974383249b1b4205a57562119115f16319c01596d2ba47288fd2d32109"}');
INSERT INTO runstate.calls VALUES (1, 'make', NULL, 'make', 'write_file', 1, 0, 'Succeeded', 1, '{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Succeeded","record":{"arguments":{"content":"one","path":"a.txt"},"attempts":1,"id":"make","key":{"ordinal":0,"step":1},"suspensions":0,"tool":"write_file"},"state":{"output":{"bytes":3,"path":"a.txt"}},"digest":"sha256:feff73ff0be8870468d4883b8c4e0096d27630ffc219eb8884d569dc3e9f7f38"}');
INSERT INTO runstate.calls VALUES (3, 'p', NULL, 'p', 'pay', 1, 0, 'Running', 1, '{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Running","record":{"arguments":{"amount":9},"attempts":1,"id":"p","key":{"ordinal":0,"step":1},"suspensions":0,"tool":"pay"},"state":{},"digest":"sha256:5b4bc4ee1b6a23c21768c12228cd3bf278833a1fbb2b4fa2a852f3d02e1f9f9d"}');
INSERT INTO runstate.calls VALUES (5, 'rm_a', NULL, 'rm_a', 'delete_file', 1, 1, 'Succeeded', 2, '{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Succeeded","record":{"arguments":{"path":"a.txt"},"attempts":1,"id":"rm_a","key":{"ordinal":1,"step":1},"suspensions":1,"tool":"delete_file"},"state":{"output":{"path":"a.txt"}},"digest":"sha256:d6287fbfbb6e2e28382c4f8cd27de27da1c490498a5bc49f879853cd61459edd"}');
INSERT INTO runstate.calls VALUES (5, 'rm_b', NULL, 'rm_b', 'delete_file', 1, 2, 'Cancelled', 1, '{"lifecycle":"tool_call","version":1,"fingerprint":"f4289f405eb2689f","status":"Cancelled","record":{"arguments":{"path":"b.txt"},"attempts":0,"id":"rm_b","key":{"ordinal":2,"step":1},"suspensions":1,"tool":"delete_file"},"state":{"reason":"denied"},"digest":"sha256:d444984d1c1f26fbcc6daf00208e8b667bd5093298d6fa354d1ecad386abfe08"}');

INSERT INTO runstate.decisions OVERRIDING SYSTEM VALUE VALUES (1, 'parked-1/rm_a/1/3b05570fbb45e393', 'parked-1/rm_a/1', 1, 'rm_a', 'resume', 'ada', 1795351610096, '{"decision_id":"parked-1/rm_a/1/3b05570fbb45e393","run_id":"parked-1","call":"rm_a","suspension_id":"parked-1/rm_a/1","action":"resume","reason":"it is a copy","actor":"ada","args_digest":"sha256:da9ca55d44b50ed40d4fe2ad4536a57996925da47c2df4824fc7aae077076400","decided_at_ms":1795351610096}', false);
INSERT INTO runstate.decisions OVERRIDING SYSTEM VALUE VALUES (5, 'parked-3/rm_a/1/ffad812a91b4e9b2', 'parked-3/rm_a/1', 2, 'rm_a', 'resume', NULL, 1795351626282, '{"decision_id":"parked-3/rm_a/1/ffad812a91b4e9b2","run_id":"parked-3","call":"rm_a","suspension_id":"parked-3/rm_a/1","action":"resume","args_digest":"sha256:da9ca55d44b50ed40d4fe2ad4536a57996925da47c2df4824fc7aae077076400","decided_at_ms":1795351626282}', true);
INSERT INTO runstate.decisions OVERRIDING SYSTEM VALUE VALUES (5, 'parked-3/rm_b/1/2f3ea1099900c77c', 'parked-3/rm_b/1', 3, 'rm_b', 'cancel', NULL, 1795351626306, '{"decision_id":"parked-3/rm_b/1/2f3ea1099900c77c","run_id":"parked-3","call":"rm_b","suspension_id":"parked-3/rm_b/1","action":"cancel","args_digest":"sha256:f073853debf32b5d617e52685fe433237a8afdddad8aacf3e7119d0bc4101c52","decided_at_ms":1795351626306}', true);

INSERT INTO runstate.messages VALUES (1, 1, 'user', '{"user":"tidy up"}');
INSERT INTO runstate.messages VALUES (2, 1, 'user', '{"user":"go"}');
INSERT INTO runstate.messages VALUES (1, 2, 'assistant', '{"assistant":{"text":"","calls":[{"id":"make","tool":"write_file","arguments":{"content":"one","path":"a.txt"}},{"id":"rm_a","tool":"delete_file","arguments":{"path":"a.txt"}},{"id":"rm_b","tool":"delete_file","arguments":{"path":"b.txt"}}]}}');
INSERT INTO runstate.messages VALUES (2, 2, 'assistant', '{"assistant":{"text":"","calls":[{"id":"p","tool":"pay","arguments":{"amount":9}}]}}');
INSERT INTO runstate.messages VALUES (1, 3, 'result', '{"result":{"key":{"step":1,"ordinal":0},"id":"make","content":{"output":{"value":{"bytes":3,"path":"a.txt"}}}}}');
INSERT INTO runstate.messages VALUES (3, 1, 'user', '{"user":"pay"}');
INSERT INTO runstate.messages VALUES (3, 2, 'assistant', '{"assistant":{"text":"","calls":[{"id":"p","tool":"pay","arguments":{"amount":9}}]}}');
INSERT INTO runstate.messages VALUES (5, 1, 'user', '{"user":"tidy up"}');
INSERT INTO runstate.messages VALUES (5, 2, 'assistant', '{"assistant":{"text":"","calls":[{"id":"make","tool":"write_file","arguments":{"content":"one","path":"a.txt"}},{"id":"rm_a","tool":"delete_file","arguments":{"path":"a.txt"}},{"id":"rm_b","tool":"delete_file","arguments":{"path":"b.txt"}}]}}');
INSERT INTO runstate.messages VALUES (5, 3, 'result', '{"result":{"key":{"step":1,"ordinal":0},"id":"make","content":{"output":{"value":{"bytes":3,"path":"a.txt"}}}}}');
INSERT INTO runstate.messages VALUES (5, 4, 'result', '{"result":{"key":{"step":1,"ordinal":1},"id":"rm_a","content":{"output":{"value":{"path":"a.txt"}}}}}');
INSERT INTO runstate.messages VALUES (5, 5, 'result', '{"result":{"key":{"step":1,"ordinal":2},"id":"rm_b","content":{"error":"denied"}}}');
INSERT INTO runstate.messages VALUES (5, 6, 'assistant', '{"assistant":{"text":"done","calls":[]}}');

INSERT INTO runstate.runs OVERRIDING SYSTEM VALUE VALUES (2, 'keys-1', NULL, 'a run and a thread that keep values, a call that lapses', '{"folder":"STATE_DIR/keys-1/work","kind":"scenario","scenario":"name: keys\nabout: a run and a thread that keep values, a call that lapses\nmessage: go\nplugins:\n  - set: {at: {phase: run_start}, patch: {key: budget, value: 7}}\n  - ask: {tool: pay, ticket: {expires_after_ms: 4000000000000, action: price, response_schema: {type: number}}}\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay, arguments: {amount: 9}}]\n  - text: done\n"}', 'keys-1', 'Waiting', 'suspended', 4, 1, 1, 1, 1, NULL, NULL, NULL, NULL, NULL, false, 1795351609898, 1795351609996, '{"lifecycle":"run","version":1,"fingerprint":"345d88c2b544d155","status":"Waiting","record":{"activations":1,"id":"keys-1"},"state":{"calls":["p"]},"digest":"sha256:bb3f8d37168dfda6cec3a651ed132862dea62da51e64db67247b879c441ce730"}', '{"thread":"keys-1","base":0,"steps":1,"flows":1,"events":15,"counters":{"started_at_ms":1795351609974,"rounds":1,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}');
INSERT INTO runstate.runs OVERRIDING SYSTEM VALUE VALUES (3, 'doubt-1', NULL, 'a call that may have executed when its process was killed', '{"folder":"STATE_DIR/doubt-1/work","kind":"scenario","scenario":"name: doubt\nabout: a call that may have executed when its process was killed\nmessage: pay\ntools: {pay: {does: [{gives: {success: paid}}]}}\nmodel:\n  - calls: [{id: p, tool: pay, arguments: {amount: 9}}]\n  - text: done\noutside:\n  - {when: {after_commit: 3}, do: crash}\n"}', 'doubt-1', 'Running', NULL, 3, 1, 0, 1, 1, NULL, NULL, NULL, NULL, NULL, false, 1795351610187, 1795351610277, '{"lifecycle":"run","version":1,"fingerprint":"345d88c2b544d155","status":"Running","record":{"activations":1,"id":"doubt-1"},"state":{"cause":"created"},"digest":"sha256:b89861d2135429e03f3096de9b759e41c7c30f7892824ae0e486153d0aa7c09b"}', '{"thread":"doubt-1","base":0,"steps":1,"flows":1,"events":10,"counters":{"started_at_ms":1795351610254,"rounds":1,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}');
INSERT INTO runstate.runs OVERRIDING SYSTEM VALUE VALUES (1, 'parked-1', NULL, 'two calls that wait, one of them decided', '{"folder":"STATE_DIR/parked-1/work","kind":"scenario","scenario":"name: parked\nabout: two calls that wait, one of them decided\nmessage: tidy up\napprove: [delete_file]\nmodel:\n  - calls:\n      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}\n      - {id: rm_a, tool: delete_file, arguments: {path: a.txt}}\n      - {id: rm_b, tool: delete_file, arguments: {path: b.txt}}\n  - text: done\n"}', 'parked-1', 'Waiting', 'suspended', 5, 1, 2, 1, 1, NULL, NULL, NULL, NULL, NULL, true, 1795351609835, 1795351610011, '{"lifecycle":"run","version":1,"fingerprint":"345d88c2b544d155","status":"Waiting","record":{"activations":1,"id":"parked-1"},"state":{"calls":["rm_a","rm_b"]},"digest":"sha256:d2c296fdae2461069c91d163f1ea1ae2914e90dbad089c2b12598367ec15b45d"}', '{"thread":"parked-1","base":0,"steps":1,"flows":1,"events":23,"counters":{"started_at_ms":1795351609961,"rounds":1,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}');
INSERT INTO runstate.runs OVERRIDING SYSTEM VALUE VALUES (4, 'parked-2', NULL, 'two calls that wait, one of them decided', '{"folder":"STATE_DIR/parked-2/work","kind":"scenario","scenario":"name: parked\nabout: two calls that wait, one of them decided\nmessage: tidy up\napprove: [delete_file]\nmodel:\n  - calls:\n      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}\n      - {id: rm_a, tool: delete_file, arguments: {path: a.txt}}\n      - {id: rm_b, tool: delete_file, arguments: {path: b.txt}}\n  - text: done\n"}', NULL, 'Running', NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, false, 1795351610325, 1795351610325, NULL, NULL);
INSERT INTO runstate.runs OVERRIDING SYSTEM VALUE VALUES (5, 'parked-3', NULL, 'two calls that wait, one of them decided', '{"folder":"STATE_DIR/parked-3/work","kind":"scenario","scenario":"name: parked\nabout: two calls that wait, one of them decided\nmessage: tidy up\napprove: [delete_file]\nmodel:\n  - calls:\n      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}\n      - {id: rm_a, tool: delete_file, arguments: {path: a.txt}}\n      - {id: rm_b, tool: delete_file, arguments: {path: b.txt}}\n  - text: done\n"}', 'parked-3', 'Done', 'natural_end', 11, 2, 0, 2, 2, NULL, NULL, NULL, NULL, NULL, false, 1795351626151, 1795351626415, '{"lifecycle":"run","version":1,"fingerprint":"345d88c2b544d155","status":"Done","record":{"activations":2,"id":"parked-3"},"state":{"reason":"natural_end"},"digest":"sha256:f1de33323f5d7c5420c18e8f3b08db23a4405185c89dfb7142cb75e942aedacd"}', '{"thread":"parked-3","base":0,"steps":2,"flows":2,"events":40,"counters":{"started_at_ms":1795351626174,"rounds":2,"usage":{"input_tokens":0,"output_tokens":0},"failed_in_a_row":0}}');

INSERT INTO runstate.runstate_schema VALUES (1, '2026-11-22 12:46:49.645695+00');

INSERT INTO runstate.state VALUES (2, 'run', 'budget', NULL, '7');

INSERT INTO runstate.trace VALUES (1, 1, '{"seq":1,"at_ms":1795351609959,"run":"parked-1","lifecycle":"run","instance":"parked-1","event":"create","from":null,"to":"Running"}');
INSERT INTO runstate.trace VALUES (1, 2, '{"seq":2,"at_ms":1795351609961,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO runstate.trace VALUES (1, 3, '{"seq":3,"at_ms":1795351609961,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO runstate.trace VALUES (2, 1, '{"seq":1,"at_ms":1795351609974,"run":"keys-1","lifecycle":"run","instance":"keys-1","event":"create","from":null,"to":"Running"}');
INSERT INTO runstate.trace VALUES (2, 2, '{"seq":2,"at_ms":1795351609974,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO runstate.trace VALUES (2, 3, '{"seq":3,"at_ms":1795351609975,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO runstate.trace VALUES (1, 4, '{"seq":4,"at_ms":1795351609977,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO runstate.trace VALUES (1, 5, '{"seq":5,"at_ms":1795351609977,"run":"parked-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (1, 6, '{"seq":6,"at_ms":1795351609977,"run":"parked-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (1, 7, '{"seq":7,"at_ms":1795351609977,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO runstate.trace VALUES (1, 8, '{"seq":8,"at_ms":1795351609977,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO runstate.trace VALUES (1, 9, '{"seq":9,"at_ms":1795351609977,"run":"parked-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (1, 10, '{"seq":10,"at_ms":1795351609977,"run":"parked-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (1, 11, '{"seq":11,"at_ms":1795351609977,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO runstate.trace VALUES (1, 12, '{"seq":12,"at_ms":1795351609977,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO runstate.trace VALUES (1, 13, '{"seq":13,"at_ms":1795351609977,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO runstate.trace VALUES (1, 14, '{"seq":14,"at_ms":1795351609977,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO runstate.trace VALUES (1, 15, '{"seq":15,"at_ms":1795351609977,"run":"parked-1","lifecycle":"tool_call","instance":"make","event":"create","from":null,"to":"New"}');
INSERT INTO runstate.trace VALUES (1, 16, '{"seq":16,"at_ms":1795351609977,"run":"parked-1","lifecycle":"tool_call","instance":"rm_a","event":"create","from":null,"to":"New"}');
INSERT INTO runstate.trace VALUES (1, 17, '{"seq":17,"at_ms":1795351609977,"run":"parked-1","lifecycle":"tool_call","instance":"rm_b","event":"create","from":null,"to":"New"}');
INSERT INTO runstate.trace VALUES (2, 4, '{"seq":4,"at_ms":1795351609986,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO runstate.trace VALUES (2, 5, '{"seq":5,"at_ms":1795351609986,"run":"keys-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (2, 6, '{"seq":6,"at_ms":1795351609986,"run":"keys-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (2, 7, '{"seq":7,"at_ms":1795351609986,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO runstate.trace VALUES (2, 8, '{"seq":8,"at_ms":1795351609986,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO runstate.trace VALUES (2, 9, '{"seq":9,"at_ms":1795351609986,"run":"keys-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (2, 10, '{"seq":10,"at_ms":1795351609986,"run":"keys-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (2, 11, '{"seq":11,"at_ms":1795351609986,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO runstate.trace VALUES (2, 12, '{"seq":12,"at_ms":1795351609987,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO runstate.trace VALUES (2, 13, '{"seq":13,"at_ms":1795351609987,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO runstate.trace VALUES (2, 14, '{"seq":14,"at_ms":1795351609987,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO runstate.trace VALUES (2, 15, '{"seq":15,"at_ms":1795351609987,"run":"keys-1","lifecycle":"tool_call","instance":"p","event":"create","from":null,"to":"New"}');
INSERT INTO runstate.trace VALUES (2, 16, '{"seq":16,"at_ms":1795351609991,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO runstate.trace VALUES (2, 17, '{"seq":17,"at_ms":1795351609991,"run":"keys-1","lifecycle":"tool_execution","instance":"p.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO runstate.trace VALUES (2, 18, '{"seq":18,"at_ms":1795351609991,"run":"keys-1","lifecycle":"tool_execution","instance":"p.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (2, 19, '{"seq":19,"at_ms":1795351609991,"run":"keys-1","lifecycle":"tool_execution","instance":"p.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO runstate.trace VALUES (2, 20, '{"seq":20,"at_ms":1795351609991,"run":"keys-1","lifecycle":"tool_call","instance":"p","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (2, 21, '{"seq":21,"at_ms":1795351609991,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"complete","from":"ToolRound","to":"CommitTool"}');
INSERT INTO runstate.trace VALUES (1, 18, '{"seq":18,"at_ms":1795351609989,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO runstate.trace VALUES (1, 19, '{"seq":19,"at_ms":1795351609989,"run":"parked-1","lifecycle":"tool_execution","instance":"make.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO runstate.trace VALUES (1, 20, '{"seq":20,"at_ms":1795351609989,"run":"parked-1","lifecycle":"tool_execution","instance":"rm_a.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO runstate.trace VALUES (1, 21, '{"seq":21,"at_ms":1795351609989,"run":"parked-1","lifecycle":"tool_execution","instance":"rm_a.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (1, 22, '{"seq":22,"at_ms":1795351609989,"run":"parked-1","lifecycle":"tool_execution","instance":"rm_a.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO runstate.trace VALUES (1, 23, '{"seq":23,"at_ms":1795351609989,"run":"parked-1","lifecycle":"tool_call","instance":"rm_a","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (1, 24, '{"seq":24,"at_ms":1795351609989,"run":"parked-1","lifecycle":"tool_execution","instance":"rm_b.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO runstate.trace VALUES (1, 25, '{"seq":25,"at_ms":1795351609989,"run":"parked-1","lifecycle":"tool_execution","instance":"rm_b.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (1, 26, '{"seq":26,"at_ms":1795351609989,"run":"parked-1","lifecycle":"tool_execution","instance":"rm_b.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO runstate.trace VALUES (1, 27, '{"seq":27,"at_ms":1795351609989,"run":"parked-1","lifecycle":"tool_call","instance":"rm_b","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (1, 28, '{"seq":28,"at_ms":1795351609989,"run":"parked-1","lifecycle":"tool_call","instance":"make","event":"start","from":"New","to":"Running"}');
INSERT INTO runstate.trace VALUES (2, 22, '{"seq":22,"at_ms":1795351609995,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitTool","to":"ResumeAfterTool"}');
INSERT INTO runstate.trace VALUES (2, 23, '{"seq":23,"at_ms":1795351609996,"run":"keys-1","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (2, 24, '{"seq":24,"at_ms":1795351609996,"run":"keys-1","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (2, 25, '{"seq":25,"at_ms":1795351609996,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"park","from":"ResumeAfterTool","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (2, 26, '{"seq":26,"at_ms":1795351609996,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"wind_up","from":"Suspended","to":"RunEnd"}');
INSERT INTO runstate.trace VALUES (2, 27, '{"seq":27,"at_ms":1795351609996,"run":"keys-1","lifecycle":"run","instance":"keys-1","event":"wait","from":"Running","to":"Waiting"}');
INSERT INTO runstate.trace VALUES (2, 28, '{"seq":28,"at_ms":1795351609996,"run":"keys-1","lifecycle":"run_flow","instance":"activation_1","event":"close","from":"RunEnd","to":"CommitFinished"}');
INSERT INTO runstate.trace VALUES (1, 34, '{"seq":34,"at_ms":1795351610011,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitTool","to":"ResumeAfterTool"}');
INSERT INTO runstate.trace VALUES (1, 35, '{"seq":35,"at_ms":1795351610011,"run":"parked-1","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (1, 36, '{"seq":36,"at_ms":1795351610011,"run":"parked-1","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (1, 37, '{"seq":37,"at_ms":1795351610011,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"park","from":"ResumeAfterTool","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (1, 38, '{"seq":38,"at_ms":1795351610011,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"wind_up","from":"Suspended","to":"RunEnd"}');
INSERT INTO runstate.trace VALUES (1, 39, '{"seq":39,"at_ms":1795351610011,"run":"parked-1","lifecycle":"run","instance":"parked-1","event":"wait","from":"Running","to":"Waiting"}');
INSERT INTO runstate.trace VALUES (1, 40, '{"seq":40,"at_ms":1795351610011,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"close","from":"RunEnd","to":"CommitFinished"}');
INSERT INTO runstate.trace VALUES (1, 29, '{"seq":29,"at_ms":1795351609999,"run":"parked-1","lifecycle":"tool_execution","instance":"make.1","event":"allow","from":"BeforeToolExecute","to":"ExecuteTool"}');
INSERT INTO runstate.trace VALUES (1, 30, '{"seq":30,"at_ms":1795351610001,"run":"parked-1","lifecycle":"tool_execution","instance":"make.1","event":"succeed","from":"ExecuteTool","to":"Succeeded"}');
INSERT INTO runstate.trace VALUES (1, 31, '{"seq":31,"at_ms":1795351610001,"run":"parked-1","lifecycle":"tool_execution","instance":"make.1","event":"conclude","from":"Succeeded","to":"AfterToolExecute"}');
INSERT INTO runstate.trace VALUES (1, 32, '{"seq":32,"at_ms":1795351610001,"run":"parked-1","lifecycle":"tool_call","instance":"make","event":"succeed","from":"Running","to":"Succeeded"}');
INSERT INTO runstate.trace VALUES (1, 33, '{"seq":33,"at_ms":1795351610001,"run":"parked-1","lifecycle":"run_flow","instance":"activation_1","event":"complete","from":"ToolRound","to":"CommitTool"}');
INSERT INTO runstate.trace VALUES (3, 1, '{"seq":1,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"run","instance":"doubt-1","event":"create","from":null,"to":"Running"}');
INSERT INTO runstate.trace VALUES (3, 2, '{"seq":2,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO runstate.trace VALUES (3, 3, '{"seq":3,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO runstate.trace VALUES (3, 4, '{"seq":4,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO runstate.trace VALUES (3, 5, '{"seq":5,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (3, 6, '{"seq":6,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (3, 7, '{"seq":7,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO runstate.trace VALUES (3, 8, '{"seq":8,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO runstate.trace VALUES (3, 9, '{"seq":9,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (3, 10, '{"seq":10,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (3, 11, '{"seq":11,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO runstate.trace VALUES (3, 12, '{"seq":12,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO runstate.trace VALUES (3, 13, '{"seq":13,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO runstate.trace VALUES (3, 14, '{"seq":14,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO runstate.trace VALUES (3, 15, '{"seq":15,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"tool_call","instance":"p","event":"create","from":null,"to":"New"}');
INSERT INTO runstate.trace VALUES (3, 16, '{"seq":16,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO runstate.trace VALUES (3, 17, '{"seq":17,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"tool_execution","instance":"p.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO runstate.trace VALUES (3, 18, '{"seq":18,"at_ms":1795351610254,"run":"doubt-1","lifecycle":"tool_call","instance":"p","event":"start","from":"New","to":"Running"}');
INSERT INTO runstate.trace VALUES (5, 1, '{"seq":1,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run","instance":"parked-3","event":"create","from":null,"to":"Running"}');
INSERT INTO runstate.trace VALUES (5, 2, '{"seq":2,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"create","from":null,"to":"RunStart"}');
INSERT INTO runstate.trace VALUES (5, 3, '{"seq":3,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO runstate.trace VALUES (5, 4, '{"seq":4,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO runstate.trace VALUES (5, 5, '{"seq":5,"at_ms":1795351626174,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (5, 6, '{"seq":6,"at_ms":1795351626174,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_1.1.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (5, 7, '{"seq":7,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"skip_replay","from":"ResumeReplay0","to":"LoopTop"}');
INSERT INTO runstate.trace VALUES (5, 8, '{"seq":8,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO runstate.trace VALUES (5, 9, '{"seq":9,"at_ms":1795351626174,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (5, 10, '{"seq":10,"at_ms":1795351626174,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_1.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (5, 11, '{"seq":11,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO runstate.trace VALUES (5, 12, '{"seq":12,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO runstate.trace VALUES (5, 13, '{"seq":13,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO runstate.trace VALUES (5, 14, '{"seq":14,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO runstate.trace VALUES (5, 15, '{"seq":15,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_call","instance":"make","event":"create","from":null,"to":"New"}');
INSERT INTO runstate.trace VALUES (5, 16, '{"seq":16,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_call","instance":"rm_a","event":"create","from":null,"to":"New"}');
INSERT INTO runstate.trace VALUES (5, 17, '{"seq":17,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_call","instance":"rm_b","event":"create","from":null,"to":"New"}');
INSERT INTO runstate.trace VALUES (5, 18, '{"seq":18,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"call_tools","from":"CommitAssistant","to":"ToolRound"}');
INSERT INTO runstate.trace VALUES (5, 19, '{"seq":19,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_execution","instance":"make.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO runstate.trace VALUES (5, 20, '{"seq":20,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO runstate.trace VALUES (5, 21, '{"seq":21,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (5, 22, '{"seq":22,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO runstate.trace VALUES (5, 23, '{"seq":23,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_call","instance":"rm_a","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (5, 24, '{"seq":24,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_b.1","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO runstate.trace VALUES (5, 25, '{"seq":25,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_b.1","event":"suspend","from":"BeforeToolExecute","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (5, 26, '{"seq":26,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_b.1","event":"conclude","from":"Suspended","to":"AfterToolExecute"}');
INSERT INTO runstate.trace VALUES (5, 27, '{"seq":27,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_call","instance":"rm_b","event":"suspend","from":"New","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (5, 28, '{"seq":28,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_call","instance":"make","event":"start","from":"New","to":"Running"}');
INSERT INTO runstate.trace VALUES (5, 34, '{"seq":34,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"commit","from":"CommitTool","to":"ResumeAfterTool"}');
INSERT INTO runstate.trace VALUES (5, 35, '{"seq":35,"at_ms":1795351626174,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (5, 36, '{"seq":36,"at_ms":1795351626174,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_1.3.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (5, 37, '{"seq":37,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"park","from":"ResumeAfterTool","to":"Suspended"}');
INSERT INTO runstate.trace VALUES (5, 38, '{"seq":38,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"wind_up","from":"Suspended","to":"RunEnd"}');
INSERT INTO runstate.trace VALUES (5, 39, '{"seq":39,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run","instance":"parked-3","event":"wait","from":"Running","to":"Waiting"}');
INSERT INTO runstate.trace VALUES (5, 40, '{"seq":40,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"close","from":"RunEnd","to":"CommitFinished"}');
INSERT INTO runstate.trace VALUES (5, 29, '{"seq":29,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_execution","instance":"make.1","event":"allow","from":"BeforeToolExecute","to":"ExecuteTool"}');
INSERT INTO runstate.trace VALUES (5, 30, '{"seq":30,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_execution","instance":"make.1","event":"succeed","from":"ExecuteTool","to":"Succeeded"}');
INSERT INTO runstate.trace VALUES (5, 31, '{"seq":31,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_execution","instance":"make.1","event":"conclude","from":"Succeeded","to":"AfterToolExecute"}');
INSERT INTO runstate.trace VALUES (5, 32, '{"seq":32,"at_ms":1795351626174,"run":"parked-3","lifecycle":"tool_call","instance":"make","event":"succeed","from":"Running","to":"Succeeded"}');
INSERT INTO runstate.trace VALUES (5, 33, '{"seq":33,"at_ms":1795351626174,"run":"parked-3","lifecycle":"run_flow","instance":"activation_1","event":"complete","from":"ToolRound","to":"CommitTool"}');
INSERT INTO runstate.trace VALUES (5, 41, '{"seq":41,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run","instance":"parked-3","event":"resume","from":"Waiting","to":"Running"}');
INSERT INTO runstate.trace VALUES (5, 42, '{"seq":42,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"create","from":null,"to":"RunStart"}');
INSERT INTO runstate.trace VALUES (5, 43, '{"seq":43,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"begin","from":"RunStart","to":"CommitUser"}');
INSERT INTO runstate.trace VALUES (5, 44, '{"seq":44,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"commit","from":"CommitUser","to":"ResumeReplay0"}');
INSERT INTO runstate.trace VALUES (5, 45, '{"seq":45,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (5, 46, '{"seq":46,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"match_call","from":"DrainDecisionChannel","to":"ResolveDecision"}');
INSERT INTO runstate.trace VALUES (5, 47, '{"seq":47,"at_ms":1795351626337,"run":"parked-3","lifecycle":"tool_call","instance":"rm_a","event":"resume","from":"Suspended","to":"Resuming"}');
INSERT INTO runstate.trace VALUES (5, 48, '{"seq":48,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"resolve","from":"ResolveDecision","to":"PersistResumeDecision"}');
INSERT INTO runstate.trace VALUES (5, 49, '{"seq":49,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"persist","from":"PersistResumeDecision","to":"Replay"}');
INSERT INTO runstate.trace VALUES (5, 50, '{"seq":50,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"approve","from":"Replay","to":"ReplayResume"}');
INSERT INTO runstate.trace VALUES (5, 51, '{"seq":51,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"execute","from":"ReplayResume","to":"ExecuteReplayedTool"}');
INSERT INTO runstate.trace VALUES (5, 52, '{"seq":52,"at_ms":1795351626337,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.2","event":"create","from":null,"to":"BeforeToolExecute"}');
INSERT INTO runstate.trace VALUES (5, 53, '{"seq":53,"at_ms":1795351626337,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.2","event":"allow","from":"BeforeToolExecute","to":"ExecuteTool"}');
INSERT INTO runstate.trace VALUES (5, 54, '{"seq":54,"at_ms":1795351626337,"run":"parked-3","lifecycle":"tool_call","instance":"rm_a","event":"start","from":"Resuming","to":"Running"}');
INSERT INTO runstate.trace VALUES (5, 55, '{"seq":55,"at_ms":1795351626337,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.2","event":"succeed","from":"ExecuteTool","to":"Succeeded"}');
INSERT INTO runstate.trace VALUES (5, 56, '{"seq":56,"at_ms":1795351626337,"run":"parked-3","lifecycle":"tool_execution","instance":"rm_a.2","event":"conclude","from":"Succeeded","to":"AfterToolExecute"}');
INSERT INTO runstate.trace VALUES (5, 57, '{"seq":57,"at_ms":1795351626337,"run":"parked-3","lifecycle":"tool_call","instance":"rm_a","event":"succeed","from":"Running","to":"Succeeded"}');
INSERT INTO runstate.trace VALUES (5, 58, '{"seq":58,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"settle","from":"ExecuteReplayedTool","to":"ClearResolved"}');
INSERT INTO runstate.trace VALUES (5, 59, '{"seq":59,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"compare","from":"ClearResolved","to":"SnapshotIfStateChanged"}');
INSERT INTO runstate.trace VALUES (5, 60, '{"seq":60,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.1","event":"close","from":"SnapshotIfStateChanged","to":"CommitReplay"}');
INSERT INTO runstate.trace VALUES (5, 61, '{"seq":61,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (5, 62, '{"seq":62,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"match_call","from":"DrainDecisionChannel","to":"ResolveDecision"}');
INSERT INTO runstate.trace VALUES (5, 63, '{"seq":63,"at_ms":1795351626337,"run":"parked-3","lifecycle":"tool_call","instance":"rm_b","event":"cancel","from":"Suspended","to":"Cancelled"}');
INSERT INTO runstate.trace VALUES (5, 64, '{"seq":64,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"resolve","from":"ResolveDecision","to":"PersistResumeDecision"}');
INSERT INTO runstate.trace VALUES (5, 65, '{"seq":65,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"persist","from":"PersistResumeDecision","to":"Replay"}');
INSERT INTO runstate.trace VALUES (5, 66, '{"seq":66,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"deny","from":"Replay","to":"ReplayCancel"}');
INSERT INTO runstate.trace VALUES (5, 67, '{"seq":67,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"clear","from":"ReplayCancel","to":"ClearResolved"}');
INSERT INTO runstate.trace VALUES (5, 68, '{"seq":68,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"compare","from":"ClearResolved","to":"SnapshotIfStateChanged"}');
INSERT INTO runstate.trace VALUES (5, 69, '{"seq":69,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.2","event":"close","from":"SnapshotIfStateChanged","to":"CommitReplay"}');
INSERT INTO runstate.trace VALUES (5, 70, '{"seq":70,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.3","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (5, 71, '{"seq":71,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.1.3","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (5, 72, '{"seq":72,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"replay","from":"ResumeReplay0","to":"CommitReplay0"}');
INSERT INTO runstate.trace VALUES (5, 73, '{"seq":73,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"commit","from":"CommitReplay0","to":"LoopTop"}');
INSERT INTO runstate.trace VALUES (5, 74, '{"seq":74,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"open_gate","from":"LoopTop","to":"ResumeToolCall"}');
INSERT INTO runstate.trace VALUES (5, 75, '{"seq":75,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.2.1","event":"create","from":null,"to":"DrainDecisionChannel"}');
INSERT INTO runstate.trace VALUES (5, 76, '{"seq":76,"at_ms":1795351626337,"run":"parked-3","lifecycle":"resume_tool_call","instance":"gate_2.2.1","event":"find_nothing","from":"DrainDecisionChannel","to":"NoDecision"}');
INSERT INTO runstate.trace VALUES (5, 77, '{"seq":77,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"pass","from":"ResumeToolCall","to":"StepPrepare"}');
INSERT INTO runstate.trace VALUES (5, 78, '{"seq":78,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"infer","from":"StepPrepare","to":"LlmCall"}');
INSERT INTO runstate.trace VALUES (5, 79, '{"seq":79,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"respond","from":"LlmCall","to":"AfterInference"}');
INSERT INTO runstate.trace VALUES (5, 80, '{"seq":80,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"accept","from":"AfterInference","to":"CommitAssistant"}');
INSERT INTO runstate.trace VALUES (5, 81, '{"seq":81,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"finish","from":"CommitAssistant","to":"NaturalEnd"}');
INSERT INTO runstate.trace VALUES (5, 82, '{"seq":82,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"wind_up","from":"NaturalEnd","to":"RunEnd"}');
INSERT INTO runstate.trace VALUES (5, 83, '{"seq":83,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run","instance":"parked-3","event":"finish","from":"Running","to":"Done"}');
INSERT INTO runstate.trace VALUES (5, 84, '{"seq":84,"at_ms":1795351626337,"run":"parked-3","lifecycle":"run_flow","instance":"activation_2","event":"close","from":"RunEnd","to":"CommitFinished"}');

SELECT pg_catalog.setval('runstate.decisions_n_seq', 5, true);

SELECT pg_catalog.setval('runstate.runs_no_seq', 5, true);

ALTER TABLE ONLY runstate.approvals
    ADD CONSTRAINT approvals_pkey PRIMARY KEY (run_id, call);

ALTER TABLE ONLY runstate.calls
    ADD CONSTRAINT calls_pkey PRIMARY KEY (run, name);

ALTER TABLE ONLY runstate.decisions
    ADD CONSTRAINT decisions_pkey PRIMARY KEY (run, id);

ALTER TABLE ONLY runstate.decisions
    ADD CONSTRAINT decisions_run_suspension_key UNIQUE (run, suspension);

ALTER TABLE ONLY runstate.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (run, seq);

ALTER TABLE ONLY runstate.runs
    ADD CONSTRAINT runs_id_key UNIQUE (id);

ALTER TABLE ONLY runstate.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (no);

ALTER TABLE ONLY runstate.runstate_schema
    ADD CONSTRAINT runstate_schema_pkey PRIMARY KEY (version);

ALTER TABLE ONLY runstate.state
    ADD CONSTRAINT state_pkey PRIMARY KEY (run, scope, key);

ALTER TABLE ONLY runstate.trace
    ADD CONSTRAINT trace_pkey PRIMARY KEY (run, seq);

CREATE INDEX approvals_call ON runstate.approvals USING btree (call, run_id);

CREATE INDEX approvals_call_id ON runstate.approvals USING btree (call_id, run_id, call);

CREATE INDEX approvals_due ON runstate.approvals USING btree (expires_at, run_id, call) WHERE (expires_at IS NOT NULL);

CREATE INDEX approvals_suspension ON runstate.approvals USING btree (suspension, run_id, call);

CREATE INDEX runs_newest ON runstate.runs USING btree (created_at, id);

CREATE INDEX runs_ready ON runstate.runs USING btree (changed_at, id) WHERE ((status = 'Running'::text) OR ((status = 'Waiting'::text) AND (mail OR (cancel IS NOT NULL))));

CREATE INDEX runs_status_newest ON runstate.runs USING btree (status, created_at, id);

ALTER TABLE ONLY runstate.approvals
    ADD CONSTRAINT approvals_run_id_fkey FOREIGN KEY (run_id) REFERENCES runstate.runs(id) ON DELETE CASCADE;

ALTER TABLE ONLY runstate.calls
    ADD CONSTRAINT calls_run_fkey FOREIGN KEY (run) REFERENCES runstate.runs(no) ON DELETE CASCADE;

ALTER TABLE ONLY runstate.decisions
    ADD CONSTRAINT decisions_run_fkey FOREIGN KEY (run) REFERENCES runstate.runs(no) ON DELETE CASCADE;

ALTER TABLE ONLY runstate.messages
    ADD CONSTRAINT messages_run_fkey FOREIGN KEY (run) REFERENCES runstate.runs(no) ON DELETE CASCADE;

ALTER TABLE ONLY runstate.state
    ADD CONSTRAINT state_run_fkey FOREIGN KEY (run) REFERENCES runstate.runs(no) ON DELETE CASCADE;

ALTER TABLE ONLY runstate.trace
    ADD CONSTRAINT trace_run_fkey FOREIGN KEY (run) REFERENCES runstate.runs(no) ON DELETE CASCADE;

