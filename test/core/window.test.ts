import { describe, expect, it } from 'vitest'
import { ValidationFailed } from '../../src/core/rejections.js'
import { extentOf } from '../../src/core/window.js'

describe('the extent of a page', () => {
  it('is the first 50 unless something else is asked for', () => {
    expect(extentOf({})).toEqual({ limit: 50, from: 'start' })
    expect(extentOf({ first: null, last: undefined })).toEqual({ limit: 50, from: 'start' })
    expect(extentOf({ first: 0 })).toEqual({ limit: 0, from: 'start' })
    expect(extentOf({ last: 200 })).toEqual({ limit: 200, from: 'end' })
  })

  it('is refused, naming the argument, when it makes no sense', () => {
    const refused = (request: Parameters<typeof extentOf>[0]) => {
      try {
        return extentOf(request)
      } catch (error) {
        return error instanceof ValidationFailed ? error.message : error
      }
    }
    expect(refused({ first: 1, last: 1 })).toBe('last cannot be used together with first')
    expect(refused({ first: -1 })).toBe('first must not be negative')
    expect(refused({ last: 201 })).toBe('last must be at most 200')
    expect(refused({ first: 1.5 })).toBe('first must be a whole number')
    expect(refused({ last: Number.NaN })).toBe('last must be a whole number')
  })
})
