import { readFileSync } from 'node:fs'
import { buildSchema, isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { createSchema, printedSchema } from '../../src/graphql/schema.js'
import { linesOf } from './contract.js'

describe('the schema', () => {
  it('is committed as src/graphql/schema.graphql; after a change, `npm test -- -u` writes it again', async () => {
    await expect(printedSchema()).toMatchFileSnapshot('../../src/graphql/schema.graphql')
  })

  it('contains everything that clients were promised', () => {
    const contract = buildSchema(readFileSync(new URL('contract.graphql', import.meta.url), 'utf8'))
    const promised = linesOf(contract)
    expect(promised.length).toBeGreaterThan(200)
    const given = new Set(linesOf(buildSchema(printedSchema())))
    expect(promised.filter((line) => !given.has(line))).toEqual([])
  })

  it('describes every type, field, argument and value', () => {
    const bare: string[] = []
    const check = (name: string, description: string | null | undefined) => {
      if (!description) bare.push(name)
    }
    for (const type of Object.values(createSchema().getTypeMap())) {
      if (type.name.startsWith('__') || type.astNode === undefined) check(type.name, type.description)
      if (type.name.startsWith('__')) continue
      if (isEnumType(type))
        for (const value of type.getValues()) check(`${type}.${value.name}`, value.description)
      if (isInputObjectType(type)) {
        for (const field of Object.values(type.getFields())) check(`${type}.${field.name}`, field.description)
      }
      if (!isObjectType(type) && !isInterfaceType(type)) continue
      for (const field of Object.values(type.getFields())) {
        check(`${type}.${field.name}`, field.description)
        for (const arg of field.args) check(`${type}.${field.name}(${arg.name})`, arg.description)
      }
    }
    expect(bare).toEqual([])
  })
})
