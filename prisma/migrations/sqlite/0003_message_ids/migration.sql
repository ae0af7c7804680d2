-- The message ids used in each workspace, filled from the log. An id longer than ids may be is left out: it is refused anyway.

-- CreateTable
CREATE TABLE "artifactr_messages" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,

    PRIMARY KEY ("tenant_id", "workspace_id", "id")
);

-- Fill
INSERT INTO "artifactr_messages" ("tenant_id", "workspace_id", "id")
SELECT DISTINCT "tenant_id", "workspace_id", json_extract("envelope", '$.event.message_id')
FROM "artifactr_events"
WHERE "type" = 'message_posted' AND length(CAST(json_extract("envelope", '$.event.message_id') AS BLOB)) <= 255;
