/** Threads and their messages (domain §5). */
import type { CommandOf } from '../commands.js'
import type { Thread } from '../entities.js'
import { jsonEqual } from '../json.js'
import { alreadyExists, NotFound } from '../rejections.js'
import type { Rule } from '../rule.js'
import { messageUsedIn, result, type State, threadIn } from '../state.js'
import { existingArtifact } from './targets.js'

/** @throws NotFound */
export const existingThread = (state: State, id: string): Thread => {
  const thread = threadIn(state, id)
  if (thread === null) throw new NotFound('thread', id)
  return thread
}

export const createThread: Rule<CommandOf<'create_thread'>> = {
  needs: ({ threadId }) => ({ threads: [threadId] }),
  decide: ({ threadId, title }, state) => {
    if (threadIn(state, threadId) !== null) throw alreadyExists('thread', threadId)
    return result({ type: 'recorded' }, [{ event: { type: 'thread_created', threadId, title }, threadId }], {
      threads: [{ id: threadId, title, mode: 'edit', focus: [] }],
    })
  },
}

/** A message id is used once in a workspace, in whichever thread (ADR-0045). */
export const postMessage: Rule<CommandOf<'post_message'>> = {
  needs: ({ threadId, messageId }) => ({
    threads: [threadId],
    messages: [messageId],
  }),
  decide: ({ threadId, messageId, content, kind }, state, { actor }) => {
    existingThread(state, threadId)
    if (messageUsedIn(state, messageId)) throw alreadyExists('message', messageId)
    const runId = actor.kind === 'agent' ? actor.runId : undefined
    return result(
      { type: 'recorded' },
      [
        {
          event: {
            type: 'message_posted',
            threadId,
            messageId,
            content,
            kind,
            runId,
          },
          threadId,
          runId,
        },
      ],
      { messages: [messageId] },
    )
  },
}

/** Duplicates are dropped and the order is kept. A focus that is the same, in the same order, is left as it is. */
export const setFocus: Rule<CommandOf<'set_focus'>> = {
  needs: ({ threadId, artifactIds }) => ({ threads: [threadId], artifacts: artifactIds }),
  decide: ({ threadId, artifactIds }, state) => {
    const thread = existingThread(state, threadId)
    const focus = [...new Set(artifactIds)]
    for (const id of focus) existingArtifact(state, id)
    if (jsonEqual(thread.focus, focus)) return result({ type: 'recorded' }, [])
    return result(
      { type: 'recorded' },
      [{ event: { type: 'focus_changed', threadId, artifactIds: focus }, threadId }],
      { threads: [{ ...thread, focus }] },
    )
  },
}

export const setThreadMode: Rule<CommandOf<'set_thread_mode'>> = {
  needs: ({ threadId }) => ({ threads: [threadId] }),
  decide: ({ threadId, mode }, state) => {
    const thread = existingThread(state, threadId)
    if (thread.mode === mode) return result({ type: 'recorded' }, [])
    return result(
      { type: 'recorded' },
      [{ event: { type: 'thread_mode_changed', threadId, mode }, threadId }],
      { threads: [{ ...thread, mode }] },
    )
  },
}
