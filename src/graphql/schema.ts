/** The whole schema. Each noun adds its types, queries and mutations to the builder. */
import { type GraphQLSchema, printSchema } from 'graphql'
import { builder } from './builder.js'
import { charged } from './cost.js'
import { weighed } from './weight.js'
import './scalars.js'
import './rejections.js'
import './types/node.js'
import './types/viewer.js'
import './types/workspaces.js'
import './types/threads.js'
import './types/messages.js'
import './types/artifacts.js'
import './types/proposals.js'
import './types/runs.js'
import './types/log.js'
import './types/notes.js'
import './types/definitions.js'
import './mutations/threads.js'
import './mutations/messages.js'
import './mutations/artifacts.js'
import './mutations/proposals.js'
import './mutations/runs.js'
import './mutations/feedback.js'
import './subscriptions/events.js'
import './subscriptions/runOutput.js'

/** Types and fields stand in the order in which the modules above give them. */
export const createSchema = (): GraphQLSchema => charged(weighed(builder.toSchema({ sortSchema: false })))

/** The schema as it is committed in `schema.graphql`. */
export const printedSchema = (): string => `${printSchema(createSchema())}\n`
