/** An application's own events (domain §5). */
import type { FactOf } from '../facts.js'
import type { Rule } from '../rule.js'
import { result } from '../state.js'
import { existingThread } from './threads.js'

export const recordAppEvent: Rule<FactOf<'app_event'>> = {
  needs: ({ threadId }) => ({ threads: threadId === undefined ? [] : [threadId] }),
  decide: ({ name, data, threadId, runId }, state) => {
    if (threadId !== undefined) existingThread(state, threadId)
    return result({ type: 'recorded' }, [{ event: { type: 'app_event', name, data }, threadId, runId }])
  },
}
