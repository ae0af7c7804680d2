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
const port = '^src/storage/(port|pages|observer|staging|codec|turnstile|weight|unreadable)\\.ts$'
const follow = '^src/storage/(follow|follower|followTail)\\.ts$'
const memory = '^src/storage/memory(Data)?\\.ts$'
const prisma = '^src/storage/prisma/'
const storages = '^src/storage/open\\.ts$'
const span = '^src/tracing/span\\.ts$'
const tracesSdk = '^src/tracing/sdk\\.ts$'
const metrics = '^src/metrics/'
const workspace = '^src/workspace/'
const runner = '^src/runner/'
const graphql = '^src/graphql/'
const http = '^src/http/'
const app = '^src/(app|turnLog)\\.ts$'
const config = '^src/config(/|\\.ts$)'

/** Marks a layer that may use Node's own modules. */
const node = 'node'
const packages = (...names: string[]) => `^node_modules/(${names.join('|')})/`

const matrix = {
  core: { path: core, mayImport: [packages('zod', 'rfc6902')] },
  port: { path: port, mayImport: [core, packages('zod')] },
  contract: { path: '^src/storage/contract/', mayImport: [core, port, node] },
  follow: { path: follow, mayImport: [core, port, packages('p-limit')] },
  memory: { path: memory, mayImport: [core, port, follow] },
  prisma: {
    path: prisma,
    mayImport: [
      core,
      port,
      follow,
      '^src/generated/',
      node,
      packages('@prisma/[a-z0-9-]+', 'zod', 'pg', '@types/pg'),
    ],
  },
  storages: { path: storages, mayImport: [port, memory, prisma] },
  span: { path: span, mayImport: [packages('@opentelemetry/api')] },
  tracesSdk: { path: tracesSdk, mayImport: [packages('@opentelemetry/[a-z-]+')] },
  workspace: { path: workspace, mayImport: [core, port, span, node, packages('zod')] },
  runner: { path: runner, mayImport: [core, workspace, span, node] },
  graphql: {
    path: graphql,
    mayImport: [
      core,
      workspace,
      runner,
      node,
      packages('graphql', 'graphql-scalars', '@pothos/[a-z-]+', 'dataloader', 'p-limit', 'zod'),
    ],
  },
  http: {
    path: http,
    mayImport: [
      core,
      port,
      graphql,
      span,
      node,
      packages(
        'graphql',
        'graphql-yoga',
        '@graphql-yoga/[a-z-]+',
        'graphql-ws',
        'ws',
        '@types/ws',
        'jose',
        'pino',
        'zod',
      ),
    ],
  },
  metrics: {
    path: metrics,
    mayImport: [core, port, workspace, runner, http, packages('graphql', 'prom-client')],
  },
  app: {
    path: app,
    mayImport: [core, port, workspace, runner, graphql, http, span, metrics, node, packages('pino')],
  },
  config: { path: config, mayImport: [http, packages('zod')] },
  main: {
    path: '^src/(main|migrate|starting|ending)\\.ts$',
    mayImport: [app, config, http, storages, port, runner, tracesSdk, node, packages('pino')],
  },
} satisfies Record<string, Layer>

let result: ICruiseResult

beforeAll(async () => {
  const forbidden = Object.entries<Layer>(matrix).map(([name, { path, mayImport }]) => ({
    name,
    severity: 'error' as const,
    from: { path },
    to: {
      pathNot: [path, ...mayImport.filter((allowed) => allowed !== node)],
      ...(mayImport.includes(node) ? { dependencyTypesNot: ['core' as const] } : {}),
    },
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
