/** The library: a gateway inside an application that brings its own types, authentication and storage. */
export { createGateway, type Gateway, type GatewayOptions } from './app.js'
export { type Actor, type ActorKind, displayName, isAgent, participantKey } from './core/actors.js'
export {
  type ArtifactDefinition,
  type ArtifactType,
  defineArtifact,
  defineTextArtifact,
  type TextArtifactDefinition,
  type WritePolicy,
} from './core/artifacts.js'
export { checklist, helpfulness, note } from './core/builtin.js'
export { type Definitions, type DomainOptions, defaultDefinitions, defineDomain } from './core/context.js'
export type { Envelope, Seq } from './core/envelopes.js'
export type { Event, EventOf, EventType, UnknownEvent } from './core/events.js'
export { defineFeedback, type FeedbackDefinition, type FeedbackType } from './core/feedback.js'
export { changeNotes } from './core/notes.js'
export * from './core/rejections.js'
export type { Authorize, Caller } from './graphql/context.js'
export { serializeError } from './http/errorLog.js'
export {
  headerAuth,
  IdentityUnavailable,
  insecureHeaderAuth,
  type ResolveActor,
  Unauthenticated,
} from './http/identity/auth.js'
export type { KeySetOptions } from './http/identity/jwks.js'
export { type JwtOptions, jwtAuth } from './http/identity/jwt.js'
export type { Peer } from './http/identity/peer.js'
export type { GatewayLimits } from './http/limits/limits.js'
export type { CorsOptions } from './http/origins.js'
export type { StreamOptions } from './http/streams/streams.js'
export type { UpgradeListener } from './http/streams/websocket.js'
export {
  InvalidTrustedDocuments,
  readTrustedDocuments,
  type TrustedDocuments,
} from './http/trustedDocuments.js'
export type { Agent, Answered, LivePart, Step, Turn, Usage } from './runner/agent.js'
export { echoAgent } from './runner/agents/echo.js'
export { Followers, type FollowersOptions, type LogSource } from './storage/follow.js'
export { MemoryStorage } from './storage/memory.js'
export type { Connections, Round, StorageObserver } from './storage/observer.js'
export * from './storage/port.js'
export {
  MigrationFailed,
  type MigrationProblem,
  migrate,
  pendingMigrations,
} from './storage/prisma/migrate.js'
export { openPrismaStorage, type PrismaStorageOptions } from './storage/prisma/open.js'
export type { Unreadable } from './storage/unreadable.js'
export {
  type CarriedOut,
  type CommitOptions,
  type CommitOutcome,
  type Committed,
  type FollowRequest,
  type LogFrame,
  type LogReset,
  type Message,
  type ReplayComplete,
  Workspace,
  type WorkspaceObserver,
} from './workspace/workspace.js'
export { Workspaces, type WorkspacesOptions } from './workspace/workspaces.js'
