-- How far the messages of each thread have asked for turns, and how far turns have taken them.

-- CreateTable
CREATE TABLE "artifactr_turns" (
    "tenant_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "thread_id" TEXT NOT NULL,
    "asked" BIGINT NOT NULL,
    "taken" BIGINT NOT NULL,
    "owed" BOOLEAN NOT NULL,

    CONSTRAINT "artifactr_turns_pkey" PRIMARY KEY ("tenant_id","workspace_id","thread_id")
);

-- CreateIndex
CREATE INDEX "artifactr_turns_owed" ON "artifactr_turns"("owed");
