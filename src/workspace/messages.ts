/** Messages, which are events of the log and no entities. */
import type { Envelope } from '../core/envelopes.js'
import type { EventOf } from '../core/events.js'

/** A posted message: its event, with its place in the log. */
export type Message = Envelope & { readonly event: EventOf<'message_posted'> }

export const isMessage = (envelope: Envelope): envelope is Message =>
  envelope.event.type === 'message_posted' && !('unknown' in envelope.event)
