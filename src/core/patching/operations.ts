/** The operations of a JSON Patch (RFC 6902 §4): their form, whatever the data. Members the RFC does not name are left alone. */
import { z } from 'zod'
import { jsonSchema } from '../json.js'
import { pointerProblem } from './pointer.js'

const pointer = z.string().superRefine((value, context) => {
  const message = pointerProblem(value)
  if (message !== null) context.addIssue({ code: 'custom', message })
})

export const operationSchema = z.discriminatedUnion('op', [
  z.object({ op: z.literal('add'), path: pointer, value: jsonSchema }),
  z.object({ op: z.literal('remove'), path: pointer }),
  z.object({ op: z.literal('replace'), path: pointer, value: jsonSchema }),
  z.object({ op: z.literal('move'), from: pointer, path: pointer }),
  z.object({ op: z.literal('copy'), from: pointer, path: pointer }),
  z.object({ op: z.literal('test'), path: pointer, value: jsonSchema }),
])

export type Operation = z.infer<typeof operationSchema>
