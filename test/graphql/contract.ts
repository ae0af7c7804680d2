/** Compares a schema with a contract that it has to contain. */
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'graphql'

/** Every type, field, argument, default, enum value and member of the contract, as one line each. */
export const linesOf = (schema: GraphQLSchema): readonly string[] =>
  Object.values(schema.getTypeMap())
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) => [`${kindOf(type)} ${type.name}`, ...detailsOf(type)])

const kindOf = (type: GraphQLNamedType): string =>
  (type.astNode?.kind ?? type.constructor.name)
    .replace(/^GraphQL|Definition$/g, '')
    .replace('TypeDefinition', 'Type')

const detailsOf = (type: GraphQLNamedType): readonly string[] => {
  if (isObjectType(type) || isInterfaceType(type)) {
    return [
      ...type.getInterfaces().map((implemented) => `${type.name} implements ${implemented.name}`),
      ...Object.values(type.getFields()).flatMap((field) => fieldLines(type.name, field)),
    ]
  }
  if (isInputObjectType(type)) {
    return [
      ...(type.isOneOf ? [`${type.name} @oneOf`] : []),
      ...Object.values(type.getFields()).map((field) => `${type.name}.${inputLine(field)}`),
    ]
  }
  if (isUnionType(type)) return type.getTypes().map((member) => `${type.name} = ${member.name}`)
  if (isEnumType(type)) return type.getValues().map((value) => `${type.name}.${value.name}`)
  return []
}

const fieldLines = (parent: string, field: GraphQLField<unknown, unknown>): readonly string[] => [
  `${parent}.${field.name}: ${field.type}`,
  ...field.args.map((argument) => `${parent}.${field.name}(${inputLine(argument)})`),
]

const inputLine = ({ name, type, defaultValue }: GraphQLArgument | GraphQLInputField): string =>
  `${name}: ${type}${defaultValue === undefined ? '' : ` = ${JSON.stringify(defaultValue)}`}`
