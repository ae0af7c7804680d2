/** Random operations of the schema: whatever fields, arguments, unions and interfaces it has are found in it, and none are listed here. */
import {
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isLeafType,
  isRequiredArgument,
  isUnionType,
  OperationTypeNode,
} from 'graphql'
import type { Scope } from '../../src/storage/port.js'
import { isGiven, type Purpose, plausibilityOf, valueFor } from './arguments.js'
import type { Draws } from './draws.js'
import { literalOf } from './literals.js'
import type { World } from './world.js'

export interface Operation {
  readonly query: string
  readonly operationName?: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
}

export interface OperationOptions {
  readonly schema: GraphQLSchema
  readonly draws: Draws
  readonly world: World
  readonly scope: Scope
  /** The only field of Query, Mutation or Subscription to be asked for. */
  readonly only?: string
  /** Whether a field, such as `Thread.title`, is wanted more than others. */
  readonly isWanted?: (field: string) => boolean
  /** Told of every field that is asked for. */
  readonly onSelected?: (field: string) => void
}

/** How deep selections go, and about how many fields an operation has. */
const DEPTH = 7
const FIELDS = 30

/** How often a field is asked for among its like, where it is not 1. */
const weights: Readonly<Record<string, number>> = {
  workspace: 8,
  node: 3,
  nodes: 2,
  events: 3,
  postMessage: 4,
  createThread: 0.6,
}

export const randomOperation = (kind: OperationTypeNode, options: OperationOptions): Operation =>
  new Writer(options).operation(kind)

type Names = Set<string>

class Writer {
  readonly #options: OperationOptions
  readonly #draws: Draws
  readonly #variables = new Map<
    string,
    { readonly type: string; readonly value: unknown; readonly isLeftOut: boolean }
  >()
  readonly #fragments: string[] = []
  #fields = 0
  #aliases = 0
  #root = ''
  readonly #plausibility: number

  constructor(options: OperationOptions) {
    this.#options = options
    this.#draws = options.draws
    this.#plausibility = plausibilityOf(options.draws)
  }

  operation(kind: OperationTypeNode): Operation {
    const { schema } = this.#options
    const root = schema.getRootType(kind)
    if (!root) throw new Error(`the schema has no ${kind}`)
    const names: Names = new Set()
    const many = kind === OperationTypeNode.QUERY ? 3 : 2
    const count =
      kind === OperationTypeNode.SUBSCRIPTION || this.#draws.chance(0.7) ? 1 : this.#draws.between(2, many)
    const { only } = this.#options
    const fields = Object.values(root.getFields()).filter(({ name }) => only === undefined || name === only)
    const selections = Array.from({ length: count }, () => {
      const field = this.#oneOf(root, fields)
      this.#root = field.name
      this.#options.onSelected?.(`${root.name}.${field.name}`)
      return this.#field(field, 1, names)
    })
    const name = this.#draws.chance(0.3) ? `Fuzz${this.#draws.between(1, 99)}` : ''
    const definitions = [...this.#variables].map(([variable, { type }]) => `$${variable}: ${type}`)
    const signature = definitions.length === 0 ? '' : `(${definitions.join(', ')})`
    const own = `${kind} ${name}${signature} { ${selections.join(' ')} }`
    const other = name !== '' && this.#draws.chance(0.1) ? ['query Other { __typename }'] : []
    return {
      query: this.#shuffled([own, ...this.#fragments, ...other]).join('\n'),
      operationName: name !== '' && (other.length > 0 || this.#draws.chance(0.5)) ? name : undefined,
      variables: Object.fromEntries(
        [...this.#variables].flatMap(([variable, { value, isLeftOut }]) =>
          isLeftOut ? [] : [[variable, value]],
        ),
      ),
    }
  }

  #field(field: GraphQLField<unknown, unknown>, depth: number, names: Names): string {
    this.#fields++
    const type = getNamedType(field.type)
    const args = this.#arguments(field)
    const isTaken = names.has(field.name)
    const alias =
      isTaken || (field.name !== '__typename' && this.#draws.chance(0.08)) ? `f${++this.#aliases}` : ''
    names.add(alias || field.name)
    const selection = isCompositeType(type) ? ` { ${this.#selection(type, depth + 1, new Set())} }` : ''
    // A subscription's own field cannot be left out.
    const directive = depth > 1 && this.#draws.chance(0.04) ? ` ${this.#directive()}` : ''
    return `${alias && `${alias}: `}${field.name}${args}${directive}${selection}`
  }

  #selection(type: GraphQLCompositeType, depth: number, names: Names): string {
    const parts = isAbstractType(type) ? ['__typename', ...this.#members(type, depth, names)] : []
    names.add('__typename')
    if (!isUnionType(type)) parts.push(...this.#ownFields(type, depth, names))
    if (parts.length === 0) parts.push('__typename')
    const written = this.#shuffled(parts).join(' ')
    return this.#draws.chance(0.06) ? this.#asFragment(type, written) : written
  }

  #ownFields(
    type: Exclude<GraphQLCompositeType, { getTypes(): unknown }>,
    depth: number,
    names: Names,
  ): string[] {
    const all = Object.values(type.getFields())
    const fitting = all.filter(({ type: fieldType }) => this.#fits(getNamedType(fieldType), depth))
    const from =
      fitting.length === 0
        ? all.filter(({ type: fieldType }) => isLeafType(getNamedType(fieldType)))
        : fitting
    if (from.length === 0) return []
    const count = this.#fields > FIELDS ? 1 : this.#draws.between(1, Math.min(4, from.length))
    const chosen = new Set(Array.from({ length: count }, () => this.#oneOf(type, from)))
    for (const field of chosen) this.#options.onSelected?.(`${type.name}.${field.name}`)
    return [...chosen].map((field) => this.#field(field, depth, names))
  }

  #members(
    type: Extract<GraphQLCompositeType, { resolveType?: unknown }>,
    depth: number,
    names: Names,
  ): string[] {
    const { schema } = this.#options
    const possible = schema.getPossibleTypes(type)
    const count = this.#fields > FIELDS ? 1 : this.#draws.between(1, Math.ceil(possible.length / 3))
    const chosen = new Set(Array.from({ length: count }, () => this.#draws.oneOf(possible)))
    // What succeeded is worth more than why something was refused.
    const success = possible.filter(({ name }) => /Success|Applied|Proposed|Envelope/.test(name))
    if (success.length > 0 && this.#draws.chance(0.8)) for (const member of success) chosen.add(member)
    const wanted = possible.filter((member) => this.#isWanted(member))
    for (let more = wanted.length === 0 ? 0 : this.#draws.between(0, 2); more > 0; more--)
      chosen.add(this.#draws.oneOf(wanted))
    const fragments = [...chosen].map(
      (member) => `... on ${member.name} { ${this.#selection(member, depth, names)} }`,
    )
    const rejection = schema.getType('Rejection')
    const takesRejections = isUnionType(type) && possible.some(({ name }) => name === 'ValidationFailed')
    if (takesRejections && isAbstractType(rejection) && this.#draws.chance(0.5))
      fragments.push(`... on Rejection { ${this.#fresh('code')}: code ${this.#fresh('message')}: message }`)
    return fragments
  }

  #fresh(name: string): string {
    return `${name}${++this.#aliases}`
  }

  /** What is nested too deeply, or in too large an operation, is left out. */
  #fits(type: GraphQLNamedOutputType, depth: number): boolean {
    return isLeafType(type) || (depth < DEPTH && this.#fields < FIELDS)
  }

  #asFragment(type: GraphQLCompositeType, selection: string): string {
    const name = `F${this.#fragments.length + 1}`
    this.#fragments.push(`fragment ${name} on ${type.name} { ${selection} }`)
    return isAbstractType(type) ? `__typename ...${name}` : `...${name}`
  }

  #directive(): string {
    const name = this.#draws.oneOf(['include', 'skip'])
    const condition = this.#draws.chance(0.5)
    if (this.#draws.chance(0.5)) return `@${name}(if: ${condition})`
    return `@${name}(if: $${this.#variable('Boolean!', condition)})`
  }

  #arguments({ name: field, args }: GraphQLField<unknown, unknown>): string {
    let given: Purpose['given'] = {}
    const written = args.flatMap((arg) => {
      const { name, type } = arg
      if (name === 'last' && given['first'] !== undefined && this.#draws.chance(0.95)) return []
      if (!isRequiredArgument(arg) && !isGiven(this.#draws, name)) return []
      const value = valueFor(name, type, {
        ...this.#options,
        operation: this.#root,
        field,
        given,
        plausibility: this.#plausibility,
      })
      given = { ...given, [name]: value }
      return [`${name}: ${this.#written(type, value)}`]
    })
    return written.length === 0 ? '' : `(${written.join(', ')})`
  }

  #written(type: GraphQLInputType, value: unknown): string {
    const literal = this.#draws.chance(0.5) ? literalOf(value, type) : null
    return literal ?? `$${this.#variable(type.toString(), value)}`
  }

  #variable(type: string, value: unknown): string {
    const name = `v${this.#variables.size + 1}`
    this.#variables.set(name, { type, value, isLeftOut: !type.endsWith('!') && this.#draws.chance(0.02) })
    return name
  }

  #oneOf(
    parent: GraphQLCompositeType,
    fields: readonly GraphQLField<unknown, unknown>[],
  ): GraphQLField<unknown, unknown> {
    const { isWanted = () => false } = this.#options
    return this.#draws.weighted(
      ...fields.map((field) => {
        const more = isWanted(`${parent.name}.${field.name}`) ? 20 : 1
        return [more * (weights[field.name] ?? 1), () => field] as const
      }),
    )
  }

  #isWanted(type: GraphQLObjectType): boolean {
    const { isWanted = () => false } = this.#options
    return Object.keys(type.getFields()).some((field) => isWanted(`${type.name}.${field}`))
  }

  #shuffled(parts: readonly string[]): string[] {
    const sorted = parts
      .map((part) => [this.#draws.between(0, 1_000_000), part] as const)
      .sort(([a], [b]) => a - b)
    return sorted.map(([, part]) => part)
  }
}
