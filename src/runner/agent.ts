/**
 * The agent port (domain §11): what a turn is given, and what it yields. An agent decides nothing about turns: when it is asked, what of it
 * is recorded and when it has to stop is the runner's business.
 */
import type { DeferredAnswer, DeferredRequest } from '../core/entities.js'
import type { JsonValue } from '../core/json.js'
import type { ChangeNote } from '../core/notes.js'
import type { Workspace } from '../workspace/workspace.js'

/** Something that is being produced, as it is produced. It goes to whoever watches the run and is not in the log. */
export type LivePart =
  | {
      readonly type: 'part_started'
      readonly part: number
      readonly kind: PartKind
      readonly toolName?: string | undefined
    }
  | {
      readonly type: 'text_delta' | 'reasoning_delta' | 'tool_args_delta'
      readonly part: number
      readonly delta: string
    }
  | { readonly type: 'part_ended'; readonly part: number }
  | {
      readonly type: 'artifact_draft'
      readonly artifactId?: string | undefined
      readonly kind: string
      readonly data: JsonValue
    }
  | { readonly type: 'app_live'; readonly name: string; readonly data: JsonValue }

export type PartKind = 'text' | 'reasoning' | 'tool_call'

export interface Usage {
  readonly requests: number
  readonly inputTokens: number
  readonly outputTokens: number
}

/** What an agent yields, in the order in which it happens. */
export type Step =
  | LivePart
  | {
      readonly type: 'tool_called'
      readonly toolCallId: string
      readonly toolName: string
      readonly argsSummary: string
    }
  | {
      readonly type: 'tool_returned'
      readonly toolCallId: string
      readonly status: 'ok' | 'error' | 'retry'
      readonly summary: string
    }
  /** A message of the agent in its thread. */
  | { readonly type: 'reply'; readonly content: string }
  /** The run waits for these, at least one, and the turn is over. */
  | { readonly type: 'pause'; readonly requests: readonly DeferredRequest[] }
  /** What the turn has used so far. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** What to give back as `history` next time, kept when the turn ends or pauses. Opaque to the runner. */
  | { readonly type: 'history'; readonly history: Uint8Array }

/** An answer to something a turn had asked for. */
export interface Answered {
  readonly request: DeferredRequest
  readonly answer: DeferredAnswer
}

export interface Turn {
  /** The workspace, acted in as this run's agent. */
  readonly workspace: Workspace
  readonly threadId: string
  readonly runId: string
  /** The message that asked for the turn; `null` when it goes on with answers. */
  readonly prompt: string | null
  /** What the run had asked for when it paused, with the answers; empty for a new run. */
  readonly answers: readonly Answered[]
  /** What the agent kept of the thread last, or `null`. */
  readonly history: Uint8Array | null
  /** What others did since the agent was last at work in the thread. */
  changeNotes(): Promise<readonly ChangeNote[]>
  /**
   * The messages that arrived meanwhile, oldest first. To ask is to take: each is given to one turn, and what a turn does not ask for asks
   * for the next.
   */
  steering(): Promise<readonly string[]>
  /** Aborted when the run is stopped or the thread was lost: nothing said after that is recorded. */
  readonly signal: AbortSignal
}

export interface Agent {
  /** The name its actor has. `assistant` when left out. */
  readonly name?: string | undefined
  run(turn: Turn): AsyncIterable<Step>
}
