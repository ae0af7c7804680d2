-- The message ids used in each workspace, filled from the log. An id longer than ids may be is left out: it is refused anyway, and does
-- not fit into an index.
--
-- A stored id that PostgreSQL text cannot keep is left out: it can never be posted again, because such ids are refused. It is recognised
-- by the stand-in for its escapes (see 0002_event_scopes): an id that reads differently with another stand-in holds one.

-- CreateTable
CREATE TABLE "artifactr_messages" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,

    CONSTRAINT "artifactr_messages_pkey" PRIMARY KEY ("tenant_id","workspace_id","id")
);

-- CreateFunction
CREATE FUNCTION "artifactr_readable"(envelope TEXT, stand_in TEXT) RETURNS JSON LANGUAGE SQL IMMUTABLE AS $$
    SELECT CASE WHEN strpos(envelope, '\u') = 0 THEN envelope
        ELSE regexp_replace(
            replace(envelope, '\\', '\u005c'),
            '\\u(0000|[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u)[dD][c-fC-F]..)',
            stand_in, 'g')
    END::json
$$;

-- Fill
WITH "posted" AS MATERIALIZED (
    SELECT "tenant_id", "workspace_id",
        "artifactr_readable"("envelope", 'x') #>> '{event,message_id}' AS "id",
        CASE WHEN strpos("envelope", '\u') > 0
            THEN "artifactr_readable"("envelope", 'y') #>> '{event,message_id}'
        END AS "otherwise"
    FROM "artifactr_events"
    WHERE "type" = 'message_posted'
)
INSERT INTO "artifactr_messages" ("tenant_id", "workspace_id", "id")
SELECT DISTINCT "tenant_id", "workspace_id", "id"
FROM "posted"
WHERE "id" = COALESCE("otherwise", "id") AND octet_length("id") <= 255;

-- DropFunction
DROP FUNCTION "artifactr_readable";
