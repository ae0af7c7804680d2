/** Text edits: what they write, and that none of them takes longer than the text and its anchor are long. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { occurrences } from '../../src/core/patching/occurrences.js'
import { applyTextEdits } from '../../src/core/patching/text-edits.js'

type Pair = readonly [old: string, to: string]

const edited = (text: string, pairs: readonly Pair[]) =>
  applyTextEdits(
    { text },
    { type: 'text_edits', field: 'text', edits: pairs.map(([old, to]) => ({ old, new: to })) },
  )

describe('text edits', () => {
  it('write the new text literally, whatever it means to a regular expression', () => {
    expect(edited('a.c', [['a.c', "$& $1 $' \\"]])).toEqual({ text: "$& $1 $' \\" })
    expect(() => edited('abc', [['a.c', 'x']])).toThrow('the anchor "a.c" does not occur')
  })

  it('keep the order of keys', () => {
    const data = { text: 'a', title: 'b' }
    const changed = applyTextEdits(data, {
      type: 'text_edits',
      field: 'text',
      edits: [{ old: 'a', new: 'c' }],
    })
    expect(JSON.stringify(changed)).toBe('{"text":"c","title":"b"}')
  })

  it('may empty a text and write it anew', () => {
    const pairs: readonly Pair[] = [
      ['old', ''],
      ['', 'new'],
    ]
    expect(edited('old', pairs)).toEqual({ text: 'new' })
  })

  it('replace an anchor of any length where it occurs', () => {
    const long = 'a paragraph that is longer than what is looked for in the short way, by far'
    expect(edited(`Before. ${long}. After.`, [[long, 'x']])).toEqual({ text: 'Before. x. After.' })
    expect(() => edited(`${long}, ${long}`, [[long, 'x']])).toThrow(/^the anchor ".*" occurs 2 times$/)
    expect(() => edited(long, [[`${long}.`, 'x']])).toThrow(/^the anchor ".*" does not occur$/)
  })
})

/** The plain way, which compares the anchor at every place. */
const everyPlace = (text: string, anchor: string): number[] =>
  Array.from(text, (_, at) => at).filter((at) => text.startsWith(anchor, at))

describe('an anchor', () => {
  it('is found where it occurs first, and counted wherever it occurs, overlaps included', () => {
    const few = (minLength: number, maxLength: number) =>
      fc.array(fc.constantFrom('a', 'b'), { minLength, maxLength }).map((units) => units.join(''))
    const short = fc.tuple(few(0, 40), few(1, 4))
    const long = fc
      .tuple(few(1, 3), fc.integer({ min: 60, max: 90 }), few(0, 2))
      .map(([unit, times, end]): [string, string] => [
        `${unit.repeat(3 * times)}${end}${unit.repeat(times)}`,
        `${unit.repeat(times)}${end}`,
      ])
    fc.assert(
      fc.property(fc.oneof(short, long), ([text, anchor]) => {
        const places = everyPlace(text, anchor)
        expect(occurrences(text, anchor)).toEqual({ count: places.length, first: places[0] ?? -1 })
      }),
      { numRuns: 2_000 },
    )
  })

  /** Each takes minutes where every place is compared, or where V8 looks for what is long. */
  const million = 'a'.repeat(1_000_000)
  const many = 'a'.repeat(200_000)
  it.each<[string, string, number]>([
    ['of a letter that the text repeats', many, 800_001],
    ['that differs at its start', `b${many}`, 0],
    ['that differs behind its start', `ab${many}`, 0],
    ['that differs in its middle', `${many}b${many}`, 0],
    ['that differs at its end', `${many}b`, 0],
  ])('%s is looked for in one pass through a long text', (_, anchor, count) => {
    for (let round = 0; round < 5; round++) expect(occurrences(million, anchor).count).toBe(count)
  })
})

describe('the edits of one patch', () => {
  const text = 'a'.repeat(1_000_000)
  const appending = (count: number): Pair[] =>
    Array.from({ length: count }, (_, index) => [`a${'z'.repeat(index)}!`, `a${'z'.repeat(index + 1)}!`])

  it('may be twenty in a text of a megabyte', () => {
    expect(edited(`${text}!`, appending(20))).toEqual({ text: `${text}${'z'.repeat(20)}!` })
  })

  it('may be ten thousand in a short text', () => {
    const words = Array.from({ length: 500 }, (_, index) => `w${index};`)
    const pairs = Array.from({ length: 10_000 }, (_, index): Pair => {
      const word = words[index % 500] ?? ''
      return index % 1_000 < 500 ? [word, word.toUpperCase()] : [word.toUpperCase(), word]
    })
    expect(edited(words.join(''), pairs)).toEqual({ text: words.join('') })
  })

  it('look through a bounded amount of text', () => {
    expect(() => edited(`${text}!`, appending(10_000))).toThrow('the edits look through too much text')
  })

  it('count their anchors too', () => {
    const anchor = text.slice(0, 500_000)
    const pairs = Array.from({ length: 30 }, (): Pair => [anchor, anchor])
    expect(() => edited(anchor, pairs)).toThrow('the edits look through too much text')
    expect(edited(anchor, pairs.slice(0, 20))).toEqual({ text: anchor })
  })
})
