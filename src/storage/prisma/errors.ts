/** Reads the driver's own error out of what Prisma makes of it. */
import { z } from 'zod'

const driverErrorSchema = z.object({
  kind: z.string(),
  originalCode: z.string().optional(),
  originalMessage: z.string().optional(),
})

export type DriverError = z.infer<typeof driverErrorSchema>

const wrapped = z.object({ meta: z.object({ driverAdapterError: z.object({ cause: driverErrorSchema }) }) })
const bare = z.object({ cause: driverErrorSchema })

/** The driver's error, or `null` when the error is none of the driver's. */
export const driverError = (error: unknown): DriverError | null => {
  const fromClient = wrapped.safeParse(error)
  if (fromClient.success) return fromClient.data.meta.driverAdapterError.cause
  const fromAdapter = bare.safeParse(error)
  return fromAdapter.success ? fromAdapter.data.cause : null
}

const ofSystem = z.object({ code: z.string().regex(/^E[A-Z]+$/) })

/** Whether the operating system is what failed, such as with `EHOSTUNREACH`. Prisma passes most of these on as they are. */
export const isSystemError = (error: unknown): boolean => ofSystem.safeParse(error).success
