/** Who asks, found out: what an application's `resolveActor` says, once it was looked at. */
import type { GraphQLError } from 'graphql'
import { z } from 'zod'
import { actorSchema } from '../../core/actors.js'
import { idSchema } from '../../core/text.js'
import type { Caller } from '../../graphql/context.js'
import { refusal } from '../errors.js'
import { type ResolveActor, Unauthenticated } from './auth.js'
import type { Peer } from './peer.js'

const callerSchema = z.object({
  tenantId: idSchema,
  actor: actorSchema,
  expiresAt: z.number().optional(),
  workspaces: z.array(idSchema).optional(),
})

/** @throws GraphQLError with code UNAUTHENTICATED, or whatever is wrong with `resolveActor`. */
export const authenticated = async (
  request: Request,
  peer: Peer,
  resolveActor: ResolveActor,
): Promise<Caller> => {
  try {
    const caller = callerSchema.parse(await resolveActor(request, peer))
    if (caller.expiresAt !== undefined && caller.expiresAt <= Date.now())
      throw new Unauthenticated('the credentials have expired')
    return caller
  } catch (error) {
    throw error instanceof Unauthenticated ? unauthenticated(error) : error
  }
}

const unauthenticated = ({ message, challenge }: Unauthenticated): GraphQLError =>
  refusal(
    401,
    'UNAUTHENTICATED',
    message,
    challenge === undefined
      ? {}
      : { headers: { 'www-authenticate': challenge.replaceAll(/[^\x20-\x7e]/g, '?') } },
  )
