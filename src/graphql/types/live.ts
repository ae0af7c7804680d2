/** Live output of runs: what is being produced, as it is produced. It is not in the log. */
import type { PartKind } from '../../runner/agent.js'
import type { LiveFrame } from '../../runner/live.js'
import { builder } from '../builder.js'
import { enumOf } from '../enums.js'
import { jsonOf } from '../json.js'

/** A frame of a run's output, or the one that says where the output is instead. */
export type LiveModel = LiveFrame | { readonly type: 'run_elsewhere'; readonly runId: string }
type Of<Type extends LiveModel['type']> = Extract<LiveModel, { type: Type }>

const PartKindEnum = enumOf<PartKind>('PartKind', 'What a part of the output is.', {
  text: 'What the agent says.',
  reasoning: 'What it thinks.',
  tool_call: 'The arguments of a tool call.',
})

const run = { description: 'The run.' }
const part = { description: 'Which part of the output: parts are numbered within a run.' }

const PartStarted = builder.objectRef<Of<'part_started'>>('PartStarted').implement({
  description: 'A part of the output begins.',
  fields: (t) => ({
    runId: t.exposeID('runId', run),
    part: t.exposeInt('part', part),
    partKind: t.expose('kind', { type: PartKindEnum, description: 'What it is.' }),
    toolName: t.exposeString('toolName', { nullable: true, description: 'The tool, for a tool call.' }),
  }),
})

type Delta = Extract<LiveFrame, { readonly delta: string }>

const delta = (name: string, description: string) =>
  builder.objectRef<Delta>(name).implement({
    description,
    fields: (t) => ({
      runId: t.exposeID('runId', run),
      part: t.exposeInt('part', part),
      delta: t.exposeString('delta', { description: 'What comes next in the part.' }),
    }),
  })

const PartEnded = builder.objectRef<Of<'part_ended'>>('PartEnded').implement({
  description: 'A part of the output is complete.',
  fields: (t) => ({ runId: t.exposeID('runId', run), part: t.exposeInt('part', part) }),
})

const ArtifactDraft = builder.objectRef<Of<'artifact_draft'>>('ArtifactDraft').implement({
  description: 'An artifact as the agent is drafting it. It is not stored.',
  fields: (t) => ({
    runId: t.exposeID('runId', run),
    artifactId: t.exposeID('artifactId', {
      nullable: true,
      description: 'The artifact, if it exists already.',
    }),
    kind: t.exposeString('kind', { description: 'Its type.' }),
    data: t.field({ type: 'JSON', description: 'Its data so far.', resolve: ({ data }) => jsonOf(data) }),
  }),
})

const AppLive = builder.objectRef<Of<'app_live'>>('AppLive').implement({
  description: "Something of the application's own.",
  fields: (t) => ({
    runId: t.exposeID('runId', run),
    name: t.exposeString('name', { description: 'What it is, by the application.' }),
    data: t.expose('data', { type: 'JSON', nullable: true, description: 'What it says.' }),
  }),
})

const RunElsewhere = builder.objectRef<Of<'run_elsewhere'>>('RunElsewhere').implement({
  description:
    'The last frame when another process carries the run out: its output is there, and the log has the result.',
  fields: (t) => ({ runId: t.exposeID('runId', run) }),
})

const liveTypes = {
  part_started: PartStarted,
  text_delta: delta('TextDelta', 'More of what the agent says.'),
  reasoning_delta: delta('ReasoningDelta', 'More of what it thinks.'),
  tool_args_delta: delta('ToolArgsDelta', 'More of the arguments of a tool call.'),
  part_ended: PartEnded,
  artifact_draft: ArtifactDraft,
  app_live: AppLive,
  run_elsewhere: RunElsewhere,
} satisfies Record<LiveModel['type'], unknown>

export const LiveFrameUnion = builder.unionType('LiveFrame', {
  description: 'A frame of a run’s live output.',
  types: Object.values(liveTypes),
  resolveType: ({ type }) => liveTypes[type],
})
