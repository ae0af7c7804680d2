import { coerceInputValue, type GraphQLScalarType, isScalarType, parseValue, valueFromAST } from 'graphql'
import { describe, expect, it } from 'vitest'
import { createSchema } from '../../src/graphql/schema.js'
import { gateway } from './gateway.js'

const { ask } = gateway()

const scalar = (name: string): GraphQLScalarType => {
  const type = createSchema().getType(name)
  if (!isScalarType(type)) throw new Error(`${name} is no scalar`)
  return type
}

describe('Seq', () => {
  it('is a whole number from 0 to 2^53-1, as a literal and as a variable', async () => {
    for (const seq of [0, 1, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      const literal = await ask(`{ workspace(workspaceId: "w1") { events(afterSeq: ${seq}) { seq } } }`)
      expect(literal.errors).toEqual([])
      const variable = await ask(
        'query ($s: Seq) { workspace(workspaceId: "w1") { events(afterSeq: $s) { seq } } }',
        { s: seq },
      )
      expect(variable.errors).toEqual([])
    }
  })

  it('refuses everything else with BAD_USER_INPUT', async () => {
    for (const literal of [
      '-1',
      '1.0',
      '1e3',
      '9007199254740992',
      '99999999999999999999',
      '"1"',
      'true',
      'ONE',
      '[1]',
      '{}',
    ]) {
      const { errors } = await ask(
        `{ workspace(workspaceId: "w1") { events(afterSeq: ${literal}) { seq } } }`,
      )
      expect(errors, literal).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
      expect(errors[0]?.message).toMatch(/Seq must be a whole number from 0 to 9007199254740991/)
    }
    for (const s of [-1, 1.5, 2 ** 53, '1', true, [1], {}]) {
      const { errors } = await ask(
        'query ($s: Seq) { workspace(workspaceId: "w1") { events(afterSeq: $s) { seq } } }',
        { s },
      )
      expect(errors, JSON.stringify(s)).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
      expect(errors[0]?.message).toMatch(/Variable "\$s".*Seq must be a whole number/)
    }
  })
})

describe('JSON', () => {
  const json = scalar('JSON')
  const literal = (text: string, variables?: Record<string, unknown>) =>
    valueFromAST(parseValue(text), json, variables)

  it('means the same as a literal and as a variable', () => {
    const texts: [string, string][] = [
      ['null', 'null'],
      ['{}', '{}'],
      ['[]', '[]'],
      ['""', '""'],
      ['{a: null}', '{"a":null}'],
      ['[1, -2.5e3, true, [{}]]', '[1,-2500,true,[{}]]'],
      ['{z: 1, a: {y: "x", b: false}}', '{"z":1,"a":{"y":"x","b":false}}'],
    ]
    for (const [text, stringified] of texts) {
      expect(JSON.stringify(literal(text))).toBe(stringified)
      expect(JSON.stringify(coerceInputValue(JSON.parse(stringified), json))).toBe(stringified)
    }
  })

  it('takes variables inside a literal; a field whose variable is not given is left out', () => {
    expect(literal('{a: $x, b: [$x, $y], c: $y}', { x: { k: 1 } })).toEqual({
      a: { k: 1 },
      b: [{ k: 1 }, null],
    })
  })

  it('holds __proto__ as a key like any other, and changes no prototype', () => {
    const value = literal('{__proto__: {polluted: true}, constructor: {prototype: {polluted: true}}}')
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(Object(value))).toEqual(['__proto__', 'constructor'])
    expect(JSON.stringify(value)).toBe(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    )
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('refuses a name that is no JSON', () => {
    expect(() => json.parseLiteral(parseValue('{a: [YES]}'), null)).toThrow(/JSON cannot hold YES/)
  })
})
