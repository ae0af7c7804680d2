/** Where a process serves its metrics: to whom the operator says. */
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.js'
import { answerOf, startGateway } from '../support/gateway.js'
import { metricsOf, totalOf } from '../support/metrics.js'
import { createThread } from '../support/posts.js'

const get = async (url: string, path: string, method = 'GET') =>
  answerOf(await fetch(`${url}${path}`, { method }))

describe('metrics', () => {
  it('are served beside everything else on a loopback address', async () => {
    const { url } = await startGateway()
    await createThread(url)
    const { status, headers, body } = await get(url, '/metrics')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(totalOf(body, 'artifactr_commands_total', { command: 'create_thread' })).toBe(1)
    expect((await get(url, '/metrics', 'POST')).status).toBe(405)
  })

  it('are served on a port of their own, with the probes and nothing else', async () => {
    const gateway = await startGateway({ METRICS_PORT: '0', METRICS_HOST: '127.0.0.1' })
    const probes = String(gateway.log().find((line) => 'probes' in line)?.['probes'])
    await createThread(gateway.url)
    expect(totalOf(await metricsOf(probes), 'artifactr_commands_total')).toBe(1)
    expect((await get(gateway.url, '/metrics')).status).toBe(404)
    expect((await get(probes, '/health')).status).toBe(200)
    expect((await get(probes, '/ready')).body).toEqual({ status: 'ready' })
    for (const path of ['/', '/graphql', '/graphql?query={__typename}', '//graphql', '/metrics/'])
      expect((await get(probes, path)).status).toBe(404)
    expect((await get(probes, '/metrics', 'DELETE')).status).toBe(405)
    expect((await get(probes, '/metrics', 'HEAD')).body).toBe('')
    expect((await gateway.kill('SIGTERM')).code).toBe(0)
  })

  it('are nowhere when they are off, and where others reach the gateway unless it is said', async () => {
    const off = await startGateway({ METRICS: 'off' })
    expect((await get(off.url, '/metrics')).status).toBe(404)
    const exposed = { HOST: '0.0.0.0', AUTH_INSECURE: '1' }
    expect(readConfig(exposed).metrics).toEqual({ on: false, own: null })
    expect(readConfig({ ...exposed, METRICS: 'on' }).metrics).toEqual({ on: true, own: null })
    expect(readConfig({ ...exposed, METRICS_PORT: '9464', METRICS_HOST: '10.0.0.1' }).metrics).toEqual({
      on: true,
      own: { host: '10.0.0.1', port: 9464 },
    })
  })

  it.each([
    [{ METRICS: 'off', METRICS_PORT: '9464' }, 'METRICS_PORT must not be set while METRICS is off'],
    [{ METRICS_HOST: '10.0.0.1' }, 'METRICS_HOST needs METRICS_PORT'],
    [{ METRICS: 'maybe' }, 'METRICS must be 1 or 0'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, 'OTEL_EXPORTER_OTLP_ENDPOINT must be the http://'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL must be http/json or'],
  ])('are refused with variables that contradict themselves: %o', (env, told) => {
    expect(() => readConfig(env)).toThrow(told)
  })
})

describe('traces', () => {
  it.each([
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' }, false],
  ])('are sent where it is said, and nowhere else: %o', (env, traces) => {
    expect(readConfig(env).traces).toBe(traces)
  })
})
