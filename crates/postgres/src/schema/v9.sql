-- Version 9: a last commit gives the run back.

CREATE FUNCTION {schema}.commit_and_release(text, bigint, bigint, boolean, bigint, text, text, text, bigint, bigint, text, text, bigint[], text[], text[], text[], text[], text[], text[], bigint[], bigint[], text[], bigint[], text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], text[], bigint[], text[], bigint[], bigint[], text[], text, OUT outcome text, OUT number bigint, OUT detail text)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT done.* INTO outcome, number, detail FROM {schema}.commit_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
        $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35,
        $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49, $50, $51) AS done;
    IF outcome = 'made' THEN
        UPDATE {schema}.runs SET holder = NULL, held_until = NULL, not_before = NULL, problem = NULL,
            queued_at = changed_at, lost = 0 WHERE id = $1 AND fence = $2;
    END IF;
END
$$;
