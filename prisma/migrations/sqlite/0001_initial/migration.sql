-- CreateTable
CREATE TABLE "artifactr_workspaces" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "head_seq" BIGINT NOT NULL,
    "commit_token" TEXT NOT NULL,

    PRIMARY KEY ("tenant_id", "workspace_id")
);

-- CreateTable
CREATE TABLE "artifactr_threads" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "body" TEXT NOT NULL,

    PRIMARY KEY ("tenant_id", "workspace_id", "id")
);

-- CreateTable
CREATE TABLE "artifactr_artifacts" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "kind" TEXT NOT NULL,
    "archived" BOOLEAN NOT NULL,
    "body" TEXT NOT NULL,

    PRIMARY KEY ("tenant_id", "workspace_id", "id")
);

-- CreateTable
CREATE TABLE "artifactr_revisions" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "artifact_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "body" TEXT NOT NULL,

    PRIMARY KEY ("tenant_id", "workspace_id", "artifact_id", "version")
);

-- CreateTable
CREATE TABLE "artifactr_proposals" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "status" TEXT NOT NULL,
    "artifact_id" TEXT NOT NULL,
    "body" TEXT NOT NULL,

    PRIMARY KEY ("tenant_id", "workspace_id", "id")
);

-- CreateTable
CREATE TABLE "artifactr_runs" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "thread_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "body" TEXT NOT NULL,

    PRIMARY KEY ("tenant_id", "workspace_id", "id")
);

-- CreateTable
CREATE TABLE "artifactr_events" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "id" TEXT NOT NULL,
    "envelope" TEXT NOT NULL,

    PRIMARY KEY ("tenant_id", "workspace_id", "seq")
);

-- CreateTable
CREATE TABLE "artifactr_model_history" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "thread_id" TEXT NOT NULL,
    "body" BLOB NOT NULL,

    PRIMARY KEY ("tenant_id", "workspace_id", "thread_id")
);

-- CreateTable
CREATE TABLE "artifactr_leases" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "holder" TEXT NOT NULL,
    "expires_at" BIGINT NOT NULL,

    PRIMARY KEY ("tenant_id", "workspace_id", "key")
);

-- CreateIndex
CREATE INDEX "artifactr_threads_position" ON "artifactr_threads"("tenant_id", "workspace_id", "position");

-- CreateIndex
CREATE INDEX "artifactr_artifacts_position" ON "artifactr_artifacts"("tenant_id", "workspace_id", "position");

-- CreateIndex
CREATE INDEX "artifactr_artifacts_kind" ON "artifactr_artifacts"("tenant_id", "workspace_id", "kind", "position");

-- CreateIndex
CREATE INDEX "artifactr_proposals_position" ON "artifactr_proposals"("tenant_id", "workspace_id", "position");

-- CreateIndex
CREATE INDEX "artifactr_proposals_status" ON "artifactr_proposals"("tenant_id", "workspace_id", "status", "position");

-- CreateIndex
CREATE INDEX "artifactr_runs_position" ON "artifactr_runs"("tenant_id", "workspace_id", "position");

-- CreateIndex
CREATE INDEX "artifactr_runs_thread" ON "artifactr_runs"("tenant_id", "workspace_id", "thread_id", "position");

-- CreateIndex
CREATE INDEX "artifactr_runs_status" ON "artifactr_runs"("tenant_id", "workspace_id", "status", "position");
