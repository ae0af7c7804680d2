/** What every recipe knows of the log: how to ask for it, and where a frame brings its reader. */

export const EVENTS = `subscription Events($workspaceId: ID!, $afterSeq: Seq) {
  events(workspaceId: $workspaceId, afterSeq: $afterSeq) {
    __typename
    ... on Envelope { seq event { type } }
    ... on ReplayComplete { upToSeq }
    ... on LogReset { headSeq }
  }
}`

export type Frame =
  | { readonly __typename: 'Envelope'; readonly seq: number; readonly event: { readonly type: string } }
  | { readonly __typename: 'ReplayComplete'; readonly upToSeq: number }
  | { readonly __typename: 'LogReset'; readonly headSeq: number }

/** Where to go on after a frame. A reset begins a new log: whatever was kept of the old one is to be discarded. */
export const positionAfter = (frame: Frame): number => {
  switch (frame.__typename) {
    case 'Envelope':
      return frame.seq
    case 'ReplayComplete':
      return frame.upToSeq
    case 'LogReset':
      return 0
  }
}

/** Variables whose `afterSeq` is the last position that came, whenever they are read: a client reads them at each new connection. */
export const resuming = (given: { readonly [name: string]: unknown }) => {
  let position = given['afterSeq']
  const variables = {
    ...given,
    get afterSeq() {
      return position
    },
  }
  const came = (frame: Frame | undefined): void => {
    if (frame) position = positionAfter(frame)
  }
  return { variables, came }
}
