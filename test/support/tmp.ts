/** Directories that are gone when the test is over. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'

/** An empty directory for the running test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'artifactr-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
