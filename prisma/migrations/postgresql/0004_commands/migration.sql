-- The results of accepted commands that had an id.

-- CreateTable
CREATE TABLE "artifactr_commands" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "participant" TEXT NOT NULL,
    "command_id" TEXT NOT NULL,
    "result" TEXT NOT NULL,
    "stored_at" BIGINT NOT NULL,

    CONSTRAINT "artifactr_commands_pkey" PRIMARY KEY ("tenant_id","workspace_id","command_id","participant")
);

-- CreateIndex
CREATE INDEX "artifactr_commands_stored_at" ON "artifactr_commands"("tenant_id", "workspace_id", "stored_at");
