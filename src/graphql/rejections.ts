/** Refusals as members of the result unions (domain §6): one GraphQL type for each code of core. */
import {
  Forbidden,
  InvalidState,
  type InvalidStateReason,
  NotFound,
  PatchFailed,
  type Rejection,
  type RejectionCode,
  ValidationFailed,
  type ValidationIssue,
  VersionConflict,
} from '../core/rejections.js'
import { builder } from './builder.js'
import { enumOf } from './enums.js'

const RejectionCodeEnum = enumOf<RejectionCode>('RejectionCode', 'Why a command was refused.', {
  invalid_state: 'The workspace is not in a state in which the command can be carried out.',
  not_found: 'Something the command names does not exist.',
  version_conflict: 'The artifact has moved on from the version the change is based on.',
  validation_failed: 'The command or data in it is malformed.',
  patch_failed: 'The patch does not apply, or changes nothing.',
  forbidden: 'The caller may not do this.',
})

const InvalidStateReasonEnum = enumOf<InvalidStateReason>(
  'InvalidStateReason',
  'What about the state is in the way.',
  {
    already_exists: 'The id is used: an earlier attempt succeeded, or something else has it.',
    archived: 'The artifact is archived.',
    already_resolved: 'The proposal is accepted or rejected already.',
    already_answered: 'The request is answered already.',
    not_paused: 'The run is not paused.',
    wrong_answer: 'A question takes an answer, an approval takes a decision.',
    wrong_thread: 'The run belongs to another thread.',
    run_not_active: 'The run does not run.',
  },
)

const RejectionInterface = builder.interfaceRef<Rejection>('Rejection').implement({
  description: 'A refusal. It has changed nothing, and used up no id.',
  fields: (t) => ({
    code: t.expose('code', { type: RejectionCodeEnum, description: 'Stable, for programs.' }),
    message: t.exposeString('message', { description: 'For people.' }),
  }),
})
const interfaces = [RejectionInterface]

builder.objectType(InvalidState, {
  name: 'InvalidState',
  description:
    'The workspace is not in a state in which the command can be carried out; with reason ALREADY_EXISTS, ' +
    'the id is used.',
  interfaces,
  fields: (t) => ({
    reason: t.expose('reason', { type: InvalidStateReasonEnum, description: 'What is in the way.' }),
    entity: t.exposeString('entity', { nullable: true, description: 'The kind of thing it is about.' }),
    entityId: t.exposeID('id', { nullable: true, description: 'The id of the thing it is about.' }),
  }),
})

builder.objectType(NotFound, {
  name: 'NotFound',
  description: 'Something the command names does not exist in this workspace.',
  interfaces,
  fields: (t) => ({
    entity: t.exposeString('entity', { description: 'The kind of thing, such as `thread`.' }),
    entityId: t.exposeID('id', { description: 'The id that was not found.' }),
  }),
})

builder.objectType(VersionConflict, {
  name: 'VersionConflict',
  description: 'The artifact has moved on: read it again and base the change on its current version.',
  interfaces,
  fields: (t) => ({
    artifactId: t.exposeID('artifactId', { description: 'The artifact to be changed.' }),
    base: t.exposeInt('base', { description: 'The version the change is based on.' }),
    head: t.exposeInt('head', { description: 'The version the artifact is at.' }),
  }),
})

const ValidationIssueType = builder.objectRef<ValidationIssue>('ValidationIssue').implement({
  description: 'One thing that is wrong.',
  fields: (t) => ({
    path: t.stringList({
      description: 'The way from the input to the field that is wrong.',
      resolve: ({ path }) => [...path],
    }),
    message: t.exposeString('message', { description: 'What is wrong with it.' }),
  }),
})

builder.objectType(ValidationFailed, {
  name: 'ValidationFailed',
  description: 'The command is malformed, or data in it does not fit its type.',
  interfaces,
  fields: (t) => ({
    issues: t.field({
      type: [ValidationIssueType],
      description: 'Everything that is wrong, field by field.',
      resolve: ({ issues }) => [...issues],
    }),
  }),
})

builder.objectType(PatchFailed, {
  name: 'PatchFailed',
  description: 'The patch does not apply to the data, or changes nothing.',
  interfaces,
})

builder.objectType(Forbidden, {
  name: 'Forbidden',
  description: 'The caller may not do this, or may not use this workspace.',
  interfaces,
})

const rejectionTypes = {
  invalid_state: InvalidState,
  not_found: NotFound,
  version_conflict: VersionConflict,
  validation_failed: ValidationFailed,
  patch_failed: PatchFailed,
  forbidden: Forbidden,
} satisfies {
  readonly [Code in RejectionCode]: new (
    ...args: never[]
  ) => Rejection & { readonly code: Code }
}

/** Codes every command may be refused with: the caller may not, or the input is malformed. */
const always = ['forbidden', 'validation_failed'] as const satisfies RejectionCode[]

/** The refusals in a mutation's result union: these, `Forbidden` and `ValidationFailed`. */
export const refusals = (...codes: readonly Exclude<RejectionCode, (typeof always)[number]>[]) => ({
  types: [...codes, ...always].map((code) => rejectionTypes[code]),
})
