-- As many runs that wait as {count}, each with a call as the one of the run r1 has, which is there.
INSERT INTO {schema}.runs (id, title, spec, thread, status, reason, version, steps, waiting, fence, committed_under,
        created_at, changed_at, queued_at, snapshot, core)
    SELECT 'many ' || n, title, spec, thread, status, reason, version, steps, waiting, fence, committed_under,
        created_at + n, changed_at + n, queued_at + n, snapshot, core
    FROM {schema}.runs, generate_series(1, {count}) n WHERE id = 'r1';
INSERT INTO {schema}.approvals (run_id, call, call_id, tool, suspension, json, arguments, args_digest, expires_at)
    SELECT 'many ' || n, call, call_id, tool, 'many ' || n, json, arguments, args_digest, 1000000 + n
    FROM {schema}.approvals, generate_series(1, {count}) n WHERE run_id = 'r1';
