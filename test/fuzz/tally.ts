/** What was reached and what came of it: the figures of a run. */
import { type GraphQLSchema, isObjectType } from 'graphql'

const add = (counts: Map<string, number>, name: string): void =>
  void counts.set(name, (counts.get(name) ?? 0) + 1)

export class Tally {
  /** How many requests there were, by what they were. */
  readonly requests = new Map<string, number>()
  /** How they were answered: with data alone, or by the codes of their errors. */
  readonly outcomes = new Map<string, number>()
  /** The fields of the schema that were asked for. */
  readonly selected = new Set<string>()
  /** How often each field of the schema was in the data of an answer. */
  readonly fields = new Map<string, number>()
  /** By mutation: how often it succeeded, and how often each refusal came. */
  readonly mutations = new Map<string, Map<string, number>>()

  request(kind: string): void {
    add(this.requests, kind)
  }

  outcome(codes: readonly string[]): void {
    if (codes.length === 0) add(this.outcomes, 'accepted')
    for (const code of new Set(codes)) add(this.outcomes, code)
  }

  answered(type: string, fields: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(fields)) {
      add(this.fields, `${type}.${name}`)
      if (type !== 'Mutation' || name === '__typename') continue
      const result =
        typeof value === 'object' && value !== null && '__typename' in value
          ? String(value.__typename)
          : 'null'
      const results = this.mutations.get(name) ?? new Map<string, number>()
      this.mutations.set(name, results)
      add(results, result)
    }
  }

  get total(): number {
    return [...this.requests.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Fields of the schema that were in no answer. */
  unreached(schema: GraphQLSchema): string[] {
    return fieldsOf(schema).filter((field) => !this.fields.has(field))
  }

  /** Fields of the schema that nobody asked for. */
  unasked(schema: GraphQLSchema): string[] {
    return fieldsOf(schema).filter((field) => !this.selected.has(field))
  }

  /** Mutations that never succeeded, or were never refused. */
  onesided(schema: GraphQLSchema): string[] {
    return Object.keys(schema.getMutationType()?.getFields() ?? {}).flatMap((mutation) => {
      const results = [...(this.mutations.get(mutation)?.keys() ?? [])]
      const isRefusal = (result: string) => isRejection(schema, result)
      return [
        ...(results.every(isRefusal) ? [`${mutation} never succeeded`] : []),
        ...(results.some(isRefusal) ? [] : [`${mutation} was never refused`]),
      ]
    })
  }

  print(schema: GraphQLSchema): string {
    const reached = [...this.fields].sort(([, a], [, b]) => a - b)
    return [
      `${this.total} requests: ${list(this.requests)}`,
      `answers: ${list(this.outcomes)}`,
      ...[...this.mutations].sort().map(([name, results]) => `  ${name}: ${list(results)}`),
      `${reached.length} fields answered; least often ${list(new Map(reached.slice(0, 12)))}`,
      `never asked for: ${this.unasked(schema).join(', ') || 'none'}`,
      `in no answer: ${this.unreached(schema).join(', ') || 'none'}`,
    ].join('\n')
  }
}

const fieldsOf = (schema: GraphQLSchema): string[] =>
  Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && !type.name.startsWith('__')
      ? Object.keys(type.getFields()).map((field) => `${type.name}.${field}`)
      : [],
  )

const isRejection = (schema: GraphQLSchema, name: string): boolean => {
  const [type, rejection] = [schema.getType(name), schema.getType('Rejection')]
  return isObjectType(type) && type.getInterfaces().some((implemented) => implemented === rejection)
}

const list = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
