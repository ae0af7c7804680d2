/** Events of artifacts. They concern the whole workspace, whichever thread they came from. */
import type { EventOf } from '../../../core/events.js'
import { builder } from '../../builder.js'
import { CONTENT } from '../../cost.js'
import { jsonOf } from '../../json.js'
import { PatchUnion } from '../patches.js'
import { interfaces } from './event.js'

const proposalId = { nullable: true, description: 'The proposal that was accepted with it.' } as const

export const ArtifactCreatedEvent = builder
  .objectRef<EventOf<'artifact_created'>>('ArtifactCreatedEvent')
  .implement({
    description: 'An artifact was created.',
    interfaces,
    fields: (t) => ({
      artifactId: t.exposeID('artifactId', { description: 'The artifact.' }),
      kind: t.exposeString('kind', { description: 'Its type.' }),
      version: t.exposeInt('version', { description: 'Its version: 1.' }),
      data: t.field({
        type: 'JSON',
        complexity: CONTENT,
        description: 'Its data.',
        resolve: ({ data }) => jsonOf(data),
      }),
      proposalId: t.exposeID('proposalId', proposalId),
    }),
  })

export const ArtifactChangedEvent = builder
  .objectRef<EventOf<'artifact_changed'>>('ArtifactChangedEvent')
  .implement({
    description: "An artifact's data was changed.",
    interfaces,
    fields: (t) => ({
      artifactId: t.exposeID('artifactId', { description: 'The artifact.' }),
      kind: t.exposeString('kind', { description: 'Its type.' }),
      version: t.exposeInt('version', { description: 'The version it is at since.' }),
      patch: t.expose('patch', {
        type: PatchUnion,
        description: 'The change: applied to the version before, it gives this one.',
      }),
      summary: t.exposeString('summary', { description: 'The change in a few words.' }),
      proposalId: t.exposeID('proposalId', proposalId),
    }),
  })

export const ArtifactArchivedEvent = builder
  .objectRef<EventOf<'artifact_archived'>>('ArtifactArchivedEvent')
  .implement({
    description: 'An artifact was archived. It stays readable.',
    interfaces,
    fields: (t) => ({
      artifactId: t.exposeID('artifactId', { description: 'The artifact.' }),
      kind: t.exposeString('kind', { description: 'Its type.' }),
      version: t.exposeInt('version', { description: 'The version it is at since.' }),
      proposalId: t.exposeID('proposalId', proposalId),
    }),
  })
