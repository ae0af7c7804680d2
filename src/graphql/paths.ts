/** Where in a mutation's input a field of its command came from: core names the one, a client filled in the other. */
import { ValidationFailed } from '../core/rejections.js'
import type { CommandRequest } from '../workspace/ids.js'

/** The same refusal, its paths leading through the input. Other errors are left as they are. */
export const asInputPaths = (error: unknown, command: CommandRequest): unknown =>
  error instanceof ValidationFailed
    ? new ValidationFailed(
        error.message,
        error.issues.map(({ path, message }) => ({ path: inputPath(path, command), message })),
      )
    : error

const inputPath = (path: readonly string[], command: CommandRequest): readonly string[] => {
  const [field = '', ...rest] = path
  if (field === 'change' && command.type === 'propose_change') {
    const [inner = '', ...below] = rest
    return [field, command.change.type, ...(inner === 'patch' ? ofPatch(inner, below) : rest)]
  }
  return field === 'patch' || field === 'changes' ? ofPatch(field, rest) : path
}

/** A patch is one of two in the input. */
const ofPatch = (field: string, [part, ...rest]: readonly string[]): readonly string[] => {
  switch (part) {
    case undefined:
      return [field]
    case 'ops':
      return [field, 'jsonPatch', ...rest]
    default:
      return [field, 'textEdits', part, ...rest]
  }
}
