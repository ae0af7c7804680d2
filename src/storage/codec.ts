/** Entities as stored: JSON text, parsed when it is read. */
import type { ZodType } from 'zod'
import {
  artifactSchema,
  proposalSchema,
  type Revision,
  revisionSchema,
  runSchema,
  threadSchema,
} from '../core/entities.js'
import type { Entities, ListedKind } from './staging.js'

const schemas: { readonly [Kind in ListedKind]: ZodType<Entities[Kind]> } = {
  artifacts: artifactSchema,
  proposals: proposalSchema,
  threads: threadSchema,
  runs: runSchema,
}

/** @throws SyntaxError or ZodError when the text is no such entity. */
export const parseEntity = <Kind extends ListedKind>(kind: Kind, body: string): Entities[Kind] =>
  schemas[kind].parse(JSON.parse(body))

export const parseRevision = (body: string): Revision => revisionSchema.parse(JSON.parse(body))
