/** Reads metrics as Prometheus does. */
import { answerOf } from './gateway.js'

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export const samplesIn = (text: string): Sample[] =>
  text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^([a-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? []
    if (name === undefined) return []
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [
      key,
      text,
    ])
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })

export const metricsOf = async (url: string): Promise<string> => {
  const { status, body } = await answerOf(await fetch(`${url}/metrics`))
  if (status !== 200) throw new Error(`${status}: ${body}`)
  return body
}

/** The sum of the samples of a name that have these labels. */
export const totalOf = (text: string, name: string, labels: Record<string, string> = {}): number =>
  samplesIn(text)
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0)
