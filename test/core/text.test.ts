/** What strings may hold (domain §2). */
import { describe, expect, it } from 'vitest'
import { idProblem, idSchema, textProblem, textSchema } from '../../src/core/text.js'

describe('an id', () => {
  it.each([
    ['one character', 'a'],
    ['255 bytes of one-byte characters', 'a'.repeat(255)],
    ['252 bytes of four-byte characters', '😀'.repeat(63)],
    ['255 bytes, most of them in four-byte characters', `${'😀'.repeat(63)}abc`],
    ['leading and trailing spaces', '  m1  '],
    ['only a space', ' '],
    ['what separates paths and keys', 'a/b:c#d%20?'],
    ['the name of a prototype', '__proto__'],
    ['a control character beyond DEL', '\u0085'],
  ])('may have %s', (_, id) => {
    expect(idProblem(id)).toBeNull()
    expect(idSchema.parse(id)).toBe(id)
  })

  const tooLong = 'must have at most 255 bytes in UTF-8'
  const control = 'must not hold control characters'
  const malformed = 'must be well-formed Unicode, without lone surrogates'
  it.each([
    ['empty', '', 'must not be empty'],
    ['256 bytes of one-byte characters', 'a'.repeat(256), tooLong],
    ['256 bytes of four-byte characters', '😀'.repeat(64), tooLong],
    ['256 bytes of two-byte characters', 'é'.repeat(128), tooLong],
    ['3,000 characters', 'x'.repeat(3_000), tooLong],
    ['a million characters', '😀'.repeat(500_000), tooLong],
    ['U+0000', 'a\u0000', control],
    ['a newline', 'a\nb', control],
    ['U+001F', '\u001f', control],
    ['DEL', '\u007f', control],
    ['half a surrogate pair', 'a\ud83d', malformed],
    ['the other half', '\ude00a', malformed],
  ])('is refused when it is or holds %s', (_, id, problem) => {
    expect(idProblem(id)).toBe(problem)
    expect(idSchema.safeParse(id).error?.issues).toMatchObject([{ message: problem }])
  })

  it('is kept as it is, composed or decomposed', () => {
    expect(idSchema.parse('\u00e9')).toBe('\u00e9')
    expect(idSchema.parse('e\u0301')).toBe('e\u0301')
  })
})

describe('text', () => {
  it('may hold anything well-formed but U+0000, of any length', () => {
    const text = `\n\t\u0001\u007f 😀 ${'x'.repeat(100_000)}`
    expect(textSchema.parse(text)).toBe(text)
    expect(textSchema.parse('')).toBe('')
  })

  it('is refused when it holds U+0000 or half a surrogate pair', () => {
    expect(textProblem('a\u0000b')).toBe('must not hold U+0000')
    expect(textProblem('a\ud83db')).toBe('must be well-formed Unicode, without lone surrogates')
    expect(textSchema.safeParse('\u0000').success).toBe(false)
  })
})
