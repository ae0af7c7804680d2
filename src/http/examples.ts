/** The operations GraphiQL opens with: they show, one after the other, that a message id is used once. */

const CREATE_THREAD = `# 1. A thread to post in.
#    Workspaces need no creating.
mutation CreateThread {
  createThread(input: {
    workspaceId: "demo"
    threadId: "t1"
    title: "Hello"
  }) {
    __typename
    ... on CreateThreadSuccess {
      thread { threadId title }
      seq
    }
    ... on Rejection { code message }
  }
}
`

const POST_MESSAGE = `# 2. A message with an id of your own.
mutation PostMessage {
  postMessage(input: {
    workspaceId: "demo"
    threadId: "t1"
    messageId: "m1"
    content: "Hello, world"
  }) {
    __typename
    ... on PostMessageSuccess {
      posted: message {
        messageId
        content
        author { displayName }
        postedAt
      }
      seq
    }
    ... on InvalidState { reason entity entityId }
    ... on Rejection { code message }
  }
}
`

const POST_AGAIN = `# 3. The same again, as a client does that
#    never saw the answer. Nothing is posted:
#    ALREADY_EXISTS says that an earlier
#    attempt succeeded.
mutation PostAgain {
  postMessage(input: {
    workspaceId: "demo"
    threadId: "t1"
    messageId: "m1"
    content: "Hello, world"
  }) {
    __typename
    ... on PostMessageSuccess {
      posted: message { messageId }
      seq
    }
    ... on InvalidState { reason entity entityId }
    ... on Rejection { code message }
  }
}
`

const READ_THREAD = `# 4. What is there now: the message once, the
#    one turn it asked for, and its id is used.
query ReadThread {
  workspace(workspaceId: "demo") {
    headSeq
    messageIdUsed(messageId: "m1")
    thread(threadId: "t1") {
      title
      messages(first: 10) {
        edges {
          node { content author { displayName } postedAt }
        }
      }
    }
    events(first: 10) {
      seq
      ts
      actor { displayName }
      event {
        __typename
        ... on ThreadCreatedEvent { threadId title }
        ... on MessagePostedEvent { messageId content }
        ... on RunStartedEvent { runId promptMessageId }
        ... on RunEndedEvent { runId status }
      }
    }
  }
}
`

export const exampleOperations = [CREATE_THREAD, POST_MESSAGE, POST_AGAIN, READ_THREAD] as const
