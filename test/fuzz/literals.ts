/** Values as they are written in a document. */
import {
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql'
import { RawNumber } from './values.js'

/** The literal for a value, or `null` when it cannot be written as one: some keys and strings only JSON can hold. */
export const literalOf = (value: unknown, type: GraphQLInputType): string | null => {
  if (isNonNullType(type)) return literalOf(value, type.ofType)
  if (isListType(type) && Array.isArray(value))
    return listOf(value.map((item) => literalOf(item, type.ofType)))
  if (isEnumType(type) && typeof value === 'string') return /^\w+$/.test(value) ? value : null
  if (isInputObjectType(type) && isObject(value)) {
    const fields = type.getFields()
    return objectOf(value, (name, item) => {
      const field = fields[name]
      return field === undefined ? untyped(item) : literalOf(item, field.type)
    })
  }
  return getNamedType(type).name === 'JSON' || !isObject(value) ? untyped(value) : null
}

const untyped = (value: unknown): string | null => {
  if (typeof value === 'string') return value.isWellFormed() ? JSON.stringify(value) : null
  if (value instanceof RawNumber) return value.text
  if (Array.isArray(value)) return listOf(value.map(untyped))
  return isObject(value) ? objectOf(value, (_, item) => untyped(item)) : JSON.stringify(value)
}

const listOf = (items: readonly (string | null)[]): string | null =>
  items.includes(null) ? null : `[${items.join(', ')}]`

const objectOf = (value: object, write: (name: string, item: unknown) => string | null): string | null => {
  const fields = Object.entries(value).map(([name, item]) => {
    const written = /^[A-Za-z_]\w*$/.test(name) ? write(name, item) : null
    return written === null ? null : `${name}: ${written}`
  })
  return fields.includes(null) ? null : `{ ${fields.join(', ')} }`
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RawNumber)
