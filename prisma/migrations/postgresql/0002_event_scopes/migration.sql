-- Events get the columns that reads filter on, filled from the stored envelopes.
--
-- PostgreSQL reads nothing out of a JSON text that holds, anywhere inside, an escape its text type cannot keep (a NUL, half a surrogate
-- pair), and logs written before such text was refused may hold some. In the copy that is read here, not in the log, a stand-in takes
-- their place. Writing an escaped backslash as \u005c first leaves no backslash that does not begin an escape.

-- CreateFunction
CREATE FUNCTION "artifactr_readable"(envelope TEXT, stand_in TEXT) RETURNS JSON LANGUAGE SQL IMMUTABLE AS $$
    SELECT CASE WHEN strpos(envelope, '\u') = 0 THEN envelope
        ELSE regexp_replace(
            replace(envelope, '\\', '\u005c'),
            '\\u(0000|[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u)[dD][c-fC-F]..)',
            stand_in, 'g')
    END::json
$$;

-- AlterTable
ALTER TABLE "artifactr_events" ADD COLUMN "type" TEXT,
ADD COLUMN "thread_id" TEXT,
ADD COLUMN "run_id" TEXT;

-- Fill: the table is written once, where an UPDATE would leave every row behind twice
ALTER TABLE "artifactr_events"
ALTER COLUMN "type" TYPE TEXT USING COALESCE("artifactr_readable"("envelope", U&'\FFFD') #>> '{event,type}', ''),
ALTER COLUMN "thread_id" TYPE TEXT USING "artifactr_readable"("envelope", U&'\FFFD') #>> '{thread_id}',
ALTER COLUMN "run_id" TYPE TEXT USING "artifactr_readable"("envelope", U&'\FFFD') #>> '{run_id}',
ALTER COLUMN "type" SET NOT NULL;

-- DropFunction
DROP FUNCTION "artifactr_readable";

-- CreateIndex
CREATE INDEX "artifactr_events_thread_type" ON "artifactr_events"("tenant_id", "workspace_id", "thread_id", "type", "seq");

-- CreateIndex
CREATE INDEX "artifactr_events_type" ON "artifactr_events"("tenant_id", "workspace_id", "type", "seq");
