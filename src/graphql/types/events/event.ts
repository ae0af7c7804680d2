/** What every event has; `log.ts` implements it, where all types of events are known. */
import type { Event, UnknownEvent } from '../../../core/events.js'
import { builder } from '../../builder.js'

export const EventInterface = builder.interfaceRef<Event | UnknownEvent>('Event')
export const interfaces = [EventInterface]
