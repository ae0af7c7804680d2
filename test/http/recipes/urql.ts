import { Client, fetchExchange, subscriptionExchange } from '@urql/core'
import type { Client as Socket } from 'graphql-ws'
import { type Frame, resuming } from './position.js'

/** Every subscription that takes `afterSeq` goes on, after each new connection, after the last position that came. */
export const createUrqlClient = (url: string, socket: Socket): Client =>
  new Client({
    url,
    preferGetMethod: false,
    exchanges: [
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables: given = {} }) => {
          const { variables, came } = resuming(given)
          return {
            subscribe: (sink) => ({
              unsubscribe: socket.subscribe<{ events?: Frame }>(
                { query, variables },
                {
                  next: ({ data = null, errors }) => {
                    came(data?.events)
                    sink.next({ data, ...(errors && { errors }) })
                  },
                  error: (error) => sink.error(error),
                  complete: () => sink.complete(),
                },
              ),
            }),
          }
        },
      }),
    ],
  })
