import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, Observable } from '@apollo/client'
import { OperationTypeNode, parse, print } from 'graphql'
import type { Client as Socket } from 'graphql-ws'
import { EVENTS, type Frame, resuming } from './position.js'

/** In the place of `GraphQLWsLink`, which would send the variables again as they were when the subscription began. */
const resumingLink = (socket: Socket): ApolloLink =>
  new ApolloLink(
    ({ query, operationName, variables: given }) =>
      new Observable((observer) => {
        const { variables, came } = resuming(given)
        return socket.subscribe<{ events?: Frame }>(
          { query: print(query), operationName, variables },
          {
            next: ({ data = null, errors }) => {
              came(data?.events)
              observer.next({ data, ...(errors && { errors }) })
            },
            error: (error) => observer.error(error),
            complete: () => observer.complete(),
          },
        )
      }),
  )

export const createApolloClient = (url: string, socket: Socket): ApolloClient =>
  new ApolloClient({
    cache: new InMemoryCache({
      possibleTypes: { LogFrame: ['Envelope', 'ReplayComplete', 'LogReset'] },
    }),
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      resumingLink(socket),
      new HttpLink({ uri: url }),
    ),
  })

/** The log is a stream and nothing to be cached: what is to be kept of it is the application's to say. */
export const followLog = (
  client: ApolloClient,
  workspaceId: string,
  afterSeq: number | null,
  onFrame: (frame: Frame) => void,
  onRefused: (error: unknown) => void,
): (() => void) => {
  const events = client.subscribe<{ events: Frame }>({
    query: parse(EVENTS),
    variables: { workspaceId, afterSeq },
    fetchPolicy: 'no-cache',
  })
  const subscription = events.subscribe(({ data, error }) => {
    if (error) onRefused(error)
    if (data) onFrame(data.events)
  })
  return () => subscription.unsubscribe()
}
