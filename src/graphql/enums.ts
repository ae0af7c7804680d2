/** Enums of the schema from those of core: the names upper case, every value with its description. */
import { builder } from './builder.js'

/** `values` is exhaustive: a value that core adds does not compile until it is described. */
export const enumOf = <Value extends string>(
  name: string,
  description: string,
  values: Readonly<Record<Value, string>>,
) => {
  const entries = Object.entries<string>(values).map(([value, description]) => [
    value.toUpperCase(),
    { value, description },
  ])
  const named: Record<string, { value: Value; description: string }> = Object.fromEntries(entries)
  return builder.enumType(name, { description, values: named })
}
