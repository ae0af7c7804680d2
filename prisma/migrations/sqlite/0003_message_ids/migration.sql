-- The message ids used in each workspace, filled from the log.

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
WHERE "type" = 'message_posted' AND json_extract("envelope", '$.event.message_id') IS NOT NULL;
