-- Events get the columns that reads filter on, filled from the stored envelopes. SQLite cannot add a column that may not be null and has
-- no default, so the table is made anew.

-- RedefineTable
CREATE TABLE "new_artifactr_events" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "thread_id" TEXT,
    "run_id" TEXT,
    "envelope" TEXT NOT NULL,

    PRIMARY KEY ("tenant_id", "workspace_id", "seq")
);

-- Fill
INSERT INTO "new_artifactr_events" ("tenant_id", "workspace_id", "seq", "id", "type", "thread_id", "run_id", "envelope")
SELECT "tenant_id", "workspace_id", "seq", "id",
    COALESCE(json_extract("envelope", '$.event.type'), ''),
    json_extract("envelope", '$.thread_id'),
    json_extract("envelope", '$.run_id'),
    "envelope"
FROM "artifactr_events"
ORDER BY "tenant_id", "workspace_id", "seq";

DROP TABLE "artifactr_events";
ALTER TABLE "new_artifactr_events" RENAME TO "artifactr_events";

-- CreateIndex
CREATE INDEX "artifactr_events_thread_type" ON "artifactr_events"("tenant_id", "workspace_id", "thread_id", "type", "seq");

-- CreateIndex
CREATE INDEX "artifactr_events_type" ON "artifactr_events"("tenant_id", "workspace_id", "type", "seq");
