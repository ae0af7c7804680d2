/** Whether the data of an answer is what its document selects from the schema, nothing more and nothing less. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getOperationAST,
  isAbstractType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql'

export interface Asked {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operationName?: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
}

/** An object of an answer: its type, and its fields by the names they have in the schema. */
export type Visit = (type: string, fields: Readonly<Record<string, unknown>>) => void

type Place = readonly (string | number)[]

/** What is wrong with the data; each object in it is visited. A field may be null where an error says why. */
export const conformityProblems = (
  asked: Asked,
  data: unknown,
  erred: readonly Place[],
  visit: Visit,
): string[] => new Conformity(asked, erred, visit).problemsOf(data)

class Conformity {
  readonly #asked: Asked
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #erred: ReadonlySet<string>
  readonly #visit: Visit
  readonly #problems: string[] = []
  readonly #variables: Readonly<Record<string, unknown>>

  constructor(asked: Asked, erred: readonly Place[], visit: Visit) {
    this.#asked = asked
    this.#visit = visit
    this.#erred = new Set(erred.map(String))
    this.#fragments = new Map(
      asked.document.definitions
        .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
        .map((definition) => [definition.name.value, definition]),
    )
    this.#variables = { ...defaultsIn(asked), ...asked.variables }
  }

  problemsOf(data: unknown): string[] {
    const { schema, document, operationName } = this.#asked
    const operation = getOperationAST(document, operationName)
    const root = operation && schema.getRootType(operation.operation)
    if (!operation || !root) return ['there is no such operation, yet it has data']
    if (data === null) return this.#erred.size > 0 ? [] : ['data is null without an error']
    this.#object(root, [operation.selectionSet], data, [])
    return this.#problems
  }

  #object(type: GraphQLObjectType, sets: readonly SelectionSetNode[], value: unknown, at: Place): void {
    if (!isRecord(value)) {
      this.#wrong(at, `is no object: ${JSON.stringify(value)}`)
      return
    }
    const selected = new Map<string, FieldNode[]>()
    for (const set of sets) this.#collect(type, set, selected)
    const [expected, found] = [[...selected.keys()], Object.keys(value)]
    if (expected.join() !== found.join())
      this.#wrong(at, `has the fields ${found}; selected were ${expected}`)
    const fields: Record<string, unknown> = {}
    for (const [name, nodes] of selected) {
      const field = nodes[0]?.name.value ?? ''
      fields[field] = value[name]
      if (field === '__typename') {
        if (value[name] !== type.name) this.#wrong([...at, name], `is ${value[name]} in a ${type.name}`)
        continue
      }
      const output = type.getFields()[field]?.type
      if (output === undefined) this.#wrong([...at, name], 'is no field of its type')
      else this.#value(output, nodes, value[name], [...at, name])
    }
    this.#visit(type.name, fields)
  }

  #value(type: GraphQLOutputType, nodes: readonly FieldNode[], value: unknown, at: Place): void {
    if (isNonNullType(type)) {
      if (value === null || value === undefined) this.#wrong(at, 'is null, and must not be')
      else this.#value(type.ofType, nodes, value, at)
    } else if (value === null) {
      return
    } else if (isListType(type)) {
      if (!Array.isArray(value)) this.#wrong(at, 'is no list')
      else for (const [index, item] of value.entries()) this.#value(type.ofType, nodes, item, [...at, index])
    } else if (isLeafType(type)) {
      const isFine = isEnumType(type)
        ? typeof value === 'string' && type.getValue(value)
        : scalars[type.name]?.(value)
      if (!isFine) this.#wrong(at, `is no ${type.name}: ${JSON.stringify(value)}`)
    } else {
      const own = isAbstractType(type) ? this.#typeOf(value, nodes) : type
      const selected = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
      if (
        isObjectType(own) &&
        (own === type || (isAbstractType(type) && this.#asked.schema.isSubType(type, own)))
      )
        this.#object(own, selected, value, at)
      else this.#wrong(at, `is of no type of ${type}: ${JSON.stringify(value)}`)
    }
  }

  /** By its `__typename`, which whatever is asked of an abstract type selects under its own name. */
  #typeOf(value: unknown, nodes: readonly FieldNode[]): GraphQLObjectType | null {
    if (!isRecord(value)) throw new Error(`no object at ${nodes[0]?.name.value}: ${JSON.stringify(value)}`)
    const type = this.#asked.schema.getType(String(value['__typename']))
    return isObjectType(type) ? type : null
  }

  #collect(
    type: GraphQLObjectType,
    { selections }: SelectionSetNode,
    selected: Map<string, FieldNode[]>,
  ): void {
    for (const node of selections) {
      if (!this.#isIncluded(node.directives ?? [])) continue
      if (node.kind === Kind.FIELD) {
        const name = node.alias?.value ?? node.name.value
        selected.set(name, [...(selected.get(name) ?? []), node])
        continue
      }
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : this.#fragments.get(node.name.value)
      const condition = fragment?.typeCondition?.name.value
      if (fragment && (condition === undefined || this.#applies(condition, type)))
        this.#collect(type, fragment.selectionSet, selected)
    }
  }

  #applies(condition: string, type: GraphQLObjectType): boolean {
    const named = this.#asked.schema.getType(condition)
    return named === type || (isAbstractType(named) && this.#asked.schema.isSubType(named, type))
  }

  #isIncluded(directives: NonNullable<FieldNode['directives']>): boolean {
    return directives.every(({ name, arguments: args }) => {
      const condition = args?.[0] && valueFromASTUntyped(args[0].value, this.#variables)
      return name.value === 'include' ? condition === true : name.value === 'skip' ? condition !== true : true
    })
  }

  #wrong(at: Place, problem: string): void {
    this.#problems.push(`${at.join('.') || 'data'} ${problem}`)
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed()

const scalars: Readonly<Record<string, (value: unknown) => boolean>> = {
  ID: isText,
  String: isText,
  Boolean: (value) => typeof value === 'boolean',
  Int: (value) => Number.isInteger(value) && Math.abs(Number(value)) <= 2 ** 31,
  Float: (value) => typeof value === 'number',
  Seq: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  DateTime: (value) => isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
  JSON: (value) => value !== undefined,
}

const defaultsIn = ({ document, operationName }: Asked): Record<string, unknown> => {
  const operation = getOperationAST(document, operationName)
  return Object.fromEntries(
    (operation?.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)]],
    ),
  )
}
