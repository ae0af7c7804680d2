import { readdirSync, readFileSync } from 'node:fs'
import { getNamedType, isUnionType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type CommandType, commandSchema } from '../../src/core/commands.js'
import type { RejectionCode } from '../../src/core/rejections.js'
import { createSchema } from '../../src/graphql/schema.js'

/** What each command, and the one fact clients may record, can be refused with. */
const refusals = {
  create_thread: ['createThread', ['invalid_state', 'forbidden', 'validation_failed']],
  post_message: ['postMessage', ['invalid_state', 'not_found', 'forbidden', 'validation_failed']],
  set_focus: ['setThreadFocus', ['not_found', 'forbidden', 'validation_failed']],
  set_thread_mode: ['setThreadMode', ['not_found', 'forbidden', 'validation_failed']],
  create_artifact: ['createArtifact', ['invalid_state', 'not_found', 'forbidden', 'validation_failed']],
  edit_artifact: [
    'editArtifact',
    ['invalid_state', 'not_found', 'version_conflict', 'patch_failed', 'forbidden', 'validation_failed'],
  ],
  archive_artifact: [
    'archiveArtifact',
    ['invalid_state', 'not_found', 'version_conflict', 'forbidden', 'validation_failed'],
  ],
  propose_change: [
    'proposeChange',
    ['invalid_state', 'not_found', 'version_conflict', 'patch_failed', 'forbidden', 'validation_failed'],
  ],
  respond_to_proposal: [
    'respondToProposal',
    ['invalid_state', 'not_found', 'patch_failed', 'forbidden', 'validation_failed'],
  ],
  answer_deferred: ['answerDeferred', ['invalid_state', 'not_found', 'forbidden', 'validation_failed']],
  give_feedback: ['giveFeedback', ['invalid_state', 'not_found', 'forbidden', 'validation_failed']],
  app_event: ['recordAppEvent', ['not_found', 'forbidden', 'validation_failed']],
  stop_run: ['stopRun', ['not_found', 'forbidden', 'validation_failed']],
} as const satisfies Record<
  CommandType | 'app_event' | 'stop_run',
  readonly [string, readonly RejectionCode[]]
>

const caseSchema = z.array(
  z.object({
    name: z.string(),
    command: z.object({ type: z.string() }).optional(),
    fact: z.object({ type: z.string() }).optional(),
    expected: z.object({ rejection: z.object({ code: z.string() }).optional() }),
  }),
)

const casesOf = (folder: URL) =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== 'notes.json')
    .flatMap((file) => caseSchema.parse(JSON.parse(readFileSync(new URL(file, folder), 'utf8'))))

const typeName = (code: string) =>
  code
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

describe('the refusals of a command', () => {
  const mutations = createSchema().getMutationType()?.getFields() ?? {}

  for (const [command, [mutation, codes]] of Object.entries(refusals)) {
    it(`are the refusals in the result of ${mutation}, for ${command}`, () => {
      const union = getNamedType(mutations[mutation]?.type)
      const members = isUnionType(union) ? union.getTypes().map(({ name }) => name) : []
      const refused = members.filter((name) => !/Success|ArtifactApplied|ChangeProposed/.test(name))
      expect(refused.sort()).toEqual(codes.map(typeName).sort())
    })
  }

  it('are all that the cases of core know', () => {
    const known = new Map<string, readonly string[]>(
      Object.entries(refusals).map(([command, [, codes]]) => [command, codes]),
    )
    const seen = casesOf(new URL('../core/cases/', import.meta.url)).flatMap(
      ({ name, command, fact, expected: { rejection } }) => {
        const codes = known.get(command?.type ?? fact?.type ?? '')
        return rejection === undefined || codes === undefined ? [] : [{ name, code: rejection.code, codes }]
      },
    )
    expect(seen.length).toBeGreaterThan(50)
    expect(seen.filter(({ code, codes }) => !codes.includes(code))).toEqual([])
  })

  it('are known for every mutation there is', () => {
    const known = Object.values(refusals).map(([mutation]) => mutation)
    expect(Object.keys(mutations).sort()).toEqual(known.sort())
    expect(commandSchema.options.map(({ shape }) => shape.type.value)).toEqual(
      Object.keys(refusals).filter((command) => command !== 'app_event' && command !== 'stop_run'),
    )
  })
})
