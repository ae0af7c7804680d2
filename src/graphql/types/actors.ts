/** Who does something (domain §3). */
import { type Actor, type ActorKind, displayName } from '../../core/actors.js'
import { builder } from '../builder.js'
import { enumOf } from '../enums.js'

type ActorOf<Kind extends ActorKind> = Extract<Actor, { kind: Kind }>

const ActorKindEnum = enumOf<ActorKind>('ActorKind', 'What kind of participant an actor is.', {
  user: 'A person.',
  agent: 'The agent of a thread.',
  external_agent: 'An agent that connects from outside.',
  system: 'The application itself.',
  evaluator: 'Something that gives feedback, and nothing else.',
})

export const ActorInterface = builder.interfaceRef<Actor>('Actor')
const interfaces = [ActorInterface]

const UserActor = builder.objectRef<ActorOf<'user'>>('UserActor').implement({
  description: 'A person.',
  interfaces,
  fields: (t) => ({
    userId: t.exposeID('id', { description: "The person's id in the application." }),
    name: t.exposeString('name', { nullable: true, description: "The person's name, if it is known." }),
  }),
})

const AgentActor = builder.objectRef<ActorOf<'agent'>>('AgentActor').implement({
  description: 'The agent of a thread. Every run of it is the same participant.',
  interfaces,
  fields: (t) => ({
    threadId: t.exposeID('threadId', { description: 'The thread whose agent it is.' }),
    runId: t.exposeID('runId', { nullable: true, description: 'The run it acts in.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
  }),
})

const ExternalAgentActor = builder.objectRef<ActorOf<'external_agent'>>('ExternalAgentActor').implement({
  description: 'An agent that connects from outside. Write policies bind it as they bind agents of threads.',
  interfaces,
  fields: (t) => ({
    clientId: t.exposeID('clientId', { description: 'The client it connects as.' }),
    name: t.exposeString('name', { nullable: true, description: 'Its name, if it has one.' }),
  }),
})

const SystemActor = builder.objectRef<ActorOf<'system'>>('SystemActor').implement({
  description: 'The application itself, or a part of it.',
  interfaces,
  fields: (t) => ({ name: t.exposeString('name', { description: 'Which part.' }) }),
})

const EvaluatorActor = builder.objectRef<ActorOf<'evaluator'>>('EvaluatorActor').implement({
  description: 'Something that judges results. It may give feedback, and nothing else.',
  interfaces,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    version: t.exposeString('version', { description: 'The version of it that judged.' }),
  }),
})

const actorTypes = {
  user: UserActor,
  agent: AgentActor,
  external_agent: ExternalAgentActor,
  system: SystemActor,
  evaluator: EvaluatorActor,
} satisfies Record<ActorKind, unknown>

ActorInterface.implement({
  description: 'Who does something. Every event is attributed to exactly one.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ActorKindEnum, description: 'What kind of participant it is.' }),
    displayName: t.string({ description: 'A name to show: its own, else its id.', resolve: displayName }),
  }),
  resolveType: ({ kind }) => actorTypes[kind],
})
