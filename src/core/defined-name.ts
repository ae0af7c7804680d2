/** The names an application gives its definitions. */
import { textProblem } from './text.js'

/** @throws TypeError when a name is empty or no text: a mistake in the application, found when it starts. */
export const definedName = (what: string, name: string): string => {
  const problem = name === '' ? 'must not be empty' : textProblem(name)
  if (problem !== null) throw new TypeError(`the name of an ${what} type ${problem}`)
  return name
}
