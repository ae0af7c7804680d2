/** The layers of the architecture: who may import whom. */
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { beforeAll, expect, test } from 'vitest'

/** A layer's folder or files, and what it may import besides itself: other layers, node's own modules, packages. */
interface Layer {
  readonly path: string
  readonly mayImport: readonly string[]
}

const core = '^src/core/'
const port = '^src/storage/(port|staging|codec|turnstile)\\.ts$'
const prismaClients = '^src/generated/'
const workspace = '^src/workspace/'
const runner = '^src/runner/'
const graphql = '^src/graphql/'
const config = '^src/config\\.ts$'
const app = '^src/app\\.ts$'

const node = '^(node:)?[a-z_]+(/[a-z]+)?$'
const packages = (...names: string[]) => `^node_modules/(${names.join('|')})/`

const matrix = {
  core: { path: core, mayImport: [packages('zod', 'rfc6902')] },
  port: { path: port, mayImport: [core, packages('zod')] },
  contract: { path: '^src/storage/contract/', mayImport: [core, port, node] },
  memory: { path: '^src/storage/memory\\.ts$', mayImport: [core, port] },
  prisma: {
    path: '^src/storage/prisma/',
    mayImport: [core, port, prismaClients, node, packages('@prisma/[a-z0-9-]+', 'zod', 'pg')],
  },
  workspace: { path: workspace, mayImport: [core, port, node] },
  graphql: {
    path: graphql,
    mayImport: [
      core,
      workspace,
      runner,
      node,
      packages('graphql', 'graphql-scalars', '@pothos/[a-z-]+', 'dataloader', 'zod'),
    ],
  },
  main: { path: '^src/main\\.ts$', mayImport: [app, config] },
} satisfies Record<string, Layer>

let result: ICruiseResult

beforeAll(async () => {
  const forbidden = Object.entries(matrix).map(([name, { path, mayImport }]) => ({
    name,
    severity: 'error' as const,
    from: { path },
    to: { pathNot: [path, ...mayImport] },
  }))
  const circular = { name: 'circular', severity: 'error' as const, from: {}, to: { circular: true } }
  const { output } = await cruise(
    ['src'],
    {
      validate: true,
      ruleSet: { forbidden: [...forbidden, circular] },
      doNotFollow: { path: ['node_modules', 'src/generated'] },
      tsPreCompilationDeps: true,
      enhancedResolveOptions: {
        conditionNames: ['import', 'types', 'node', 'default'],
        exportsFields: ['exports'],
      },
      combinedDependencies: true,
    },
    undefined,
    { tsConfig: extractTSConfig('tsconfig.json') },
  )
  if (typeof output === 'string') throw new Error(output)
  result = output
})

test('every layer imports only what the matrix allows, and nothing goes in circles', () => {
  expect(result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([])
})

test('the matrix looked at every source file', () => {
  const cruised = result.modules.map(({ source }) => source).filter((source) => source.startsWith('src/'))
  expect(cruised.length).toBeGreaterThan(50)
})

test.each(Object.entries(matrix))('the layer %s has files', (_, { path }) => {
  const files = result.modules.filter(({ source }) => new RegExp(path).test(source))
  expect(files.length).toBeGreaterThan(0)
})
