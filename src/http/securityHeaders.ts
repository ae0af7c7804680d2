/**
 * What every response tells a browser not to do with it: guess its type, show it in a frame, embed it elsewhere, say where it leads from, or
 * keep it. Whether the connection has to be secure (HSTS) is for whoever ends TLS to say.
 */
import type { Plugin } from 'graphql-yoga'

export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  // Pages that CORS lets in are not bound by it: it is for those that do not ask.
  'cross-origin-resource-policy': 'same-origin',
}

/** Where a response does not say otherwise: it is no page, and it is for this caller at this moment. */
export const UNLESS_SAID = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
}

export const useSecurityHeaders = (): Plugin => ({
  onResponse: ({ response: { headers } }) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) headers.set(name, value)
    for (const [name, value] of Object.entries(UNLESS_SAID)) if (!headers.has(name)) headers.set(name, value)
  },
})
