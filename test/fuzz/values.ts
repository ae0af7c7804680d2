/** Values that code trips over, as clients may send them. */
import fc from 'fast-check'

/** A number as it is to stand in JSON text, where no JavaScript number would be written so. */
export class RawNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const RAW = '@raw-number:'

/** JSON text; raw numbers as they are. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, item) => (item instanceof RawNumber ? `${RAW}${item.text}@` : item)).replaceAll(
    /"@raw-number:([^@"]*)@"/g,
    '$1',
  )

/** Ids that are ids, however odd. */
export const oddIds = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '\u00e9',
  'e\u0301',
  ' m1',
  'M1',
  '\u202eabc\u202c',
  '\u05e9\u05dc\u05d5\u05dd',
  '\u2028',
  '\ufeff',
  '\u0080',
  '\u{1f469}\u200d\u{1f467}',
  "'; DROP TABLE artifactr_events; --",
  '%_\\',
  '"\\',
  '/../..',
  'null',
  'x'.repeat(255),
  '\u{1f600}'.repeat(63),
] as const

/** Ids that are none. */
const noIds = ['', '\u0000', 'a\u0000b', '\ud800', '\udc00\ud800', 'a\nb', '\u007f', 'x'.repeat(256)] as const

const longText = fc.integer({ min: 3_000, max: 4_000 }).map((length) => 'lorem ipsum '.repeat(length / 12))

export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...oddIds, ...noIds) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ' ',
      '\r\n',
      '\t',
      '-0',
      '1e999',
      '{"a":null}',
      '\u2029',
      'z\u0351\u036b\u0343',
    ),
  },
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 30 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  { weight: 1, arbitrary: longText },
)

/** Text that is taken wherever text is. */
export const soundText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((drawn) => !drawn.includes('\u0000')),
  fc.constantFrom('alpha beta', '\u2028', '\u202eabc', '{"a":null}', 'e\u0301', '__proto__'),
)

export const id: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...oddIds) },
  { weight: 2, arbitrary: fc.constantFrom(...noIds) },
  { weight: 1, arbitrary: text },
)

/** Numbers that GraphQL takes as `Int`. */
export const int = fc.constantFrom(0, 1, 2, 3, 49, 50, 51, 199, 200, 201, -1, -2_147_483_648, 2_147_483_647)

export const notInt: fc.Arbitrary<unknown> = fc.constantFrom(
  2_147_483_648,
  1.5,
  -1e308,
  '1',
  true,
  [],
  {},
  new RawNumber('-0'),
  new RawNumber('1e400'),
  new RawNumber('1.0'),
)

export const seq: fc.Arbitrary<unknown> = fc.constantFrom(
  0,
  1,
  2,
  10,
  1_000_000,
  Number.MAX_SAFE_INTEGER,
  Number.MAX_SAFE_INTEGER + 1,
  -1,
  1.5,
  '1',
  new RawNumber('-0'),
  new RawNumber('1e400'),
  new RawNumber('9007199254740993'),
)

const number: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(0, 1, -1, 1.5, 2 ** 31, -(2 ** 31), 2 ** 53 - 1, 2 ** 53, 1e21, 1e308, 5e-324),
  fc.constantFrom(
    ...['-0', '1e400', '-1e400', '9007199254740993', '1E2', '0.1e-9'].map((raw) => new RawNumber(raw)),
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

const nested = (depth: number): unknown => JSON.parse(`${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`)

const key = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('title', 'text', 'items', 'a', 'b', '', '1', '-0', '$ref') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('__proto__', 'constructor', 'prototype', '\ud800', '\u0000', '\u2028'),
  },
)

/** Any JSON, its keys not always harmless. `Object.fromEntries` makes each key the object's own, `__proto__` too. */
export const json: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(nested(5), nested(31), nested(33), nested(300)) },
  {
    weight: 12,
    arbitrary: fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.oneof(fc.constant(null), fc.boolean(), number, soundText, text),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
      ),
    })).value,
  },
)

/** JSON Pointers, some of which lead outside. */
export const pointer = fc.oneof(
  fc.constantFrom('/title', '/text', '/items', '/items/i1', '/items/i1/done', '/items/i2'),
  fc.constantFrom(
    '',
    '/',
    '//',
    'title',
    '/-',
    '/0',
    '/-1',
    '/~2',
    '/~01',
    '/title/0',
    '/items/-',
    '/__proto__/x',
    '/constructor/prototype/x',
    '/\ud800',
    `/${'a/'.repeat(200)}`,
  ),
)
