/** Who asks. */
import { builder } from '../builder.js'
import type { Caller } from '../context.js'
import { ActorInterface } from './actors.js'

const Viewer = builder.objectRef<Caller>('Viewer').implement({
  description: 'Who asks, as the credentials say.',
  fields: (t) => ({
    tenantId: t.exposeID('tenantId', { description: 'Whose workspaces these are.' }),
    actor: t.expose('actor', { type: ActorInterface, description: 'Whom everything is attributed to.' }),
  }),
})

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description: 'Who asks.',
    resolve: (_, __, { tenantId, actor }) => ({ tenantId, actor }),
  }),
)
