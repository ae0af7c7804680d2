/** Ids for what a caller leaves unnamed (domain §2): a prefix that tells the kind, a time so that they sort, and chance. */
import { randomBytes } from 'node:crypto'
import type { CommandInput } from '../core/commands.js'

export type IdPrefix = 'thr' | 'msg' | 'art' | 'prp' | 'run' | 'evt'

/** Such as `msg_1k8lqvm3p1gtn3koc30pdfbbhfr`: 45 bits of time in milliseconds and 90 of chance, in base 32. */
export const newId = (prefix: IdPrefix): string => {
  const time = Date.now().toString(32).padStart(9, '0')
  const chance = [...randomBytes(18)].map((byte) => (byte & 31).toString(32)).join('')
  return `${prefix}_${time}${chance}`
}

type Optional<Item, Key extends keyof Item> = Omit<Item, Key> & { [K in Key]?: Item[K] | undefined }
type Of<Type extends CommandInput['type']> = Extract<CommandInput, { type: Type }>
type Change = Of<'propose_change'>['change']
type Creation = Extract<Change, { type: 'create' }>

/** A command whose caller may leave out the ids of what it creates. */
export type CommandRequest =
  | Optional<Of<'create_thread'>, 'threadId'>
  | Optional<Of<'post_message'>, 'messageId'>
  | Optional<Of<'create_artifact'>, 'artifactId' | 'proposalId'>
  | Optional<Of<'edit_artifact'>, 'proposalId'>
  | Optional<Of<'archive_artifact'>, 'proposalId'>
  | (Omit<Of<'propose_change'>, 'proposalId' | 'change'> & {
      proposalId?: string | undefined
      change: Exclude<Change, Creation> | Optional<Creation, 'artifactId'>
    })
  | Of<'set_focus' | 'set_thread_mode' | 'respond_to_proposal' | 'answer_deferred' | 'give_feedback'>

/** The command with every id in it. */
export const withIds = (request: CommandRequest): CommandInput => {
  switch (request.type) {
    case 'create_thread':
      return { ...request, threadId: request.threadId ?? newId('thr') }
    case 'post_message':
      return { ...request, messageId: request.messageId ?? newId('msg') }
    case 'create_artifact':
      return {
        ...request,
        artifactId: request.artifactId ?? newId('art'),
        proposalId: request.proposalId ?? newId('prp'),
      }
    case 'edit_artifact':
    case 'archive_artifact':
      return { ...request, proposalId: request.proposalId ?? newId('prp') }
    case 'propose_change': {
      const { change } = request
      return {
        ...request,
        proposalId: request.proposalId ?? newId('prp'),
        change:
          change.type === 'create' ? { ...change, artifactId: change.artifactId ?? newId('art') } : change,
      }
    }
    case 'set_focus':
    case 'set_thread_mode':
    case 'respond_to_proposal':
    case 'answer_deferred':
    case 'give_feedback':
      return request
  }
}
